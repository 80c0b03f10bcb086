"""What follows from an item's fields: its search text, its counters, the scopes it is shown in.

Projections and their tests use these; nothing here is stored in the ledger. Every ring may
import it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from remembrancer.core.items.fields import CURRENT_STATES
from remembrancer.core.text.fold import fold_key
from remembrancer.core.text.segment import index_terms
from remembrancer.core.text.slugs import tag_key
from remembrancer.core.values import JSON


def search_columns(fields: Mapping[str, JSON]) -> tuple[str, str, str]:
    """Return segmented title, body and tags: the three searchable columns."""
    parts = [fields.get("content"), fields.get("summary"), fields.get("fact_key")]
    parts += [text for name in ("notes", "decisions", "problems") for text in _texts(fields, name)]
    parts += _texts(fields, "steps")
    body = " ".join(index_terms(part) for part in parts if isinstance(part, str) and part)
    title = fields.get("title")
    tags = fields.get("tags")
    names = " ".join(str(tag) for tag in tags) if isinstance(tags, list) else ""
    return index_terms(str(title or "")), body, index_terms(names)


def _texts(fields: Mapping[str, JSON], name: str) -> list[str]:
    found: list[str] = []
    entries = fields.get(name)
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            found.append(str(entry.get("text", "")))
            found += _texts(entry, "steps")
    return found


def scope_word(namespace: str) -> str:
    """Return the word that marks a namespace's rows in the search index."""
    return "ns" + hashlib.sha256(namespace.encode()).hexdigest()[:16]


def text_hash(fields: Mapping[str, JSON]) -> str:
    """Return the hash of the folded text, by which a tombstone knows it again."""
    text = "\n".join(str(fields.get(name) or "") for name in ("title", "content"))
    return hashlib.sha256(fold_key(text).encode()).hexdigest()


def tag_keys(fields: Mapping[str, JSON]) -> dict[str, str]:
    """Return tag key → display form."""
    tags = fields.get("tags")
    if not isinstance(tags, list):
        return {}
    return {tag_key(str(tag)): str(tag) for tag in tags}


def counters(fields: Mapping[str, JSON]) -> dict[str, int]:
    """Return the counters that this item adds to, each by one; none for a record that is not."""
    if not fields:
        return {}
    kind, state = str(fields["kind"]), str(fields["state"])
    names = [f"items/{kind}/{state}"]
    if kind == "memory" and state == "active":
        names.append(f"memory_type/{fields['type']}")
    is_current = state in CURRENT_STATES
    for area, name in (("project", "project_id"), ("topic", "topic_id")):
        owner = fields.get(name)
        if owner is not None:
            names.append(f"{area}/{owner}/{state}")
            if is_current and fields.get("pinned"):
                names.append(f"{area}/{owner}/pinned")
    if is_current:
        names += [f"tag/{key}" for key in tag_keys(fields)]
    return dict.fromkeys(names, 1)


def scopes(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> set[str]:
    """Return the scopes whose bundles may show the difference."""
    touched = {"startup"}
    for fields in (before, after):
        for area, name in (("project", "project_id"), ("topic", "topic_id")):
            owner = fields.get(name)
            if owner is not None:
                touched.add(f"{area}/{owner}")
    return touched
