"""Facts: when sessions are read for them, and by which model."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from afterglow.errors import BadInput
from afterglow.schedule import NAMED, NEVER, check_schedule
from afterglow.settings import values
from afterglow.settings.text import Told
from afterglow.settings.values import A_MODEL, Table, number


def _schedule(value: str) -> str:
    try:
        return check_schedule(value.strip())
    except BadInput as error:
        raise ValueError(str(error)) from None


class FactsSettings(Table):
    """Facts that are drawn from conversations."""

    enabled: bool = Field(default=True, description="Whether conversations are read for facts unasked.")
    schedule: Annotated[
        str,
        Told(allowed=f"{', '.join(NAMED)}, {NEVER}, or a cron expression such as '30 18 * * 1-5'", example="hourly"),
        AfterValidator(_schedule),
    ] = Field(
        default="hourly",
        max_length=100,
        description="When the primary has sessions read, in `zone`; each is also read when it goes quiet or ends.",
    )
    model: Annotated[
        str, Told(allowed=A_MODEL, default="the model of compaction", example=""), AfterValidator(values.model)
    ] = Field(default="", max_length=200, description="The model that finds facts.")
    part_tokens: int = number(2_500, 200, 100_000, "The most tokens of a conversation that the model reads at once.")
    answer_tokens_max: int = number(1_500, 100, 32_000, "The most tokens of its answer.")
    results_max: int = number(1_000, 1, 100_000, "The most facts of one answer.")

    def overridden_by(self, other: FactsSettings) -> FactsSettings:
        """These settings, with those in their place that were given for the other."""
        given = {name: getattr(other, name) for name in other.model_fields_set}
        return self.model_copy(update=given) if given else self
