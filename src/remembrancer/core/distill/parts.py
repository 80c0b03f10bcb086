"""Parts: what was made of each batch of a day, kept until the day's page is written over all.

A part is no memory: it lies outside the ledger and goes with its day. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from remembrancer.core.distill.nights import Change, Night, Proposal
from remembrancer.core.values import JSON


@dataclass(frozen=True, slots=True)
class Part:
    """One batch.

    *Shape:* `night` as far as the messages bear it out; `quotes` pairs of text and message id;
    `shown` ids of the memories the model saw; `said` texts of the messages that proposals name;
    `through_id` the last message; `is_applied`: its proposals were carried out by an earlier
    page of the same day.
    """

    night: Night
    quotes: tuple[tuple[str, str], ...] = ()
    shown: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)
    through_id: str = ""
    is_by_rule: bool = False
    is_applied: bool = False

    @property
    def body(self) -> dict[str, JSON]:
        """The part as JSON."""
        night = self.night
        return {
            "title": night.title,
            "summary": night.summary,
            "sections": [[name, text] for name, text in night.sections],
            "digest": night.digest,
            "proposals": [
                {
                    "change": one.change,
                    "ids": [*one.ids],
                    "content": one.content,
                    "by": one.by,
                    "why": one.reason,
                    "source_ids": [*one.source_ids],
                }
                for one in night.proposals
            ],
            "quotes": [[text, id_] for text, id_ in self.quotes],
            "shown": [*self.shown],
            "said": {**self.said},
            "through_id": self.through_id,
            "is_by_rule": self.is_by_rule,
            "is_applied": self.is_applied,
        }

    def applied(self) -> Part:
        """Return the part without what has been carried out."""
        night = replace(self.night, proposals=())
        return replace(self, night=night, shown=(), said={}, is_applied=True)


def part_of(body: Mapping[str, JSON]) -> Part:
    """Return the part of a body that `Part.body` made."""
    night = Night(
        title=str(body["title"]),
        summary=str(body["summary"]),
        sections=tuple(_pairs(body["sections"])),
        digest=str(body["digest"]),
        proposals=tuple(_proposal(one) for one in _list(body["proposals"])),
    )
    said = body["said"]
    return Part(
        night=night,
        quotes=tuple(_pairs(body["quotes"])),
        shown=tuple(map(str, _list(body["shown"]))),
        said={name: str(text) for name, text in said.items()} if isinstance(said, dict) else {},
        through_id=str(body["through_id"]),
        is_by_rule=bool(body["is_by_rule"]),
        is_applied=bool(body["is_applied"]),
    )


def _proposal(value: JSON) -> Proposal:
    assert isinstance(value, dict)
    by = value["by"]
    return Proposal(
        _change(value["change"]),
        tuple(map(str, _list(value["ids"]))),
        str(value["content"]),
        None if by is None else str(by),
        str(value["why"]),
        tuple(map(str, _list(value["source_ids"]))),
    )


def _change(value: JSON) -> Change:
    assert value in ("merge", "replace", "retire", "conflict")
    return cast(Change, value)


def _pairs(value: JSON) -> list[tuple[str, str]]:
    return [(str(pair[0]), str(pair[1])) for pair in _list(value) if isinstance(pair, list)]


def _list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []
