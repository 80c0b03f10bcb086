"""`remembrancer context`: the four levels, as an agent would load them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.answers import Answer, name_of, part, words
from remembrancer.cli.door import Reply, ask
from remembrancer.cli.groups import group
from remembrancer.cli.items import local_time, print_item, print_items
from remembrancer.cli.options import MaxTokens
from remembrancer.cli.output import print_fields, print_json, print_line
from remembrancer.cli.place import Place, placed
from remembrancer.core.values import JSON

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_ENVELOPE = (
    "level",
    "scope",
    "source",
    "context_version",
    "generated_at",
    "valid_until",
    "last_consolidated",
    "count",
    "total",
    "next_cursor",
)
"""Plain members of a bundle, which are shown first."""
_UNSAID = ("total_is_minimum",)

context = group("What a conversation loads: startup, topic, project, raw.")

History = Annotated[
    bool, typer.Option("--history", help="Also superseded, archived and completed ones.")
]


def startup(place: Place, max_tokens: MaxTokens = None) -> None:
    """Show what a new conversation loads first."""
    _show(place, ask(place, "get_startup_context", {"max_tokens": max_tokens}))


def topic(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A topic's slug or name, or a tag.")],
    max_tokens: MaxTokens = None,
) -> None:
    """Show the summary of a topic or tag."""
    _show(place, ask(place, "get_context_summary", {"topic": name, "max_tokens": max_tokens}))


def project(
    place: Place,
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The project's slug or name.")],
    include_history: History = False,
    max_tokens: MaxTokens = None,
) -> None:
    """Show a project: its objective, what is current, what recurs."""
    _load(
        place,
        {
            "level": "project",
            "project_slug": slug,
            "include_history": include_history,
            "max_tokens": max_tokens,
        },
    )


def raw(
    place: Place,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="With this tag; repeatable.")
    ] = None,
    include_history: History = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 50,
    max_tokens: MaxTokens = None,
) -> None:
    """Show single memories and tasks, the most important ones first."""
    _load(
        place,
        {
            "level": "raw_memories",
            "tags": list(tag) if tag else None,
            "include_history": include_history,
            "limit": limit,
            "max_tokens": max_tokens,
        },
    )


def _load(place: Place, arguments: Mapping[str, JSON]) -> None:
    _show(place, ask(place, "load_context", arguments))


def _show(place: Place, reply: Reply) -> None:
    if place.is_json:
        print_json(reply.answer)
        return
    bundle = reply.answer
    print_fields(
        [
            (name.replace("_", " "), _shown(bundle.get(name), words(bundle, name), reply.zone))
            for name in _ENVELOPE
        ]
    )
    for name, value in bundle.items():
        if name not in (*_ENVELOPE, *_UNSAID):
            _show_part(name.replace("_", " "), value, reply.zone)


def _shown(value: JSON, text: str, zone: ZoneInfo | None) -> str:
    is_time = isinstance(value, str) and value[4:5] == "-" and value.endswith("Z")
    return local_time(value, zone) if is_time else text


def _show_part(name: str, value: JSON, zone: ZoneInfo | None) -> None:
    """Print one part of a bundle, by what it holds: items, owners, an item, plain values."""
    if value is None or value in ([], {}):
        return
    print_line(f"\n{name}", style="bold")
    if isinstance(value, list):
        entries = [each for each in value if isinstance(each, dict)]
        if entries and all("title" in each for each in entries):
            print_items(entries, zone)
        else:
            for each in value:
                print_line(_line(each) if isinstance(each, dict) else str(each))
    elif isinstance(value, dict) and "title" in value:
        print_item(value, zone)
    elif isinstance(value, dict):
        print_fields([(key.replace("_", " "), _value(each, zone)) for key, each in value.items()])
    else:
        print_line(_shown(value, str(value), zone))


def _value(value: JSON, zone: ZoneInfo | None) -> str:
    if isinstance(value, dict):
        return _line(value)
    if isinstance(value, list):
        return "\n".join(_line(each) if isinstance(each, dict) else str(each) for each in value)
    return _shown(value, words({"value": value}, "value"), zone)


def _line(entry: Answer) -> str:
    """Return an item, a project, or a topic with its summary, on one line."""
    if "title" in entry:
        return f"{words(entry, 'title')}  {words(entry, 'id')}"
    owner = part(entry, "group") or entry
    texts = [words(owner, "slug"), words(owner, "name")]
    for member in ("active_objective", "canonical_item", "top_item"):
        title = words(part(entry, member), "title")
        if title:
            texts.append(f"{member.replace('_', ' ')}: {title}")
    summary = part(entry, "summary") or part(entry, "counts")
    texts += [f"{key} {count}" for key, count in summary.items() if isinstance(count, int)]
    if not any(texts):
        texts = [f"{key}: {words(entry, key) or name_of(entry, key)}" for key in entry]
    return "  ".join(text for text in texts if text)


for _name, _command in (
    ("startup", startup),
    ("topic", topic),
    ("project", project),
    ("raw", raw),
):
    context.command(_name)(placed(_command))
