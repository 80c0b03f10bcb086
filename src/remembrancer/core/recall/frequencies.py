"""How many items hold the common words of queries, as it was counted a short time ago.

Counting takes as long as there are items that hold a word, and of a common word a few more or
fewer say nothing else. Rare words are counted anew each time, so what was just saved is found.
Reading counts is `store.search`. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

COMMON_MIN: Final = 100
"""Items that hold a word from which it is common: ten more change what it says by a twentieth. Our
choice."""

KEPT_MS: Final = 10 * 60 * 1_000
"""Milliseconds for which a count holds. Our choice."""

WORDS_KEPT: Final = 2_000
"""Words whose counts are kept, the first of them given up for the next. Our choice: a quarter of a
megabyte."""


class CommonWords:
    """The counts of one index, shared by all who ask it."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def known(self, words: Iterable[str], *, now_ms: int) -> dict[str, int]:
        """Return how many items hold those of the words that need not be counted now."""
        found: dict[str, int] = {}
        for word in words:
            count, at_ms = self._counts.get(word, (0, 0))
            if count and 0 <= now_ms - at_ms < KEPT_MS:
                found[word] = count
        return found

    def keep(self, counts: Mapping[str, int], *, now_ms: int) -> None:
        """Keep the counts of common words, as they were just read."""
        for word, count in counts.items():
            self._counts.pop(word, None)
            if count >= COMMON_MIN:
                self._counts[word] = (count, now_ms)
        while len(self._counts) > WORDS_KEPT:
            del self._counts[next(iter(self._counts))]
