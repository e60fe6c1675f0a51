"""The pages of people: who there is, what they may do, how they get in."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from config.people_forms import PersonForm, RolesForm
from config.signin_links import link_for
from runs.ledger import people
from runs.queries import directory, naming
from runs.queries.clock import db_now
from runs.rules.people import NoSuchPerson, PersonRefused
from runs.rules.policy import Actor
from runs.web import HtmxRequest, actor_of, administrator

Act = Callable[[Actor, int], User]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrator
def index(request: HtmxRequest) -> HttpResponse:
    """A sign-in link is in the one answer that made somebody, and nowhere else."""
    actor, made, status = actor_of(request), None, 200
    form = PersonForm(naming.tenants_seen(actor), request.POST or None)
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                made, status = people.add(actor, **form.person), 201
                form = PersonForm(naming.tenants_seen(actor))
            except PersonRefused as refused:
                form.add_error(None, str(refused))
    told = {"form": form, "made": made, "link": made and _link(request, made), "now": db_now()}
    return render(
        request, "people/list.html", told | {"people": directory.everybody(actor)}, status=status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@administrator
def show(request: HtmxRequest, person_id: int) -> HttpResponse:
    """One person; POST gives exactly the roles that are ticked."""
    actor, person, status = actor_of(request), _person(request, person_id), 200
    form = RolesForm(person, above=directory.may_manage_all(actor), data=request.POST or None)
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                people.give(actor, person_id, **form.roles)
            except PersonRefused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, f"{person.user.username} has these roles from now on.")
                return redirect("person", person_id)
    return _shown(request, person, form, status=status)


@never_cache
@require_POST
@administrator
def reset(request: HtmxRequest, person_id: int) -> HttpResponse:
    """The link is in this one answer, and nowhere else."""
    person = _person(request, person_id)
    try:
        user = people.reset(actor_of(request), person_id)
    except PersonRefused as refused:
        return _refused(request, person_id, refused)
    return _shown(request, person, _form(request, person), link=_link(request, user))


def _acting(act: Act, says: str) -> Callable[..., HttpResponseBase]:
    @require_POST
    @administrator
    def answer(request: HtmxRequest, person_id: int) -> HttpResponse:
        person = _person(request, person_id)
        try:
            act(actor_of(request), person_id)
        except PersonRefused as refused:
            return _refused(request, person_id, refused)
        messages.success(request, says.format(person.user.username))
        return redirect("person", person_id)

    return answer


sign_out = _acting(people.sign_out, "{} is signed out everywhere.")
deactivate = _acting(people.deactivate, "{} cannot sign in any more.")
let_in = _acting(people.let_in, "{} may sign in again; make them a sign-in link.")


def _person(request: HtmxRequest, person_id: int) -> directory.Person:
    try:
        return directory.one(actor_of(request), person_id)
    except NoSuchPerson:
        raise Http404 from None


def _form(request: HtmxRequest, person: directory.Person) -> RolesForm:
    return RolesForm(person, above=directory.may_manage_all(actor_of(request)))


def _refused(request: HtmxRequest, person_id: int, refused: PersonRefused) -> HttpResponse:
    person = _person(request, person_id)
    return _shown(request, person, _form(request, person), refused=str(refused), status=409)


def _shown(
    request: HtmxRequest,
    person: directory.Person,
    form: RolesForm,
    *,
    link: str = "",
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    told = {
        "person": person,
        "form": form,
        "link": link,
        "refused": refused,
        "acts": directory.acts_on(actor_of(request), person),
        "now": db_now(),
    }
    return render(request, "people/show.html", told, status=status)


def _link(request: HtmxRequest, user: User) -> str:
    return link_for(user, site=request.build_absolute_uri("/").rstrip("/"))
