"""How far an import is, as the text that a client sends back with the file's next lines."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, cast

from remembrancer.app.importing import NOWHERE, Standing
from remembrancer.app.inspection import BegunArtifact, Checked
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ledger.resuming import decode_place, encode_place
from remembrancer.core.ledger.transfer import KINDS
from remembrancer.core.values import JSON

_KIND: Final = "import"
_EXAMPLE: Final[dict[str, JSON]] = {
    "lines": 0,
    "rank": 0,
    "position": 0,
    "namespace": None,
    "counts": {"": 0},
    "chain": "",
    "artifact": {"number": [0], "text": [""]},
    "last": 0,
    "keeps": True,
    "present": {"": 0},
    "fresh": {"": 0},
}


def encode_standing(standing: Standing) -> str:
    """Return the text that stands for how far an import is."""
    checked, held = standing.checked, standing.checked.artifact
    numbers: list[JSON] = []
    texts: list[JSON] = []
    if held is not None:
        numbers = [held.number, held.chars_total, held.chars, held.chunks]
        texts = [held.namespace, held.id, held.sha256]
    members: dict[str, JSON] = {
        "lines": checked.number,
        "rank": checked.rank,
        "position": checked.position,
        "namespace": checked.namespace,
        "counts": dict(checked.counts),
        "chain": checked.chain,
        "artifact": {"number": numbers, "text": texts},
        "last": standing.last,
        "keeps": standing.keeps_positions,
        "present": dict(standing.present),
        "fresh": dict(standing.fresh),
    }
    return encode_place(_KIND, members)


def decode_standing(text: str | None) -> Standing:
    """Return how far an import is; nowhere without a text.

    *Raises:* InvalidInput for a text that no import has answered.
    """
    if text is None:
        return NOWHERE
    # Any: the members are checked against the example.
    held = cast("dict[str, Any]", decode_place(text, _KIND, _EXAMPLE))
    numbers, texts = held["artifact"]["number"], held["artifact"]["text"]
    is_chain = len(held["chain"]) == 64 and set(held["chain"]) <= set("0123456789abcdef")
    if not is_chain or not set(held["counts"]) <= set(KINDS) or len(numbers) not in (0, 4):
        raise InvalidInput("the cursor is none of an import", hint="begin anew", field="cursor")
    artifact = None
    if numbers and len(texts) == 3:
        number, total, chars, chunks = numbers
        name, id_, sha256 = texts
        artifact = BegunArtifact(number, name, id_, sha256, total, chars, chunks)
    checked = Checked(
        number=held["lines"],
        rank=held["rank"],
        position=held["position"],
        namespace=held["namespace"],
        counts=held["counts"],
        chain=held["chain"],
        artifact=artifact,
    )
    return Standing(
        checked, held["last"], held["keeps"], Counter(held["present"]), Counter(held["fresh"])
    )
