"""The style guide: every component in both themes, for those who change them (DEBUG only)."""

from datetime import timedelta

from django.http import HttpResponse
from django.shortcuts import render

from runs.queries.clock import db_now
from runs.rules.looks import LOOKS
from runs.web import HtmxRequest


def show(request: HtmxRequest) -> HttpResponse:
    now = db_now()
    return render(
        request,
        "style.html",
        {
            "now": now,
            "earlier": now - timedelta(hours=3, minutes=12),
            "before_midnight": now - timedelta(days=1, hours=3),
            "states": sorted(LOOKS),
            "kinds": ("decision", "timer", "retry", "event", "capacity"),
            "digest": "9c41d2a7" * 8,
            "key": "mp_7q2f5n4kz3d6wq8vx2a9r5t1u4m",
            "run_id": "01975c31-8f7a-7c3e-9a12-4bfe56d09a12",
            "request_text": '{\n  "amount": 41200,\n  "charge": "ch_55",\n  "customer": "cust_91"\n}',
        },
    )
