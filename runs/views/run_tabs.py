"""What a run's page reads for the tab that is open, and for no other."""

from collections.abc import Callable
from typing import Any

from runs.queries import pages_tabs
from runs.queries.pages_run import RunPage
from runs.rules.payloads import payload_of
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, link_to, position_in


def _steps(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    return {}


def _events(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    visible = may(actor_of(request), Verb.VIEW_PAYLOADS)
    lines, found = pages_tabs.event_lines(page.run, position=position_in(request), visible=visible)
    return {"lines": lines, **_links(request, found)}


def _list(name: str) -> Callable[[HtmxRequest, RunPage], dict[str, Any]]:
    def read(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
        found = pages_tabs.slice_of_tab(page.run, name, position=position_in(request))
        return {"rows": found.rows, **_links(request, found)}

    return read


def _waits(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    found = pages_tabs.slice_of_tab(page.run, "waits", position=position_in(request))
    return {"rows": pages_tabs.wait_lines(found.rows), **_links(request, found)}


def _input(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    visible, run = may(actor_of(request), Verb.VIEW_PAYLOADS), page.run
    return {"payload": pages_tabs.input_of(run, visible=visible)}


def _audit(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    chain = pages_tabs.chain_of(page.run)
    line = payload_of(chain.line or "{}", visible=True, most=16_384)
    return {"chain": chain, "line": line, "may_export": may(actor_of(request), Verb.VIEW_PAYLOADS)}


def _links(request: HtmxRequest, found: Any) -> dict[str, str]:
    return {
        "newer_url": link_to(request, at=found.newer) if found.newer else "",
        "older_url": link_to(request, at=found.older) if found.older else "",
    }


TABS: dict[str, Callable[[HtmxRequest, RunPage], dict[str, Any]]] = {
    "steps": _steps,
    "events": _events,
    "effects": _list("effects"),
    "checkpoints": _list("checkpoints"),
    "waits": _waits,
    "files": _list("files"),
    "input": _input,
    "audit": _audit,
}
