"""The form of a rule: what it would have done is shown before it is kept."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from approvals.forms import RuleForm
from approvals.ledger import rule_book
from approvals.queries import rules
from approvals.rules.predicate import Unreadable
from approvals.views.rules import administrator
from runs.queries import naming
from runs.web import HtmxRequest, actor_of

FORM = "approvals/rule_form.html"


@require_http_methods(["GET", "HEAD", "POST"])
@administrator
def create(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    tenants = naming.tenants_seen(actor)
    form = RuleForm(places=rules.places(), tenants=tenants.values(), data=_sent(request))
    if not _is_complete(request, form):
        named = form.cleaned_data.get("tenant") if form.is_bound else None
        return _shown(request, form, tenant_id=naming.tenant_named(actor, named or ""))
    tenant_id = naming.tenant_named(actor, form.cleaned_data["tenant"])
    try:
        terms = rule_book.Terms(**form.terms)
        name = form.cleaned_data["name"]
        rule = rule_book.write(actor, tenant_id=tenant_id or 0, name=name, terms=terms)
    except (rule_book.RuleRefused, Unreadable) as refused:
        form.add_error(None, str(refused))
        return _shown(request, form, tenant_id=tenant_id)
    messages.success(request, "It is written, and answers nothing until it is enabled.")
    return redirect("approvals:rule_show", rule.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@administrator
def change(request: HtmxRequest, rule_id: int) -> HttpResponse:
    """What it says becomes its next version, which is disabled at first."""
    actor = actor_of(request)
    try:
        rule = rules.visible_rule(actor, rule_id)
    except rules.NoSuchRule:
        raise Http404 from None
    was = _said(rules.current(rule), seen=rule.seq)
    form = RuleForm(places=rules.places(), tenants=(), was=was, data=_sent(request))
    if not _is_complete(request, form):
        return _shown(request, form, tenant_id=rule.tenant_id, rule=rule)
    try:
        terms, seen = rule_book.Terms(**form.terms), form.cleaned_data["seen"]
        rule_book.change(actor, rule_id, terms=terms, seen=seen or 0)
    except (rule_book.RuleRefused, Unreadable) as refused:
        form.add_error(None, str(refused))
        return _shown(request, form, tenant_id=rule.tenant_id, rule=rule)
    except rule_book.RuleChanged as changed:
        back = reverse("approvals:rule_show", args=[rule_id])
        return render(request, "409.html", {"because": str(changed), "back_url": back}, status=409)
    messages.success(request, "It is changed, and answers nothing until it is enabled.")
    return redirect("approvals:rule_show", rule_id)


def _sent(request: HtmxRequest) -> Any:
    return request.POST if request.method == "POST" else None


def _is_complete(request: HtmxRequest, form: RuleForm) -> bool:
    return form.is_bound and form.is_valid() and "preview" not in request.POST


def _said(version: Any, *, seen: int) -> dict[str, Any]:
    return {
        "place": f"{version.workflow}|{version.step}|{version.effect}",
        "conditions": version.conditions,
        "most": version.most,
        "ends": version.ends_at.date(),
        "because": version.because,
        "seen": seen,
    }


def _shown(
    request: HtmxRequest, form: RuleForm, *, tenant_id: int | None, **more: Any
) -> HttpResponse:
    """With what it would have done, where it is complete."""
    dry = None
    if form.is_bound and not form.errors and tenant_id is not None:
        try:
            dry = rules.dry_run(rules.draft(**form.terms), tenant_id=tenant_id)
        except Unreadable as unreadable:
            form.add_error("conditions", str(unreadable))
    context = {"form": form, "dry": dry, "kinds": rules.places(), **more}
    return render(request, FORM, context, status=422 if form.errors else 200)
