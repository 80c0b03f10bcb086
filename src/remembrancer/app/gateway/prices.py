"""What tokens cost, where a person has set prices. Any module of the gateway may import it."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from remembrancer.core.chat.usage import Usage

PER_TOKENS: Final = 1_000_000
"""Tokens that a price is for. Source: the price lists of all providers."""


def cost_of(prices: Sequence[str], model: str, used: Usage) -> float | None:
    """Return what a reply cost; None when no price is set for its model.

    *Shape:* `prices` as MODEL_PRICES holds them, checked: `model=input/output[/cached[/written]]`,
    the model with `*` for any characters; the first that fits counts. What was read from a cache
    and has no price of its own costs as input, what was written to it as well.
    """
    for price in prices:
        name, _, amounts = price.rpartition("=")
        if fnmatchcase(model, name):
            each = [float(amount) for amount in amounts.split("/")]
            fresh, answered = each[0], each[1]
            cached = each[2] if len(each) > 2 else fresh
            written = each[3] if len(each) > 3 else fresh
            plain = max(0, used.prompt - used.cached - used.cache_write)
            total = plain * fresh + used.cached * cached + used.cache_write * written
            return (total + used.completion * answered) / PER_TOKENS
    return None
