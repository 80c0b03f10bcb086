"""The one check that both SQL drivers run before a statement leaves: what D1 would refuse.

Pure: it reads text and values, knows no table and no driver. Values over a limit are InvalidInput,
because a user's text can cause them; a statement that only a defect can produce (a transaction
word, a wrong number of values, a write among reads) is a plain RemembrancerError. Any ring may
import it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.core.limits import (
    INTEGER_MAX,
    SQL_BOUND_VALUES_MAX,
    SQL_LIKE_PATTERN_BYTES_MAX,
    SQL_STATEMENT_BYTES_MAX,
    SQL_VALUE_BYTES_MAX,
)

SQL_COMPOUND_TERMS_MAX: Final = 5
"""Terms of one compound SELECT. Source: measured, workerd 1.2026; a sixth is refused."""

SQL_EXPRESSION_DEPTH_MAX: Final = 100
"""Depth of one expression; 101 joined by AND are too deep. Source: measured, workerd 1.2026."""

SQL_COLUMNS_MAX: Final = 100
"""Columns of a table or a result. Source: D1 limits page; 101 are refused (measured)."""

SQL_ROW_BYTES_MAX: Final = 2_200_000
"""Bytes of one stored row with its header, the engine's own ceiling. Source: measured."""

READING_VERBS: Final = frozenset({"select", "values", "explain"})
"""First words of statements that a read may hold."""

WRITING_VERBS: Final = frozenset(
    {"insert", "update", "delete", "replace", "create", "drop", "alter", "analyze", "reindex"}
)
"""First words of statements that only a write may hold. Every other first word is refused."""

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<text>'(?:[^']|'')*')
    |(?P<name>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])
    |(?P<mark>\?[0-9]*)
    |(?P<named>[:@$]\w+)
    |(?P<word>\w+)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the text of a statement says: its verb, lower case, and how many values it wants."""

    verb: str
    marks: int

    @property
    def is_reading(self) -> bool:
        """Tell whether the statement leaves the database as it is."""
        return self.verb in READING_VERBS


@lru_cache(maxsize=1024)
def statement_shape(sql: str) -> Shape:
    """Read the shape of one statement.

    *Raises:* InvalidInput for a text or a literal LIKE pattern over the limit; RemembrancerError
    for what no driver may send: no statement, two statements, a named mark, a transaction.
    """
    size = len(sql.encode("utf-8", "surrogatepass"))
    if size > SQL_STATEMENT_BYTES_MAX:
        raise InvalidInput(
            f"a statement of {size} bytes is over the limit of {SQL_STATEMENT_BYTES_MAX}",
            hint="bind long values instead of writing them into the statement",
        )
    tokens = [
        (match.lastgroup or "", match.group())
        for match in _TOKEN.finditer(sql)
        if match.lastgroup != "space"
    ]
    verb = _verb(tokens)
    _check_end(tokens, sql)
    _check_patterns(tokens)
    return Shape(verb, _marks(tokens))


def check_statement(sql: str, params: Sequence[object], *, is_reading: bool = False) -> None:
    """Refuse a statement or a value that D1 would refuse or change.

    *Raises:* InvalidInput for more than 100 values, a value over 2 MB, an integer beyond
    ±(2⁵³ - 1), a number that is not finite, text that is not Unicode; RemembrancerError for a
    defect, and for a write when `is_reading`.
    """
    shape = statement_shape(sql)
    if is_reading and not shape.is_reading:
        raise RemembrancerError(f"a read cannot hold a statement of the verb {shape.verb!r}")
    if len(params) > SQL_BOUND_VALUES_MAX:
        raise InvalidInput(
            f"{len(params)} bound values are over the limit of {SQL_BOUND_VALUES_MAX}",
            hint="name fewer things in one call",
        )
    if len(params) != shape.marks:
        raise RemembrancerError(
            f"the statement has {shape.marks} marks but {len(params)} values were bound"
        )
    for value in params:
        _check_value(value)


def _check_value(value: object) -> None:
    """Refuse one value; the message never holds text, only its size."""
    if value is None:
        return
    if isinstance(value, str):
        try:
            size = len(value) if value.isascii() else len(value.encode())
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"the text has a lone surrogate {value[error.start]!r} at {error.start}",
                hint="send valid Unicode",
            ) from error
        _check_size(size)
    elif isinstance(value, bool):
        raise RemembrancerError("a boolean cannot be bound; bind 0 or 1")
    elif isinstance(value, int):
        if not -INTEGER_MAX <= value <= INTEGER_MAX:
            raise InvalidInput(f"the integer {value!r} is beyond ±{INTEGER_MAX}")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"the number {value!r} is not finite")
    elif isinstance(value, bytes):
        _check_size(len(value))
    else:
        raise RemembrancerError(f"a value of type {type(value).__name__!r} cannot be bound")


def _check_size(size: int) -> None:
    if size > SQL_VALUE_BYTES_MAX:
        raise InvalidInput(
            f"a value of {size} bytes is over the limit of {SQL_VALUE_BYTES_MAX}",
            hint="split it, or store it as an artifact",
        )


def _verb(tokens: list[tuple[str, str]]) -> str:
    """Find the word that says what happens: the first, or after WITH the first of the body."""
    words = []
    depth = 0
    for kind, text in tokens:
        if kind == "sign":
            depth += (text == "(") - (text == ")")
        elif kind == "word" and depth == 0:
            words.append(text.lower())
    first = words[0] if words else ""
    if first == "with":
        known = READING_VERBS | WRITING_VERBS
        first = next((word for word in words[1:] if word in known), "")
    if first not in READING_VERBS and first not in WRITING_VERBS:
        raise RemembrancerError(f"a statement of the verb {first!r} is not for a store's batch")
    if first == "create" and words[1:2] in (["temp"], ["temporary"]):
        raise RemembrancerError("a temporary table, view or trigger is not for a store's batch")
    return first


def _check_end(tokens: list[tuple[str, str]], sql: str) -> None:
    """Refuse a second statement: D1 would run it with the first's values, or drop the first."""
    ends = [index for index, token in enumerate(tokens) if token == ("sign", ";")]
    is_trigger = "trigger" in [text.lower() for _, text in tokens[1:3]]
    if not ends or is_trigger:  # a trigger's body holds statements of its own
        return
    if ends != [len(tokens) - 1]:
        raise RemembrancerError("one statement at a time: text follows the semicolon")
    # A comment after the semicolon makes D1 answer that there is no statement (measured).
    if not sql.rstrip().endswith(";"):
        raise RemembrancerError("one statement at a time: a comment follows the semicolon")


def _check_patterns(tokens: list[tuple[str, str]]) -> None:
    """Refuse a literal LIKE or GLOB pattern over the limit; bound ones the engine refuses."""
    for (kind, word), (next_kind, text) in pairwise(tokens):
        if kind == "word" and next_kind == "text" and word.lower() in ("like", "glob"):
            size = len(text[1:-1].replace("''", "'").encode("utf-8", "surrogatepass"))
            if size > SQL_LIKE_PATTERN_BYTES_MAX:
                raise InvalidInput(
                    f"a pattern of {size} bytes is over the limit of {SQL_LIKE_PATTERN_BYTES_MAX}",
                    hint="search for something shorter",
                )


def _marks(tokens: list[tuple[str, str]]) -> int:
    """Count the values wanted: a bare mark takes the next number, `?3` means three at least."""
    count = 0
    for kind, text in tokens:
        if kind == "mark":
            count = max(count, int(text[1:])) if len(text) > 1 else count + 1
        elif kind == "named":
            raise RemembrancerError(f"a named mark {text!r} cannot be bound; use '?'")
    return count
