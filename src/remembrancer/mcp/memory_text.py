"""Memory as Markdown for a model's eyes, fenced and marked as data.

What people and agents once saved may contain anything, also sentences that look like orders or
like the end of a block. Every line here begins with a mark of ours and every memory text stays on
its one line, so no saved text can begin a line, close the fence or open a heading.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from remembrancer.core.text.graphemes import shorten
from remembrancer.core.values import JSON

FENCE: Final = "~~~~"
"""Opens and closes a block of data; no line of data can be it, since each begins with a mark."""
TEXT_CHARS: Final = 600
"""Characters of one memory's text that are shown; get_item has the rest. Our choice."""

View = Mapping[str, JSON]


def data_block(lines: Iterable[str]) -> str:
    """Return lines as one marked block. *Shape:* lines made by this module's functions."""
    return "\n".join((f"{FENCE}remembrancer-data", *lines, FENCE))


def section(title: str, lines: Iterable[str]) -> list[str]:
    """Return a heading with its lines; nothing when there are no lines."""
    body = list(lines)
    return [f"## {title}", *body] if body else []


def item_line(item: JSON) -> str:
    """Return one item as a line: id, title, what matters of its state, text."""
    view = as_view(item)
    content = flat(view.get("content") or view.get("summary"))
    text = "" if content in ("", flat(view.get("title"))) else f": {content}"
    return f"- [{flat(view.get('id'))}] {flat(view.get('title'))}{_facts(view)}{text}"


def item_lines(items: JSON) -> list[str]:
    """Return a list of items as lines."""
    return [item_line(item) for item in as_list(items)]


def startup_lines(bundle: View) -> list[str]:
    """Return the startup bundle as lines."""
    focus = as_view(bundle.get("current_focus"))
    version, made = flat(bundle.get("context_version")), flat(bundle.get("generated_at"))
    return [
        f"# Startup context, version {version}, {made}",
        *section("Profile", item_lines([bundle.get("profile")])),
        *section("Active goals", item_lines(bundle.get("active_goals"))),
        *section("Current focus", _focus_lines(focus)),
        *section("Active projects", map(_project_line, as_list(bundle.get("active_projects")))),
        *section("Always loaded", item_lines(bundle.get("always_load"))),
        *section("Topics", map(_topic_line, as_list(bundle.get("topic_summaries")))),
    ]


def flat(value: JSON) -> str:
    """Return a text on one line, cut when long; nothing for null."""
    if value is None:
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= TEXT_CHARS else shorten(text, TEXT_CHARS)


def as_view(value: JSON) -> View:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[JSON]:
    """Return a list without its nulls, an empty one for anything else."""
    return [entry for entry in value if entry is not None] if isinstance(value, list) else []


def _facts(view: View) -> str:
    facts = []
    if view.get("due_at"):
        facts.append(f"due {flat(view['due_at'])}")
    if view.get("recurrence_kind"):
        facts.append(flat(view["recurrence_kind"]))
    if view.get("project"):
        facts.append(f"project {flat(as_view(view['project']).get('slug'))}")
    if view.get("completed_at"):
        facts.append(f"completed {flat(view['completed_at'])}")
    return f" ({', '.join(facts)})" if facts else ""


def _focus_lines(focus: View) -> list[str]:
    lines = []
    project = as_view(focus.get("project"))
    if project:
        lines.append(f"- project {flat(project.get('slug'))}: {flat(project.get('name'))}")
    lines += [
        f"- {name.replace('_', ' ')} {item_line(focus[name]).removeprefix('- ')}"
        for name in ("strategic_focus", "tactical_next_step", "item")
        if isinstance(focus.get(name), dict)
    ]
    return lines


def _project_line(project: JSON) -> str:
    view = as_view(project)
    objective = as_view(view.get("active_objective"))
    goal = f"; goal [{flat(objective.get('id'))}] {flat(objective.get('title'))}"
    return f"- {flat(view.get('slug'))}: {flat(view.get('name'))}{goal if objective else ''}"


def _topic_line(topic: JSON) -> str:
    view = as_view(topic)
    group, summary = as_view(view.get("group")), as_view(view.get("summary"))
    canonical = view.get("canonical_item")
    shown = f": {item_line(canonical).removeprefix('- ')}" if canonical else ""
    return (
        f"- {flat(group.get('slug'))} ({flat(group.get('name'))}, "
        f"{flat(summary.get('total'))} current){shown}"
    )
