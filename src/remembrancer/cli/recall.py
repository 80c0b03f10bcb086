"""`remembrancer recall`: what a message would bring up, and why it was that."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import ask
from remembrancer.cli.output import Column, print_json, print_line, print_table
from remembrancer.cli.place import Place
from remembrancer.core.values import JSON


def recall(
    place: Place,
    message: Annotated[
        list[str], typer.Argument(metavar="MESSAGE", help="What is about to be said.")
    ],
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 20,
    why: Annotated[
        bool, typer.Option("--why", help="Also the scores, and what was dropped for which reason.")
    ] = False,
) -> None:
    """Recall what a message needs, as text to put beside it; nothing for small talk."""
    arguments: dict[str, JSON] = {"query": " ".join(message), "k": limit}
    answer = ask(place, "memory_recall", arguments).answer
    told = ask(place, "recall_explain", {"id": answer["recall_id"]}).answer if why else {}
    if place.is_json:
        print_json({**answer, **({"explained": told["recall"]} if why else {})})
        return
    _show(answer)
    if why:
        _explain(part(told, "recall"))


def _show(answer: Answer) -> None:
    text = words(answer, "text")
    print_line(text or "Nothing to recall.")
    degraded = words(answer, "degraded")
    if degraded:
        print_line(f"degraded: {degraded}", "yellow")


def _explain(told: Answer) -> None:
    candidates = rows(told, "candidates")
    if not candidates:
        return
    columns = (
        Column("memory"),
        Column("words", whole=True),
        Column("meaning", whole=True),
        Column("score", whole=True),
        Column("answers", whole=True),
        Column("", whole=True),
    )
    print_table(
        columns,
        [
            [
                words(one, "title") or words(one, "id"),
                words(one, "words"),
                words(one, "meaning"),
                words(one, "score"),
                words(one, "answers"),
                words(one, "gate") or "recalled",
            ]
            for one in candidates
        ],
    )
