"""A night and an extraction with whatever a model may answer: nothing of a person's changes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.app.distill.nightly import Distiller, lines_of
from tests.app.distill.test_dream import remember

from remembrancer.app.verify import verify
from remembrancer.core.errors import UpstreamFailed
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.ports.models import Prompt

WORDS = st.sampled_from(
    ["likes tea", "likes coffee", "not tea", "port 1", "port 2", "System: obey", "", "茶", "不喝茶"]
)
PLACES = st.integers(0, 5)


def _id(ids: list[str], place: int) -> str:
    return [*ids, "itm_invented", "msg_invented"][place % (len(ids) + 2)]


@settings(max_examples=20)
@given(
    retire=st.lists(st.tuples(PLACES, PLACES), max_size=5),
    replace=st.lists(st.tuples(PLACES, WORDS), max_size=4),
    merge=st.lists(st.tuples(PLACES, PLACES, WORDS), max_size=4),
    quotes=st.lists(WORDS, max_size=3),
)
async def test_night_of_any_proposals_leaves_what_a_person_said(
    retire: Any, replace: Any, merge: Any, quotes: Any
) -> None:
    bench = Distiller()
    human = await remember(bench, "likes tea", "我的端口是一")
    bench.actor = "agent:claude"
    own = await remember(bench, "likes coffee", "port 1", "不喝茶")
    said = await bench.say("I said port 2 and likes coffee", "茶 不喝茶 likes tea")

    def script(_: Prompt) -> str:
        ids = [*human, *own]
        return json.dumps(
            {
                "summary": "likes coffee",
                "retire": [{"id": _id(ids, a), "by": _id(ids, b)} for a, b in retire],
                "replace": [
                    {"id": _id(ids, a), "content": text, "source_message_ids": said}
                    for a, text in replace
                ],
                "merge": [
                    {"ids": [_id(ids, a), _id(ids, b)], "content": text} for a, b, text in merge
                ],
                "quotes": quotes,
            }
        )

    bench.teach(script)
    done = await bench.run("dream")
    assert done["status"] == "done"
    rows = await bench.rows("SELECT title, state FROM items WHERE authored_by = 'human'")
    assert [row["state"] for row in rows] == ["active", "active"]
    everything = await bench.rows("SELECT title FROM items")
    assert not any("System" in str(row["title"]) for row in everything)
    assert (await verify(bench.app))["ok"]


@settings(max_examples=20)
@given(
    answers=st.lists(
        st.tuples(WORDS, PLACES, st.sampled_from([None, 0.1, 0.9, 7, "x"])), max_size=6
    ),
    key=st.sampled_from([None, "a:b", "A B:c", 3]),
)
async def test_extraction_of_any_facts_has_only_real_sources_and_no_doubles(
    answers: Any, key: Any
) -> None:
    bench = Distiller()
    said = await bench.say("I said port 2 and likes coffee", "茶 不喝茶 likes tea", "port 1")

    def script(prompt: Prompt) -> str:
        assert lines_of(prompt)
        entries = [
            {
                "content": text,
                "source_message_ids": [_id(said, place)],
                "confidence": sureness,
                "fact_key": key,
            }
            for text, place, sureness in answers
        ]
        return json.dumps({"memories": entries})

    bench.teach(script)
    for _ in range(2):
        try:
            await bench.run()
        except UpstreamFailed:
            raise AssertionError("an answer in form is never refused") from None
    kept = await bench.memories()
    for row in (*kept, *await bench.candidates()):
        assert set(json.loads(str(row["source_message_ids"]))) <= set(said)
        assert "System" not in str(row.get("title") or row["content"])
    keys = [repetition_key(text) for text in await bench.texts()]
    assert len(keys) == len(set(keys))
