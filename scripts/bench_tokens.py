"""What a model pays before anything is asked: the list of tools, and the startup bundle.

Tokens are the product's own estimate (`core.text.tokens`), which no vocabulary counts exactly. A
tool costs a model its name, description and input schema; clients keep output schemas and
annotations to themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.builders import Bench
from tests.seeding import seed

from measuring import print_table
from remembrancer.app.context.load import load_context
from remembrancer.app.context.startup import get_startup_context
from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.context.levels import ContextRequest
from remembrancer.core.text.tokens import estimate_tokens
from remembrancer.core.values import canonical_json
from remembrancer.mcp.catalogue import INSTRUCTIONS, make_registry
from remembrancer.mcp.registry import TOOLSETS

ITEMS = 2_000
"""Items of the store whose bundles are measured: each part of a bundle is full by then."""
SHOWN = ("name", "description", "inputSchema")
"""What of a tool a client shows its model."""


def tokens(value: object) -> int:
    """Tokens of a JSON value as it is sent."""
    return estimate_tokens(canonical_json(value))


def toolset_figures() -> dict[str, dict[str, int]]:
    """Tools and tokens of each toolset, for a key that may do everything."""
    registry = make_registry()
    figures = {}
    for name in (*TOOLSETS, "all"):
        tools: Sequence[Mapping[str, object]] = registry.list_tools(
            frozenset(SCOPES), frozenset({name})
        )
        shown = [{key: tool[key] for key in SHOWN if key in tool} for tool in tools]
        figures[name] = {
            "tools": len(tools),
            "tokens": sum(tokens(each) for each in shown),
            "sent": sum(tokens(each) for each in tools),
        }
    return figures


async def bundle_figures() -> dict[str, int]:
    """Tokens of what the context levels answer on a full store."""
    bench = Bench()
    seeded = await seed(bench.sql, ITEMS)
    app = bench.app
    project = ContextRequest("project", project=next(iter(seeded.projects)))
    topic = ContextRequest("topic_summary", topic=list(seeded.topics)[1])
    return {
        "startup": tokens(await get_startup_context(app, bench.caller())),
        "startup within 2,000": tokens(
            await get_startup_context(app, bench.caller(), max_tokens=2_000)
        ),
        "startup within 500": tokens(
            await get_startup_context(app, bench.caller(), max_tokens=500)
        ),
        "topic": tokens(await load_context(app, bench.caller(), topic)),
        "project": tokens(await load_context(app, bench.caller(), project)),
    }


def main(arguments: Sequence[str]) -> int:
    """Measures, prints, and writes the figures when asked."""
    parser = argparse.ArgumentParser(prog="scripts/bench tokens")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    chosen = parser.parse_args(arguments)
    toolsets, bundles = toolset_figures(), asyncio.run(bundle_figures())
    figures: dict[str, Any] = {
        "instructions": estimate_tokens(INSTRUCTIONS),
        "toolsets": toolsets,
        "bundles": bundles,
    }
    rows = [
        (name, each["tools"], f"{each['tokens']:,}", f"{each['sent']:,}")
        for name, each in toolsets.items()
    ]
    print_table(("toolset", "tools", "tokens shown", "tokens sent"), rows)
    print(f"instructions: {figures['instructions']} tokens\n")
    print_table(("bundle", "tokens"), [(name, f"{count:,}") for name, count in bundles.items()])
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
