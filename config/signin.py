"""The pages of signing in and out: by a one-time link, or by a password once one is set."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash, views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from config.signin_links import LinkIsVoid, holder_of, redeem
from runs.queries.clock import db_now
from runs.rules.policy import FRESH
from runs.web.preferred import landing_of
from runs.web.proofs import signed_in_at

BACKEND = "django.contrib.auth.backends.ModelBackend"
CAME_BY_LINK = "came_by_link"


@method_decorator(login_not_required, name="dispatch")
class SignIn(views.LoginView):
    """Name and password."""

    template_name = "registration/signin.html"
    redirect_authenticated_user = True

    def get_default_redirect_url(self) -> str:
        return reverse(landing_of(self.request))

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # A part of a page that asks after the session ended must not show a form inside that page.
        if request.headers.get("HX-Request"):
            return HttpResponseClientRedirect(request.path)
        return super().get(request, *args, **kwargs)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def follow_link(request: HttpRequest, who: str, token: str) -> HttpResponse:
    """GET shows a button and changes nothing, because mail scanners follow links; POST signs in."""
    try:
        if request.method != "POST":
            return render(
                request, "registration/signin_link.html", {"person": holder_of(who, token)}
            )
        user = redeem(who, token, now=timezone.now())
    except LinkIsVoid:
        return render(request, "registration/signin_link.html", {"person": None}, status=410)
    login(request, user, backend=BACKEND)
    request.session[CAME_BY_LINK] = True
    return redirect(landing_of(request) if user.has_usable_password() else "password")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Sets a password for the next time; only for who came by a link lately, which proves as much."""
    user = request.user
    if not isinstance(user, User) or not request.session.get(CAME_BY_LINK):
        return redirect("home")
    # Else whoever finds a browser left open sets one, and proves with it to be its owner.
    if db_now() - signed_in_at(request) > FRESH:
        messages.error(request, "Your sign-in is older than 15 minutes: come by another link.")
        return redirect("home")
    form = SetPasswordForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        update_session_auth_hash(request, user)
        del request.session[CAME_BY_LINK]
        messages.success(request, "Your password is set. Next time, sign in with it.")
        return redirect("home")
    return render(request, "registration/password.html", {"form": form})
