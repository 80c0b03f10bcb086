"""What is told of a rebuild under way, as the text that a client sends back to go on.

How far it is stands in the store; this says what was counted when it was first asked.
"""

from __future__ import annotations

from typing import Any, Final, cast

from remembrancer.app.rebuild import Rebuilding
from remembrancer.core.ledger.resuming import decode_place, encode_place
from remembrancer.core.values import JSON

_KIND: Final = "rebuild"
_NUMBERS: Final = ("events", "streams", "done", "changed")
_EXAMPLE: Final[dict[str, JSON]] = {**dict.fromkeys(_NUMBERS, 0), "is_resumed": False}


def encode_told(told: Rebuilding) -> str:
    """Return the text that stands for what is told of a rebuild."""
    members: dict[str, JSON] = {
        "events": told.events,
        "streams": told.streams,
        "done": told.done,
        "changed": told.changed,
        "is_resumed": told.is_resumed,
    }
    return encode_place(_KIND, members)


def decode_told(text: str | None) -> Rebuilding:
    """Return what was told of a rebuild; nothing yet without a text. *Raises:* InvalidInput."""
    if text is None:
        return Rebuilding()
    # Any: the members are checked against the example.
    held = cast("dict[str, Any]", decode_place(text, _KIND, _EXAMPLE))
    return Rebuilding(**held, is_begun=True)
