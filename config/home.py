"""The first address: it leads to what a person came for."""

from importlib.util import find_spec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

APPS = ("runs", "approvals", "monitors")


def show(request: HttpRequest) -> HttpResponse:
    return redirect("runs:run_list")


def apps_with_pages() -> list[str]:
    return [app for app in APPS if find_spec(f"{app}.urls")]
