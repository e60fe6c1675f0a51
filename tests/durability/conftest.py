"""What the tests of durability share."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from runs.definition import gates
from tests.durability.plant import Plant, a_plant, known_bodies
from tests.support.programs import CLUSTER_WORKERS


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(CLUSTER_WORKERS, id=f"{CLUSTER_WORKERS} of them"),
        *(
            [pytest.param(1, id="one worker", marks=pytest.mark.long)]
            if CLUSTER_WORKERS > 1
            else []
        ),
    ],
)
def plant(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Plant]:
    """One installation for all tests of a module: a watch, and a cluster of so many workers."""
    var = tmp_path_factory.mktemp("plant")
    with django_db_blocker.unblock(), a_plant(var) as built:
        built.watch()
        built.cluster(workers=request.param)
        yield built
        assert built.is_sound()


@pytest.fixture
def own_plant(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Plant]:
    """An installation of this test's own; it starts what it wants."""
    with django_db_blocker.unblock(), a_plant(tmp_path_factory.mktemp("own")) as built:
        yield built
        assert built.is_sound()


@pytest.fixture
def _bodies() -> Iterator[None]:
    """The workflows of these tests, in the test's own process."""
    with known_bodies():
        yield


@pytest.fixture
def _no_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No desk is told of a decision; the test answers the wait itself."""
    monkeypatch.setitem(gates._gates, "decision", gates.Quiet())
