"""Which address is answered by whom."""

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from config import health, home, signin
from runs.views import needs_you

urlpatterns = [
    path("", needs_you.index, name="home"),
    path("healthz", health.process, name="healthz"),
    path("readyz", health.service, name="readyz"),
    path("signin/", signin.SignIn.as_view(), name="signin"),
    path("signin/<str:who>/<str:token>/", signin.follow_link, name="signin-link"),
    path("signout/", LogoutView.as_view(), name="signout"),
    path("password/", signin.password, name="password"),
    *[path("", include(f"{app}.urls")) for app in home.apps_with_pages()],
]
