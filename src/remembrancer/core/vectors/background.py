"""What a model's cosines mean: those of texts that answer each other, and of texts that do not.

One model gives 0.1 to sentences that have nothing to do with each other, another 0.6. So each is
asked once for a fixed list of questions and answers, and its cosines are put on the scale of the
encoder on which recall's constants were found. Asking is `app.recall.meaning`. Every ring may
import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from operator import mul
from typing import Final

PAIRS: Final = (
    ("会议几点开始？", "例会下午三点开始。"),
    ("我养的乌龟叫什么？", "家里的乌龟名叫石头。"),
    ("这台打印机用什么墨盒？", "打印机换的是 803 黑色墨盒。"),
    ("外公喜歡喝什麼茶？", "外公每天泡一壺普洱。"),
    ("周末去哪里爬山？", "周六约了人去香山。"),
    ("Where did we park the car?", "The car stands on level three of the garage."),
    ("What is my shoe size?", "I wear size 42 shoes."),
    ("Who teaches the piano lessons?", "Mrs. Novak gives the piano lessons."),
    ("How much is the electricity bill?", "We paid 86 euros for electricity last month."),
    ("Which password manager do we use?", "The team keeps its passwords in Bitwarden."),
    ("我的航班什么时候起飞？", "My flight leaves at 7:40 in the morning."),
    ("What food does he not eat?", "他不吃海鲜。"),
)
"""Questions and what answers each; no two pairs are about the same. Our list."""


@dataclass(frozen=True, slots=True)
class Background:
    """Mean cosines of a model. *Units:* `unrelated` of questions with others' answers, `related`
    with their own; -1…1."""

    unrelated: float
    related: float


REFERENCE_MODEL: Final = "universal-sentence-encoder-multilingual-3"
"""The model on which `core.recall.fusion` and `core.recall.bearing` found their constants."""

REFERENCE: Final = Background(0.034, 0.478)
"""Its background. Source: `tests/local/test_background.py` measures it."""

TELLS_MIN: Final = 0.1
"""How far related must stand out from unrelated for a model to know meanings at all; the cosines of
one that does not, such as hashed words, are left as they are. Our choice."""


def texts() -> list[str]:
    """Return what a model is asked to embed: all questions, then all answers."""
    return [question for question, _ in PAIRS] + [answer for _, answer in PAIRS]


def background_of(vectors: Sequence[Sequence[float]]) -> Background:
    """Return a model's background. *Shape:* `vectors` those of `texts()`, of unit length."""
    count = len(PAIRS)
    related = unrelated = 0.0
    for one, other in product(range(count), repeat=2):
        cosine = sum(map(mul, vectors[one], vectors[count + other]))
        if one == other:
            related += cosine
        else:
            unrelated += cosine
    return Background(unrelated / (count * (count - 1)), related / count)


def on_scale(cosines: Sequence[float], background: Background) -> list[float]:
    """Return a model's cosines as the reference would give them.

    *Promise:* unrelated, related and 1 of the model become those of the reference, and what lies
    between goes in a straight line; they grow with the cosines.
    """
    unrelated, related = background.unrelated, background.related
    if related - unrelated < TELLS_MIN or related >= 1:
        return list(cosines)
    low, high = REFERENCE.unrelated, REFERENCE.related
    slope = (high - low) / (related - unrelated)
    return [
        low + slope * (cosine - unrelated)
        if cosine < related
        else high + (1 - high) * (cosine - related) / (1 - related)
        for cosine in cosines
    ]
