"""What holds for every address: one constant policy of headers, and no text that no database can keep."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponseBase

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in ("camera", "geolocation", "microphone", "payment", "usb", "browsing-topics")
)

View = Callable[[HttpRequest], HttpResponseBase]


def without_nul(get_response: View) -> View:
    """PostgreSQL has no text with a NUL in it: nothing has such a name, nothing found can hold one."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info:
            raise Http404("No address holds a NUL.")
        request.META["QUERY_STRING"] = request.META.get("QUERY_STRING", "").replace("%00", "")
        return get_response(request)

    return answer


def headers(get_response: View) -> View:
    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        response.headers["Permissions-Policy"] = PERMISSIONS_POLICY
        if not request.path.startswith("/static/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    return answer
