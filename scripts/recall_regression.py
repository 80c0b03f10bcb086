"""Logistic regression, as the constants of recall are found with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_STEPS: Final = 60
"""Steps of Newton's method; it stands still after some ten."""

_RIDGE: Final = 1.0
"""What keeps weights small that little speaks for, in units of each evidence's spread."""


def regression(
    rows: Sequence[Sequence[float]], right: Sequence[bool], weights: Sequence[float]
) -> list[float]:
    """Return base and weights of the log-odds that make the right candidates most likely."""
    raw: NDArray[np.float64] = np.array(rows, float)
    spread = raw.std(axis=0)
    spread[spread == 0] = 1
    inputs = np.column_stack([np.ones(len(raw)), raw / spread])
    wanted, counts = np.array(right, float), np.array(weights, float)
    ridge = _RIDGE * np.eye(inputs.shape[1])
    ridge[0, 0] = 1e-6
    found = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        odds = 1 / (1 + np.exp(-inputs @ found))
        bend = (inputs * (counts * odds * (1 - odds))[:, None]).T @ inputs + ridge
        found = found + np.linalg.solve(bend, inputs.T @ (counts * (wanted - odds)) - ridge @ found)
    return [float(found[0]), *(float(value) for value in found[1:] / spread)]
