"""The addresses of runs: a new verb is a new resource."""

from django.conf import settings
from django.urls import path

from runs.views import engine, preferences, style

app_name = "runs"
urlpatterns = [
    path("preferences/", preferences.create, name="preferences"),
    path("engine/", engine.show, name="engine"),
]
if settings.DEBUG:
    urlpatterns.append(path("style/", style.show, name="style"))
