"""What people type about monitors, maintenance windows and incidents."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms

from monitors.rules.filters import Filters
from monitors.rules.incidents import LONGEST_NOTE
from monitors.rules.monitors import LONGEST_NAME, MonitorWish
from monitors.rules.windows import LONGEST_BECAUSE, WindowWish

SNOOZES = (("1", "1 hour"), ("4", "4 hours"), ("24", "1 day"), ("168", "7 days"))
IN_ZONE = "In the zone that this page is read in, such as 2027-01-31 09:00."


def note_in(posted: Any, name: str = "note") -> str:
    """What somebody says about it; it may be nothing."""
    return str(posted.get(name, "")).strip()[:LONGEST_NOTE]


class Explained(forms.Form):
    """A form whose refusals come from below, one sentence a field."""

    def explain(self, errors: Mapping[str, str]) -> None:
        for name, error in errors.items():
            self.add_error(name if name in self.fields else None, error)


class SnoozeForm(forms.Form):
    """For how long, or until when; nothing is preselected."""

    lasts = forms.ChoiceField(required=False, label="For", choices=[("", "choose"), *SNOOZES])
    until_at = forms.DateTimeField(required=False, label="Or until", help_text=IN_ZONE)
    note = forms.CharField(required=False, max_length=LONGEST_NOTE, label="Note")

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if bool(said.get("lasts")) == bool(said.get("until_at")) and not self.errors:
            raise forms.ValidationError("Say either for how long or until when.")
        return said

    def until(self, *, now: datetime) -> datetime:
        """The moment that is meant, once the form is valid."""
        at: datetime | None = self.cleaned_data["until_at"]
        return at or now + timedelta(hours=int(self.cleaned_data["lasts"]))


class MuteForm(SnoozeForm):
    """A mute has an end, so that nobody forgets it."""

    note = forms.CharField(required=False, max_length=LONGEST_BECAUSE, label="Why")


class PauseForm(SnoozeForm):
    """A pause has an end, so that nobody forgets it; without one the next ping ends it."""

    lasts = forms.ChoiceField(
        required=False,
        label="For",
        choices=[("", "choose"), *SNOOZES, ("0", "until its next ping or somebody resumes it")],
    )

    def end(self, *, now: datetime) -> datetime | None:
        return None if self.cleaned_data["lasts"] == "0" else self.until(now=now)


class MonitorForm(Explained):
    """A monitor of something outside, as a person asks for it."""

    name = forms.CharField(max_length=LONGEST_NAME, help_text="What is watched: Nightly backup.")
    slug = forms.CharField(
        required=False, max_length=100, help_text="For pings by key: nightly-backup."
    )
    tenant = forms.ChoiceField(help_text="Whose it is.")
    period = forms.FloatField(
        required=False,
        min_value=1,
        label="It pings every, in seconds",
        help_text="3600 is an hour.",
    )
    cron = forms.CharField(
        required=False,
        max_length=200,
        label="Or by cron",
        help_text="minute, hour, day, month, weekday: 0 2 * * *",
    )
    zone = forms.CharField(max_length=60, initial="UTC", label="Time zone of cron")
    grace = forms.FloatField(
        min_value=0,
        label="Grace, in seconds",
        help_text="How late it may be before people are called.",
    )
    longest = forms.FloatField(
        required=False,
        min_value=1,
        label="Longest run, in seconds",
        help_text="From its start ping to its success; empty: the grace.",
    )
    late_start = forms.FloatField(
        required=False,
        min_value=0,
        label="First ping within, in seconds",
        help_text="Empty: it is watched from its first ping on.",
    )
    post_only = forms.BooleanField(
        required=False,
        label="Take POST only",
        help_text="So that a link opened by a mail scanner is no ping.",
    )
    manual_resume = forms.BooleanField(
        required=False, label="Only a person ends a pause", help_text="Else its next ping does."
    )
    fail_words = forms.CharField(
        required=False,
        label="Words of failure",
        help_text="In the body of a ping, separated by commas: error, failed.",
    )
    success_words = forms.CharField(required=False, label="Words of success")
    tags = forms.CharField(required=False, help_text="Words with spaces between.")
    public = forms.BooleanField(required=False, label="Show it on the tenant's status page")
    about = forms.CharField(
        required=False,
        label="What to do when it is down",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *,
        tenants: Iterable[str],
        was: MonitorWish | None = None,
        revision: int = 1,
        data: Any,
    ) -> None:
        super().__init__(data, initial={**_asked(was), "revision": revision} if was else {})
        self._was = was or MonitorWish()
        self.fields["tenant"].choices = [(slug, slug) for slug in tenants]  # type: ignore[attr-defined]
        if was:
            del self.fields["tenant"]

    @property
    def wish(self) -> MonitorWish:
        said = self.cleaned_data
        kept = self._was.filters
        fail, success = _words(said["fail_words"]), _words(said["success_words"])
        words = bool(fail or success or kept.start)
        return MonitorWish(
            name=said["name"],
            slug=said["slug"],
            about=said["about"],
            tags=said["tags"].split(),
            public=said["public"],
            period=said["period"],
            cron=said["cron"].strip(),
            zone=said["zone"].strip(),
            grace=said["grace"],
            longest=said["longest"],
            late_start=said["late_start"],
            progress_limit=self._was.progress_limit,
            post_only=said["post_only"],
            manual_resume=said["manual_resume"],
            filters=Filters(
                fail=fail,
                success=success,
                start=tuple(kept.start),
                subject=words and kept.subject,
                body=words and (kept.body or not kept.subject),
            ),
        )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for each in text.split(",") if (word := each.strip()))


def _asked(wish: MonitorWish) -> dict[str, Any]:
    names = ("name", "slug", "about", "public", "period", "cron", "zone", "grace", "longest")
    more = ("late_start", "post_only", "manual_resume")
    return {name: getattr(wish, name) for name in (*names, *more)} | {
        "tags": " ".join(wish.tags),
        "fail_words": ", ".join(wish.filters.fail),
        "success_words": ", ".join(wish.filters.success),
    }


class WindowForm(Explained):
    """A time in which this monitor is expected to be absent."""

    because = forms.CharField(max_length=200, label="Why")
    starts_at = forms.DateTimeField(label="From", help_text=IN_ZONE)
    ends_at = forms.DateTimeField(label="To", help_text="At most 31 days later.")

    def wish(self, *, monitor_id: int) -> WindowWish:
        said = self.cleaned_data
        return WindowWish(
            because=said["because"],
            starts_at=said["starts_at"],
            ends_at=said["ends_at"],
            monitor_id=monitor_id,
        )
