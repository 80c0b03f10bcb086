"""Counts of common words are kept for a while, those of rare words never."""

from __future__ import annotations

from remembrancer.core.recall.frequencies import COMMON_MIN, KEPT_MS, WORDS_KEPT, CommonWords


def test_common_words_are_known_until_their_time_is_over() -> None:
    words = CommonWords()
    words.keep({"阳台": COMMON_MIN, "tomato": 7_000}, now_ms=1_000)
    asked = ["阳台", "tomato", "番茄"]
    assert words.known(asked, now_ms=1_000) == {"阳台": COMMON_MIN, "tomato": 7_000}
    assert len(words.known(asked, now_ms=1_000 + KEPT_MS - 1)) == 2
    assert words.known(asked, now_ms=1_000 + KEPT_MS) == {}
    assert words.known(asked, now_ms=999) == {}, "the clock was set back"


def test_rare_words_are_never_known_and_a_word_that_became_rare_is_forgotten() -> None:
    words = CommonWords()
    words.keep({"番茄": COMMON_MIN - 1, "阳台": COMMON_MIN}, now_ms=0)
    assert words.known(["番茄", "阳台"], now_ms=1) == {"阳台": COMMON_MIN}
    words.keep({"阳台": COMMON_MIN - 1}, now_ms=1)
    assert words.known(["阳台"], now_ms=1) == {}


def test_words_beyond_what_is_kept_push_out_those_that_were_counted_first() -> None:
    words = CommonWords()
    words.keep({f"词{number}": COMMON_MIN for number in range(WORDS_KEPT)}, now_ms=0)
    words.keep({"词0": COMMON_MIN + 1, "新词": COMMON_MIN}, now_ms=0)
    assert words.known(["词0", "词1", "词2", "新词"], now_ms=0) == {
        "词0": COMMON_MIN + 1,
        "词2": COMMON_MIN,
        "新词": COMMON_MIN,
    }
