"""The scale on which scores are shown: the predecessor's, where .15 is the floor of evidence.

Inside, a score is the probability that a candidate answers, and a floor of one in a hundred is
right for it. Clients know floors like .15, so what is shown is a power of it. Every ring may
import it.
"""

from __future__ import annotations

import math
from typing import Final

from remembrancer.core.recall.gates import SCORE_MIN

SHOWN_MIN: Final = 0.15
"""The floor as clients know it. Source: the predecessor's documented default of `min_score`."""

_POWER: Final = math.log(SHOWN_MIN) / math.log(SCORE_MIN)


def shown(score: float) -> float:
    """Return a probability on the scale that is shown. *Units:* 0…1 both.

    *Promise:* grows with the score; 0, `SCORE_MIN` and 1 become 0, `SHOWN_MIN` and 1.
    """
    return float(max(0.0, score) ** _POWER)


def hidden(score: float) -> float:
    """Return the probability that a shown score stands for."""
    return float(max(0.0, score) ** (1 / _POWER))
