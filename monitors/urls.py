"""The addresses of monitors and incidents: a new verb is a new resource."""

from django.urls import path

from monitors import api
from monitors.views import (
    incident_moves,
    incidents,
    metrics,
    monitor_forms,
    monitor_moves,
    monitors,
    mutes,
    public,
    published,
    sharing,
    trials,
    windows,
)

app_name = "monitors"
urlpatterns = [
    path("beats/", api.receive_beats, name="beats"),
    path("metrics", metrics.show, name="metrics"),
    path("monitors/", monitors.index, name="monitor_list"),
    path("monitors/new/", monitor_forms.create, name="monitor_new"),
    path("monitors/<int:monitor_id>/", monitors.show, name="monitor_show"),
    path("monitors/<int:monitor_id>/changes/", monitor_forms.change, name="monitor_change"),
    path("monitors/<int:monitor_id>/pauses/", monitor_moves.pause, name="monitor_pause"),
    path("monitors/<int:monitor_id>/resumptions/", monitor_moves.resume, name="monitor_resume"),
    path("monitors/<int:monitor_id>/mutes/", monitor_moves.mute, name="monitor_mute"),
    path("monitors/<int:monitor_id>/unmutings/", monitor_moves.unmute, name="monitor_unmute"),
    path("monitors/<int:monitor_id>/test-pings/", trials.create, name="monitor_try"),
    path("monitors/<int:monitor_id>/addresses/", monitor_moves.renew, name="monitor_renew"),
    path("monitors/<int:monitor_id>/removals/", monitor_moves.remove, name="monitor_remove"),
    path("monitors/<int:monitor_id>/windows/", windows.create, name="window_new"),
    path(
        "monitors/<int:monitor_id>/windows/<int:window_id>/removals/",
        windows.remove,
        name="window_remove",
    ),
    path("monitors/tags/<path:tag>/mutes/", mutes.create, name="tag_mute"),
    path("monitors/sharing/", sharing.index, name="sharing"),
    path("monitors/sharing/keys/", sharing.renew_key, name="ping_key_renew"),
    path("monitors/sharing/keys/<int:key_id>/endings/", sharing.end_key, name="ping_key_end"),
    path("monitors/sharing/page/", published.keep, name="status_page"),
    path("monitors/sharing/badges/", published.renew_badges, name="badges_renew"),
    path("status/<slug:page>/", public.status, name="status"),
    path("badge/<slug:page>/<slug:signed>.<slug:kind>", public.badge, name="badge"),
    path("badge/<slug:page>/<slug:signed>/<path:tag>.<slug:kind>", public.badge, name="badge_of"),
    path("alerts/", incidents.index, name="incident_list"),
    path("alerts/<int:incident_id>/", incidents.show, name="incident_show"),
    path(
        "alerts/<int:incident_id>/acknowledgements/",
        incident_moves.acknowledge,
        name="incident_ack",
    ),
    path("alerts/<int:incident_id>/snoozes/", incident_moves.snooze, name="incident_snooze"),
    path("alerts/<int:incident_id>/reopenings/", incident_moves.reopen, name="incident_reopen"),
    path("alerts/<int:incident_id>/resolutions/", incident_moves.resolve, name="incident_resolve"),
]
