"""Where a list goes on: the place of its last item, packed so that nobody builds on what is in it."""

from __future__ import annotations

import base64
import json
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.errors import BadInput
from afterglow.turns import Place, check_text


def write(place: Place) -> str:
    """The cursor behind this place."""
    packed = json.dumps([to_us(place.last_at), place.owner, place.session], separators=(",", ":"))
    return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def read(cursor: str) -> Place:
    """The place a cursor stands for; what was there need not exist any more."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        place: Any = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        last_at, owner, name = place
        check_text(owner, "it")
        check_text(name, "it")
        moment = from_us(last_at)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, BadInput):
        raise BadInput("after: this is not the `next` of a page before; begin again without it") from None
    return Place(last_at=moment, owner=owner, session=name)
