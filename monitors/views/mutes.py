"""Muting all monitors that have a tag, from their list."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from monitors.forms import MuteForm
from monitors.ledger import windows
from monitors.ledger.monitors import NoSuchMonitor
from monitors.ledger.windows import WindowRefused
from runs.queries.clock import db_now
from runs.rules.words import of
from runs.web import HtmxRequest, actor_of, operator


@require_POST
@operator
def create(request: HtmxRequest, tag: str) -> HttpResponse:
    actor, form = actor_of(request), MuteForm(request.POST)
    back = f"{reverse('monitors:monitor_list')}?{urlencode({'tag': tag})}"
    if not form.is_valid():
        errors = " ".join(str(each) for found in form.errors.values() for each in found)
        messages.error(request, f"Nothing was muted. {errors}")
        return redirect(back)
    until, note = form.until(now=db_now()), form.cleaned_data["note"]
    try:
        amount = windows.mute_tag(actor, tag, until=until, because=note)
    except NoSuchMonitor:
        raise Http404 from None
    except WindowRefused as wrong:
        messages.error(request, f"Nothing was muted. {wrong}")
        return redirect(back)
    messages.success(request, f"{of(amount, 'monitor')} muted: nobody is called about them.")
    return redirect(back)
