"""URI templates of resources: the part of RFC 6570 that resources need, read backwards.

`{name}` takes one path segment, `{+name}` any rest, `{?a,b}` optional query parameters. It only
matches; it makes no URIs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote

_EXPRESSION: Final = re.compile(r"\{([+?]?)([A-Za-z0-9_]+(?:,[A-Za-z0-9_]+)*)\}")


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """One template, ready to match."""

    text: str
    _path: re.Pattern[str]
    _query: frozenset[str]

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the decoded parameters of a URI, or None when it has another form."""
        path, _, query = uri.partition("?") if self._query else (uri, "", "")
        found = self._path.fullmatch(path)
        if found is None:
            return None
        parameters = {name: unquote(value) for name, value in found.groupdict().items()}
        for name, value in parse_qsl(query, keep_blank_values=True):
            if name not in self._query:
                return None
            parameters[name] = value
        return parameters


def parse_uri_template(text: str) -> UriTemplate:
    """Return the template of a text such as `project://decisions/{topic}{?limit}`."""
    pattern, query, at = "", frozenset[str](), 0
    for expression in _EXPRESSION.finditer(text):
        pattern += re.escape(text[at : expression.start()])
        at = expression.end()
        operator, names = expression[1], expression[2].split(",")
        if operator == "?":
            assert at == len(text), f"{text!r}: the query comes last"
            query = frozenset(names)
        else:
            assert len(names) == 1, f"{text!r}: one name in each expression"
            pattern += f"(?P<{names[0]}>{'.+' if operator else '[^/?#]+'})"
    pattern += re.escape(text[at:])
    return UriTemplate(text, re.compile(pattern, re.DOTALL), query)
