"""The index over a request's headers answers as Starlette's list does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from remembrancer.http.headers import RequestHeaders

NAME = st.sampled_from(["accept", "x-a", "content-type"])
VALUE = st.text(st.characters(max_codepoint=255), max_size=5)
LIST = st.lists(st.tuples(NAME, VALUE), max_size=6)


@given(LIST, st.sampled_from(["accept", "Accept", "X-A", "content-type", "none", ""]))
def test_header_is_the_first_of_its_name(pairs: list[tuple[str, str]], name: str) -> None:
    raw = [(key.encode(), value.encode("latin-1")) for key, value in pairs]
    plain, indexed = Headers(raw=raw), RequestHeaders({"headers": raw})
    assert indexed.get(name) == plain.get(name)
    assert indexed.get(name, "else") == plain.get(name, "else")
    assert (name in indexed) == (name in plain)
    assert indexed.getlist(name) == plain.getlist(name)
    assert dict(indexed) == dict(plain)
