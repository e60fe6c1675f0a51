"""The addresses of monitors and incidents: a new verb is a new resource."""

from django.urls import path

from monitors import api
from monitors.views import incidents

app_name = "monitors"
urlpatterns = [
    path("beats/", api.receive_beats, name="beats"),
    path("alerts/", incidents.index, name="incident_list"),
    path("alerts/<int:incident_id>/", incidents.show, name="incident_show"),
    path("alerts/<int:incident_id>/acknowledgements/", incidents.acknowledge, name="incident_ack"),
    path("alerts/<int:incident_id>/snoozes/", incidents.snooze, name="incident_snooze"),
    path("alerts/<int:incident_id>/reopenings/", incidents.reopen, name="incident_reopen"),
    path("alerts/<int:incident_id>/resolutions/", incidents.resolve, name="incident_resolve"),
]
