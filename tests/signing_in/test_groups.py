"""The groups that people's roles are: made by a migration, kept through a flush."""

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command

from config.signin_links import first_user
from runs.queries.actors import actor_for
from runs.rules.policy import Verb, may
from runs.rules.roles import ROLES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.word)
def test_a_role_may_do_exactly_what_it_says(role) -> None:  # type: ignore[no-untyped-def]
    person = User.objects.create_user("pia")
    person.groups.add(Group.objects.get(name=role.group))

    actor = actor_for(person)

    assert {verb for verb in Verb if may(actor, verb)} == set(role.verbs)


@pytest.mark.django_db(transaction=True)
def test_the_groups_are_there_again_after_a_flush() -> None:
    call_command("flush", interactive=False, verbosity=0)

    found = {
        group.name: set(group.permissions.values_list("codename", flat=True))
        for group in Group.objects.all()
    }

    assert found == {role.group: {verb.value for verb in role.verbs} for role in ROLES}


def test_the_first_user_may_do_everything() -> None:
    actor = actor_for(first_user())

    assert all(may(actor, verb) for verb in Verb)
    assert actor.administrator
