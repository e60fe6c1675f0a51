"""The bare view that pings are measured beside: one UPDATE and one INSERT, no middleware at all.

A WSGI application of its own, on the same database as the site and with the same settings of it.
"""

import os
from importlib import import_module
from typing import ClassVar
from uuid import UUID

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connection, models, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone

if not settings.configured and "MILEPOST_BARE" in os.environ:
    site = import_module(os.environ["DJANGO_SETTINGS_MODULE"])
    settings.configure(
        ALLOWED_HOSTS=["*"],
        DATABASES=site.DATABASES,
        MIDDLEWARE=[],
        ROOT_URLCONF=__name__,
        SECRET_KEY="of a benchmark, which signs nothing",  # noqa: S106
        USE_TZ=True,
    )
    django.setup()


class Watched(models.Model):
    """As little as a monitor can be."""

    code = models.UUIDField(unique=True)
    n = models.BigIntegerField(default=0)
    at = models.DateTimeField(null=True)
    objects: ClassVar[models.Manager["Watched"]] = models.Manager()

    class Meta:
        app_label = "bare"
        managed = False

    def __str__(self) -> str:
        return str(self.code)


class Said(models.Model):
    """As little as a ping can be."""

    watched = models.ForeignKey(Watched, on_delete=models.CASCADE)
    at = models.DateTimeField()
    agent = models.CharField(max_length=200)
    objects: ClassVar[models.Manager["Said"]] = models.Manager()

    class Meta:
        app_label = "bare"
        managed = False

    def __str__(self) -> str:
        return str(self.at)


def prepare(codes: list[UUID]) -> None:
    """Its two tables, and a row for each code."""
    with connection.schema_editor() as editor:
        editor.create_model(Watched)
        editor.create_model(Said)
    Watched.objects.bulk_create(Watched(code=code) for code in codes)


def ping(request: HttpRequest, pk: int) -> HttpResponse:
    now = timezone.now()
    with transaction.atomic():
        Watched.objects.filter(pk=pk).update(n=F("n") + 1, at=now)
        Said.objects.create(
            watched_id=pk, at=now, agent=request.headers.get("User-Agent", "")[:200]
        )
    return HttpResponse("OK")


urlpatterns = [path("ping/<int:pk>", ping)]
application = get_wsgi_application() if "MILEPOST_BARE" in os.environ else None
