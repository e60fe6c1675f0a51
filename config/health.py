"""Is this process alive, and can the service do its work? Asked by machines, open to all."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse


@login_not_required
def process(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"ok": True})


@login_not_required
def service(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"ok": True})
