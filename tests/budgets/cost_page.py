"""The table of the deploying guide that says what an operation costs. Not a suite."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGES = ("DEPLOYING.md", "DEPLOYING.zh-CN.md")
"""The guide in its two languages."""
OPERATIONS = (
    "startup bundle, cached",
    "startup bundle, fresh",
    "capture: two tags, project, topic",
    "update: two tags, project, topic",
    "complete",
    "list of the newest, 50",
    "search for a word of most items",
    "recall, words of most items",
    "chat turn that saves nothing",
    "chat turn with remember-now",
    "extraction of 40 messages that finds 40 facts",
    "extraction of 40 messages that finds none",
)
"""What its rows are about, in order."""
READ_A_DAY, WRITTEN_A_DAY, KV_READ_A_DAY = 5_000_000, 100_000, 100_000
"""The free plan's daily allowance. Source: the platform's price lists, 2026."""
ROW = re.compile(r"^\| [^|]+ \| (\d+) \| ([\d,]+) \| (\d+) \| (\d+)[,、] ?(\d+) \| ([\d,]+)", re.M)
"""Round trips, rows read, rows written, KV reads, KV writes, times a day."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row. *Shape:* `a_day` how often the free plan affords it."""

    trips: int
    read: int
    written: int
    kv_read: int
    a_day: int

    def affords(self) -> float:
        """How often a day the free plan's allowance of rows and keys is enough."""
        shares = (self.read / READ_A_DAY, self.written / WRITTEN_A_DAY)
        return 1 / max(*shares, self.kv_read / KV_READ_A_DAY)


def read_page(path: Path) -> dict[str, Row]:
    """The rows of a page by what they are about. *Raises:* ValueError, when one is missing."""
    found = ROW.findall(path.read_text(encoding="utf-8"))
    rows = [[int(cell.replace(",", "")) for cell in cells] for cells in found]
    return {
        name: Row(trips, read, written, kv_read, a_day)
        for name, (trips, read, written, kv_read, _, a_day) in zip(OPERATIONS, rows, strict=True)
    }
