"""The addresses of decisions: answers and strikes are resources of their own."""

from django.urls import path

from approvals.views import answers, calls, decision, inbox, records, strikes, waits

app_name = "approvals"
urlpatterns = [
    path("decisions/", inbox.index, name="decision_list"),
    path("decisions/<int:decision_id>/", decision.show, name="decision_show"),
    path("decisions/<int:decision_id>/status/", decision.status, name="status"),
    path("decisions/<int:decision_id>/answers/", answers.create, name="answers"),
    path("decisions/<int:decision_id>/strikes/", strikes.create, name="strikes"),
    path("decisions/<int:decision_id>/calls/<int:ordinal>/", calls.show, name="call_show"),
    path("decisions/<int:decision_id>/calls.jsonl", calls.as_lines, name="calls_jsonl"),
    path("decisions/<int:decision_id>/calls.csv", calls.as_table, name="calls_csv"),
    path(
        "decisions/<int:decision_id>/records/<int:record_id>/", records.show, name="record_show"
    ),
    path("decisions/of/<int:wait_id>/", waits.show, name="decision_of_wait"),
]
