"""Where a list of sessions goes on: the place of its last session, packed so that nobody builds on what is in it."""

from __future__ import annotations

import base64
import json
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.errors import BadInput
from afterglow.turns import Binding, Session, check_text

_NOWHERE = Binding(agent="-", channel="-", sender="-")


def write(session: Session) -> str:
    """The cursor behind this session."""
    place = json.dumps([to_us(session.last_at), session.owner, session.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def read(cursor: str) -> Session:
    """The session a cursor stands behind, as far as its place in the list goes; it need not exist any more."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        place: Any = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        last_at, owner, name = place
        check_text(owner, "it")
        check_text(name, "it")
        moment = from_us(last_at)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, BadInput):
        raise BadInput("after: this is not the `next` of a page before; begin again without it") from None
    return Session(owner=owner, id=name, binding=_NOWHERE, state="open", created_at=moment, last_at=moment)
