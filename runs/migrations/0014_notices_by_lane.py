from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0013_silence_answers_no_decision"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("call__isnull", True)),
                fields=["lane", "-created_at", "-id"],
                name="notice_of_a_lane",
            ),
        ),
    ]
