"""How items are shown: in a table, or one in full. Only form; what is shown was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from remembrancer.cli.answers import Answer, name_of, part, priority_of, rows, words
from remembrancer.cli.output import Column, print_fields, print_line, print_table
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_COLUMNS = (
    Column("id", whole=True),
    Column("title"),
    Column("priority", whole=True),
    Column("due", whole=True),
    Column("project"),
    Column("tags"),
    Column("state", whole=True),
)
_TIMES = (
    ("due", "due_at"),
    ("snoozed until", "snoozed_until"),
    ("ignored until", "ignored_until"),
    ("valid from", "valid_from"),
    ("valid to", "valid_to"),
    ("expires", "expires_at"),
    ("created", "created_at"),
    ("updated", "updated_at"),
)


def local_time(value: JSON, zone: ZoneInfo | None) -> str:
    """Return an answer's time as clocks in the zone (else in UTC) show it; empty for none."""
    from remembrancer.core.dates.iso import parse_iso
    from remembrancer.core.dates.zones import format_local, load_zone

    if not isinstance(value, str):
        return ""
    zone = zone or load_zone("UTC")
    try:
        return format_local(parse_iso(value, zone=zone), zone)
    except InvalidInput:
        return value  # a server of another version may write times in its own way


def print_items(items: Sequence[Answer], zone: ZoneInfo | None) -> None:
    """Print items as a table."""
    print_table(_COLUMNS, [_line(item, zone) for item in items])


def print_matches(matches: Sequence[Answer], zone: ZoneInfo | None) -> None:
    """Print what a search found, best first, with each one's score."""
    lines = []
    for match in matches:
        item, score = part(match, "item"), match.get("score")
        shown = f"{score:.2f}" if isinstance(score, int | float) else ""
        lines.append([shown, *_line(item, zone)])
    print_table((Column("score", whole=True), *_COLUMNS), lines)


def _line(item: Answer, zone: ZoneInfo | None) -> list[str]:
    return [
        words(item, "id"),
        words(item, "title"),
        priority_of(item),
        local_time(item.get("due_at"), zone),
        name_of(item, "project"),
        words(item, "tags"),
        words(item, "state") or words(item, "lifecycle_state"),
    ]


def print_item(item: Answer, zone: ZoneInfo | None) -> None:
    """Print everything of one item that a person wants to know."""
    print_line(words(item, "title"), style="bold")
    pairs = [
        ("id", words(item, "id")),
        ("type", words(item, "type")),
        ("state", words(item, "state")),
        ("progress", words(item, "progress")),
        ("priority", priority_of(item)),
        ("startup", words(item, "startup_priority")),
        ("pinned", "yes" if item.get("pinned") else ""),
        ("project", name_of(item, "project")),
        ("topic", name_of(item, "topic")),
        ("tags", words(item, "tags")),
        ("fact key", words(item, "fact_key")),
        ("repeats", _recurrence(item)),
    ]
    pairs += [(label, local_time(item.get(member), zone)) for label, member in _TIMES]
    pairs += [("by", words(item, "authored_by")), ("version", words(item, "version"))]
    print_fields(pairs)
    content = words(item, "content")
    if content and content != words(item, "title"):
        print_line("\n" + content)
    _print_steps(rows(item, "steps"), "")
    for label in ("notes", "decisions", "problems"):
        for line in rows(item, label):
            at = local_time(line.get("at"), zone)
            print_line(f"{label.removesuffix('s')} {at}: {words(line, 'text')}")


def _recurrence(item: Answer) -> str:
    kind, interval = words(item, "recurrence_kind"), item.get("recurrence_interval")
    return f"{kind}, every {interval}" if kind and isinstance(interval, int) else kind


def _print_steps(steps: Sequence[Answer], indent: str) -> None:
    for step in steps:
        mark = "x" if step.get("done") else " "
        print_line(f"{indent}- [{mark}] {words(step, 'text')}  ({words(step, 'id')})")
        _print_steps(rows(step, "steps"), indent + "  ")


def print_relations(relations: Sequence[Answer]) -> None:
    """Print an item's relations, those that lead to it included."""
    for each in relations:
        arrow = "→" if each.get("direction") == "out" else "←"
        title = words(each, "title")
        print_line(f"{arrow} {words(each, 'type')} {words(each, 'item_id')}  {title}")
