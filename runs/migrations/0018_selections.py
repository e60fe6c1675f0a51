"""Runs that a person has chosen together, and what became of each."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0017_who_waits_longest"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Selection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("verb", models.CharField(max_length=20)),
                ("asked_for", models.TextField(blank=True, default="")),
                ("amount", models.PositiveIntegerField()),
                ("by", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                ("because", models.TextField(blank=True, default="")),
                ("given", models.TextField(default="{}")),
                ("state", models.CharField(default="chosen", max_length=20)),
                ("begun_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("stopped_by", models.CharField(blank=True, default="", max_length=200)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="runs.tenant",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SelectionItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seen", models.CharField(max_length=40)),
                ("outcome", models.CharField(blank=True, default="", max_length=20)),
                ("told", models.TextField(blank=True, default="")),
                ("at", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "selection",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="runs.selection",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="selection",
            index=models.Index(
                condition=models.Q(("state", "running")), fields=["id"], name="selection_running"
            ),
        ),
        migrations.AddIndex(
            model_name="selection",
            index=models.Index(fields=["tenant", "-id"], name="selection_newest"),
        ),
        migrations.AddConstraint(
            model_name="selection",
            constraint=models.CheckConstraint(
                condition=models.Q(("verb__in", ["cancel", "retry", "resume", "label", "export"])),
                name="selection_verb_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="selection",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["chosen", "running", "done", "stopped"])),
                name="selection_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="selection",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("begun_at__isnull", True), ("state", "chosen")),
                    models.Q(
                        models.Q(("state", "chosen"), _negated=True), ("begun_at__isnull", False)
                    ),
                    _connector="OR",
                ),
                name="selection_has_begun_iff_it_says_when",
            ),
        ),
        migrations.AddConstraint(
            model_name="selection",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state__in", ["chosen", "running"])),
                    models.Q(("ended_at__isnull", False), ("state__in", ["done", "stopped"])),
                    _connector="OR",
                ),
                name="selection_has_ended_iff_it_says_when",
            ),
        ),
        migrations.AddConstraint(
            model_name="selection",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount__lte", 500)), name="selection_holds_at_most_500"
            ),
        ),
        migrations.AddIndex(
            model_name="selectionitem",
            index=models.Index(
                condition=models.Q(("outcome", "")),
                fields=["selection"],
                name="selection_item_left",
            ),
        ),
        migrations.AddConstraint(
            model_name="selectionitem",
            constraint=models.UniqueConstraint(
                fields=("selection", "run"), name="one_item_per_run_of_a_selection"
            ),
        ),
        migrations.AddConstraint(
            model_name="selectionitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome__in", ["", "done", "refused"])),
                name="selection_item_outcome_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="selectionitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("at__isnull", True), ("outcome", "")),
                    models.Q(models.Q(("outcome", ""), _negated=True), ("at__isnull", False)),
                    _connector="OR",
                ),
                name="selection_item_has_an_outcome_iff_it_says_when",
            ),
        ),
    ]
