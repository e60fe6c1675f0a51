"""The addresses of runs: a new verb is a new resource."""

from django.conf import settings
from django.urls import path

from runs.views import (
    artifacts,
    audit,
    cancellations,
    certificates,
    corrections,
    drills,
    engine,
    find,
    pauses,
    preferences,
    replays,
    restarts,
    resumptions,
    run,
    runs,
    starts,
    steps,
    style,
    workers,
    workflows,
)

app_name = "runs"
urlpatterns = [
    path("runs/", runs.index, name="run_list"),
    path("runs/rows/", runs.rows, name="run_rows"),
    path("runs/pauses/", pauses.create_all, name="pause_all"),
    path("runs/resumptions/", resumptions.create_all, name="resume_all"),
    path("runs/<uuid:run_id>/", run.show, name="run_show"),
    path("runs/<uuid:run_id>/resumptions/", resumptions.create, name="resume"),
    path("runs/<uuid:run_id>/replays/", replays.create, name="replay"),
    path("runs/<uuid:run_id>/restarts/", restarts.create, name="restart"),
    path("runs/<uuid:run_id>/pauses/", pauses.create, name="pause"),
    path("runs/<uuid:run_id>/corrections/", corrections.create, name="correct"),
    path("runs/<uuid:run_id>/cancellations/", cancellations.create, name="cancel"),
    path("runs/<uuid:run_id>/audit.jsonl", audit.show, name="run_audit"),
    path("runs/<uuid:run_id>/files/<int:artifact_id>/", artifacts.show, name="artifact_show"),
    path("runs/<uuid:run_id>/steps/<path:key>/facts/<str:which>.json", steps.facts, name="facts"),
    path("runs/<uuid:run_id>/steps/<path:key>/", steps.show, name="step_show"),
    path("workers/", workers.index, name="worker_list"),
    path("workers/<uuid:worker_id>/drains/", workers.drain, name="worker_drain"),
    path("workers/<uuid:worker_id>/returns/", workers.take_back, name="worker_take_back"),
    path("workflows/", workflows.index, name="workflow_list"),
    path("workflows/<str:name>/", workflows.show, name="workflow_show"),
    path("workflows/<str:name>/certificate.svg", certificates.show, name="certificate"),
    path("workflows/<str:name>/versions/<int:version>/", workflows.show, name="version_show"),
    path("workflows/<str:name>/runs/", starts.create, name="start"),
    path("drills/", drills.index, name="drill_list"),
    path("drills/<uuid:drill_id>/", drills.show, name="drill_show"),
    path("drills/<uuid:drill_id>/report.json", drills.as_json, name="drill_json"),
    path("drills/<uuid:drill_id>/report.xml", drills.as_junit, name="drill_junit"),
    path("drills/<uuid:drill_id>/report.html", drills.as_html, name="drill_html"),
    path("find/", find.show, name="find"),
    path("preferences/", preferences.create, name="preferences"),
    path("engine/", engine.show, name="engine"),
]
if settings.DEBUG:
    urlpatterns.append(path("style/", style.show, name="style"))
