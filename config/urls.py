"""Which address is answered by whom."""

from django.urls import include, path

from config import health, home

urlpatterns = [
    path("", home.show, name="home"),
    path("healthz", health.process, name="healthz"),
    path("readyz", health.service, name="readyz"),
    *[path("", include(f"{app}.urls")) for app in home.apps_with_pages()],
]
