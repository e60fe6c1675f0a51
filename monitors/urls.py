"""The addresses of monitors and incidents: a new verb is a new resource."""

from django.urls import path

from monitors import api
from monitors.views import incidents, public, published, sharing

app_name = "monitors"
urlpatterns = [
    path("beats/", api.receive_beats, name="beats"),
    path("monitors/sharing/", sharing.index, name="sharing"),
    path("monitors/sharing/keys/", sharing.renew_key, name="ping_key_renew"),
    path("monitors/sharing/keys/<int:key_id>/endings/", sharing.end_key, name="ping_key_end"),
    path("monitors/sharing/page/", published.keep, name="status_page"),
    path("monitors/sharing/badges/", published.renew_badges, name="badges_renew"),
    path("status/<slug:page>/", public.status, name="status"),
    path("badge/<slug:page>/<slug:signed>.<slug:kind>", public.badge, name="badge"),
    path("badge/<slug:page>/<slug:signed>/<str:tag>.<slug:kind>", public.badge, name="badge_of"),
    path("alerts/", incidents.index, name="incident_list"),
    path("alerts/<int:incident_id>/", incidents.show, name="incident_show"),
    path("alerts/<int:incident_id>/acknowledgements/", incidents.acknowledge, name="incident_ack"),
    path("alerts/<int:incident_id>/snoozes/", incidents.snooze, name="incident_snooze"),
    path("alerts/<int:incident_id>/reopenings/", incidents.reopen, name="incident_reopen"),
    path("alerts/<int:incident_id>/resolutions/", incidents.resolve, name="incident_resolve"),
]
