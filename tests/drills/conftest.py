"""What the tests of drills share."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from runs.management.drills.stage import Stage
from tests.drills.stages import a_stage
from tests.support.programs import CLUSTER_WORKERS


@pytest.fixture(scope="module")
def stage(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    """One stage for all tests of a module, with a watch and a cluster."""
    with django_db_blocker.unblock(), a_stage(tmp_path_factory.mktemp("stage")) as built:
        built.start_watch()
        built.start_cluster(workers=CLUSTER_WORKERS)
        yield built


@pytest.fixture
def quiet_stage(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    """A stage of this test's own, on which nobody works yet."""
    with django_db_blocker.unblock(), a_stage(tmp_path_factory.mktemp("quiet")) as built:
        yield built
