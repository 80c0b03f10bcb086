"""`remembrancer candidates`: what jobs were not sure of, and a person decides."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.answers import rows, words
from remembrancer.cli.door import ask
from remembrancer.cli.groups import group
from remembrancer.cli.options import Limit
from remembrancer.cli.output import Column, print_json, print_line, print_table
from remembrancer.cli.place import Place, placed
from remembrancer.core.values import JSON

candidates = group("Candidates: list, approve, discard, merge, supersede.")

CandidateId = Annotated[str, typer.Argument(metavar="ID", help="The candidate's id.")]
TargetId = Annotated[str, typer.Argument(metavar="MEMORY", help="The memory's id, `itm_…`.")]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="Why; kept with it.")]
Content = Annotated[str | None, typer.Option(metavar="TEXT", help="Better words for it.")]


def list_candidates(
    place: Place,
    status: Annotated[
        str, typer.Option(help="pending, approved, discarded, merged, …")
    ] = "pending",
    limit: Limit = 20,
) -> None:
    """List what waits for a decision, the least sure first."""
    answer = ask(place, "candidates_list", {"status": status, "limit": limit}).answer
    if place.is_json:
        print_json(answer)
        return
    found = rows(answer, "candidates")
    if not found:
        print_line("Nothing waits.")
        return
    columns = (
        Column("id", whole=True),
        Column("type", whole=True),
        Column("sure", whole=True),
        Column("what"),
        Column("why"),
    )
    print_table(
        columns,
        [
            [
                words(one, "id"),
                words(one, "type"),
                words(one, "confidence"),
                words(one, "content"),
                words(one, "why"),
            ]
            for one in found
        ],
    )


def approve(
    place: Place, candidate_id: CandidateId, content: Content = None, note: Note = None
) -> None:
    """Make a memory of it."""
    _decide(place, candidate_id, "approve", {"content": content, "decision_note": note})


def discard(place: Place, candidate_id: CandidateId, note: Note = None) -> None:
    """Drop it; what is discarded twice is not proposed again."""
    _decide(place, candidate_id, "discard", {"decision_note": note})


def merge(
    place: Place,
    candidate_id: CandidateId,
    target_id: TargetId,
    content: Content = None,
    note: Note = None,
) -> None:
    """Say a memory in its words, or in those given; tags, sources and the surer scores join."""
    given = {"target_id": target_id, "content": content, "decision_note": note}
    _decide(place, candidate_id, "merge", given)


def supersede(
    place: Place,
    candidate_id: CandidateId,
    target_id: TargetId,
    content: Content = None,
    note: Note = None,
) -> None:
    """Put it in the place of a memory, which stays as history."""
    given = {"target_id": target_id, "content": content, "decision_note": note}
    _decide(place, candidate_id, "supersede", given)


def _decide(place: Place, candidate_id: str, action: str, given: dict[str, str | None]) -> None:
    said: dict[str, JSON] = {name: value for name, value in given.items() if value is not None}
    answer = ask(place, "candidate_decide", {"id": candidate_id, "action": action, **said}).answer
    if place.is_json:
        print_json(answer)
        return
    print_line(f"{candidate_id}: {words(answer, 'outcome')}")


candidates.command("list")(placed(list_candidates))
candidates.command("approve")(placed(approve))
candidates.command("discard")(placed(discard))
candidates.command("merge")(placed(merge))
candidates.command("supersede")(placed(supersede))
