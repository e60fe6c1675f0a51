"""Figures as Prometheus reads them: families of samples in its text format."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Samples of one name; all of ours are gauges, read from the tables at the moment of asking."""

    name: str
    help: str
    samples: tuple[Sample, ...]


def gauge(name: str, says: str, value: float | None) -> Family:
    """One figure; without a sample where there is nothing to measure."""
    samples = () if value is None else (Sample(value=value),)
    return Family(name=f"milepost_{name}", help=says, samples=samples)


def gauges(name: str, says: str, *, by: str, values: Mapping[str, float]) -> Family:
    """One figure for each value of a label."""
    samples = tuple(Sample(value=value, labels={by: key}) for key, value in values.items())
    return Family(name=f"milepost_{name}", help=says, samples=samples)


def text_of(families: Iterable[Family]) -> str:
    return "".join(_family(family) for family in families)


def _family(family: Family) -> str:
    says = family.help.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# HELP {family.name} {says}", f"# TYPE {family.name} gauge"]
    lines += [
        f"{family.name}{_labels(sample.labels)} {_number(sample.value)}"
        for sample in family.samples
    ]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(round(float(value), 6))
