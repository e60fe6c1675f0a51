"""Which address is answered by whom."""

from importlib.util import find_spec

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from config import health, people, signin
from runs.views import needs_you, now

handler500 = "config.request_ids.broken"
APPS = ("runs", "approvals", "monitors")

urlpatterns = [
    path("", needs_you.index, name="home"),
    path("now/", now.index, name="now"),
    path("healthz", health.process, name="healthz"),
    path("readyz", health.service, name="readyz"),
    path("signin/", signin.SignIn.as_view(), name="signin"),
    path("signin/<str:who>/<str:token>/", signin.follow_link, name="signin-link"),
    path("signout/", LogoutView.as_view(), name="signout"),
    path("password/", signin.password, name="password"),
    path("people/", people.index, name="people"),
    path("people/<int:person_id>/", people.show, name="person"),
    path("people/<int:person_id>/resets/", people.reset, name="person_reset"),
    path("people/<int:person_id>/sign-outs/", people.sign_out, name="person_sign_out"),
    path("people/<int:person_id>/deactivations/", people.deactivate, name="person_deactivate"),
    path("people/<int:person_id>/returns/", people.let_in, name="person_let_in"),
    *[path("", include(f"{app}.urls")) for app in APPS if find_spec(f"{app}.urls")],
]
