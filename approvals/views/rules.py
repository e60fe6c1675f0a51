"""Rules that approve by themselves: the list, one with what it would have done, and its changes."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from approvals.ledger import rule_book
from approvals.queries import rules
from runs.queries.clock import db_now
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, number_in, permitted

administrator = permitted(Verb.ADMINISTER)


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    context = {
        "versions": rules.current_versions(actor),
        "may_write": may(actor, Verb.ADMINISTER),
        "now": db_now(),
    }
    return render(request, "approvals/rule_list.html", context)


@require_safe
def show(request: HtmxRequest, rule_id: int) -> HttpResponse:
    actor = actor_of(request)
    try:
        rule = rules.visible_rule(actor, rule_id)
    except rules.NoSuchRule:
        raise Http404 from None
    version = rules.current(rule)
    context = {
        "rule": rule,
        "version": version,
        "dry": rules.dry_run(version, tenant_id=rule.tenant_id),
        "stay": None if rule.enabled else rules.stay_open(version, tenant_id=rule.tenant_id),
        "answered": rules.answered_by(rule),
        "before": rule.versions.exclude(pk=version.pk).order_by("-number"),
        "may_write": may(actor, Verb.ADMINISTER),
        "now": db_now(),
    }
    return render(request, "approvals/rule_show.html", context)


@require_POST
@administrator
def switch(request: HtmxRequest, rule_id: int) -> HttpResponse:
    """Enable or disable it, as it was seen."""
    enabled, seen = "enable" in request.POST, request.POST.get("seen", "")
    try:
        rule = rule_book.enable(
            actor_of(request), rule_id, enabled=enabled, seen=number_in(seen) or 0
        )
    except rules.NoSuchRule:
        raise Http404 from None
    except (rule_book.RuleChanged, rule_book.RuleRefused) as refused:
        back = reverse("approvals:rule_show", args=[rule_id])
        return render(request, "409.html", {"because": str(refused), "back_url": back}, status=409)
    told = "It answers none any more."
    if enabled:
        stay = rules.stay_open(rules.current(rule), tenant_id=rule.tenant_id)
        told = f"Enabled. {stay.sentence}"
    messages.success(request, told)
    return redirect("approvals:rule_show", rule_id)
