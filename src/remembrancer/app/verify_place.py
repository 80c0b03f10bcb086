"""How far verifying is, as the text that a client sends back to go on."""

from __future__ import annotations

from typing import Any, Final, cast

from remembrancer.app.verify import Walked
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ledger.resuming import decode_place, encode_place
from remembrancer.core.values import JSON

_KIND: Final = "verify"
_NUMBERS: Final = ("version", "events", "streams", "forgotten")
_TEXTS: Final = ("namespace", "stream", "chain")
_EXAMPLE: Final[dict[str, JSON]] = {**dict.fromkeys(_NUMBERS, 0), **dict.fromkeys(_TEXTS, "")}


def encode_walked(walked: Walked) -> str:
    """Return the text that stands for how far a walk is that has found no break."""
    members: dict[str, JSON] = {
        "namespace": walked.namespace,
        "stream": walked.stream,
        "version": walked.version,
        "chain": walked.chain,
        "events": walked.events,
        "streams": walked.streams,
        "forgotten": walked.forgotten,
    }
    return encode_place(_KIND, members)


def decode_walked(text: str | None, namespace: str | None) -> Walked:
    """Return how far a walk of a namespace (None for all) is; at its beginning without a text.

    *Raises:* InvalidInput for what no such walk has handed out.
    """
    if text is None:
        return Walked(namespace or "")
    # Any: the members are checked against the example.
    held = cast("dict[str, Any]", decode_place(text, _KIND, _EXAMPLE))
    if namespace not in (None, held["namespace"]):
        raise InvalidInput(
            "the cursor is of another namespace's walk", hint="begin anew", field="cursor"
        )
    return Walked(**held)
