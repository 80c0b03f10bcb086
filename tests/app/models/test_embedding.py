"""Embedders over the way out: what they send, what they take, and what they make of a refusal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

import pytest

from remembrancer.app.models.embedding import (
    DIMENSIONS,
    EDGE_MODEL,
    ServerEmbedder,
    WorkersAiEmbedder,
    embedder_named,
    embeddings_url,
    make_embedder,
)
from remembrancer.app.settings import Settings, load_settings
from remembrancer.core.errors import InvalidInput, LimitExceeded, TimedOut, UpstreamFailed
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, EMBED_TEXTS_MAX
from remembrancer.ports.models import Embedder, EmbeddingModel
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.models import HashingEmbedder
from remembrancer.testing.outbound import ScriptedAnswer, ScriptedOutbound, json_answer

BASE = "http://127.0.0.1:11434/v1"
MODEL = EmbeddingModel("workers-ai/@cf/baai/bge-m3", 3)

Maker = Callable[[ScriptedOutbound], Embedder]


def settings(**given: str) -> Settings:
    return load_settings({name.upper(): value for name, value in given.items()})


def workers(outbound: ScriptedOutbound) -> Embedder:
    return WorkersAiEmbedder(outbound, MODEL)


def server(outbound: ScriptedOutbound) -> Embedder:
    model = EmbeddingModel("openai/text-embedding-3-small", 3)
    return ServerEmbedder(outbound, model, base_url=BASE, token="sk-aig", asks_size=True)


def rows_answer(maker: Maker, rows: list[object]) -> ScriptedAnswer:
    """An answer with these vectors, in the form of the server, its entries out of order."""
    if maker is workers:
        return json_answer({"shape": [len(rows), 3], "data": rows})
    entries = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
    return json_answer({"object": "list", "data": entries[::-1]})


def body_of(request: OutboundRequest) -> dict[str, object]:
    body: dict[str, object] = json.loads(request.body)
    return body


async def test_workers_ai_is_sent_the_texts_of_one_call() -> None:
    outbound = ScriptedOutbound(lambda _: rows_answer(workers, [[3.0, 4.0, 0.0], [0, 0, 2]]))
    vectors = await workers(outbound).embed(["猫叫拿铁", "The NAS"])
    assert vectors == [(0.6, 0.8, 0.0), (0.0, 0.0, 1.0)]
    [request] = outbound.sent
    assert (request.method, request.url) == ("POST", "workers-ai://run/@cf/baai/bge-m3")
    assert body_of(request) == {"text": ["猫叫拿铁", "The NAS"], "truncate_inputs": True}


async def test_server_is_sent_model_size_and_bearer() -> None:
    outbound = ScriptedOutbound(lambda _: rows_answer(server, [[1, 0, 0], [0, 1, 0]]))
    assert await server(outbound).embed(["一", "two"]) == [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    [request] = outbound.sent
    assert request.url == f"{BASE}/embeddings"
    assert ("authorization", "Bearer sk-aig") in request.headers
    assert body_of(request) == {
        "model": "openai/text-embedding-3-small",
        "input": ["一", "two"],
        "dimensions": 3,
    }


@pytest.mark.parametrize("maker", [workers, server])
async def test_texts_are_cut_made_whole_and_never_empty(maker: Maker) -> None:
    outbound = ScriptedOutbound(lambda _: rows_answer(maker, [[1, 0, 0]] * 4))
    await maker(outbound).embed(["", "  ", "\ud83d", "记" * 5_000])
    body = body_of(outbound.sent[0])
    assert body.get("text", body.get("input")) == ["-", "-", "?", "记" * EMBED_CHARS_MAX]


@pytest.mark.parametrize("maker", [workers, server])
async def test_no_text_asks_nobody_and_too_many_are_refused(maker: Maker) -> None:
    outbound = ScriptedOutbound(lambda _: rows_answer(maker, []))
    assert await maker(outbound).embed([]) == []
    with pytest.raises(LimitExceeded):
        await maker(outbound).embed(["猫"] * (EMBED_TEXTS_MAX + 1))
    assert outbound.sent == []


@pytest.mark.parametrize("maker", [workers, server])
@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[1, 0, 0]],
        [[1, 0, 0]] * 3,
        [[1, 0], [1, 0]],
        [None, None],
        ["a", "b"],
        [[1, 0, "x"], [1, 0, 0]],
        [[1, 0, float("nan")], [1, 0, 0]],
        [[1, 0, 10**400], [1, 0, 0]],
    ],
    ids=ascii,
)
async def test_wrong_count_size_or_number_is_a_failure(maker: Maker, rows: list[object]) -> None:
    outbound = ScriptedOutbound(lambda _: rows_answer(maker, rows))
    with pytest.raises(UpstreamFailed):
        await maker(outbound).embed(["猫", "dog"])


@pytest.mark.parametrize("maker", [workers, server])
@pytest.mark.parametrize("pieces", [b"", b"not json", b"[]", b'"x"', b"{}", b'{"data": 3}'])
async def test_answer_of_another_form_is_a_failure(maker: Maker, pieces: bytes) -> None:
    outbound = ScriptedOutbound(lambda _: ScriptedAnswer(pieces=[pieces]))
    with pytest.raises(UpstreamFailed):
        await maker(outbound).embed(["猫"])


async def test_vector_of_nothing_has_unit_length() -> None:
    outbound = ScriptedOutbound(lambda _: rows_answer(workers, [[0, 0, 0]]))
    [vector] = await workers(outbound).embed(["猫"])
    assert math.hypot(*vector) == 1


async def test_server_without_places_is_taken_in_its_order() -> None:
    entries = [{"embedding": [0, 1, 0]}, {"embedding": [0, 0, 1], "index": None}]
    outbound = ScriptedOutbound(lambda _: json_answer({"data": entries}))
    assert await server(outbound).embed(["猫", "dog"]) == [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]


async def test_workers_ai_may_name_its_vectors_response() -> None:
    outbound = ScriptedOutbound(lambda _: json_answer({"response": [[0, 1, 0]]}))
    assert await workers(outbound).embed(["猫"]) == [(0.0, 1.0, 0.0)]


@pytest.mark.parametrize("maker", [workers, server])
@pytest.mark.parametrize(
    ("status", "body", "waits"),
    [
        (429, {}, {}),
        (429, {"errors": [{"code": 3036, "message": "用完"}]}, {"retry_after_ms": 7_000}),
        (403, {"errors": [{"code": 3040, "message": "capacity"}]}, {}),
        (500, {"error": "3036: daily neurons"}, {}),
    ],
)
async def test_spent_quota_is_a_limit(
    maker: Maker, status: int, body: object, waits: Mapping[str, int]
) -> None:
    headers = [("retry-after", "7")] if waits else []
    answer = ScriptedAnswer(status, headers, [json.dumps(body).encode()])
    with pytest.raises(LimitExceeded) as caught:
        await maker(ScriptedOutbound(lambda _: answer)).embed(["猫"])
    assert dict(caught.value.details) == waits
    assert answer.is_closed


@pytest.mark.parametrize("status", [400, 401, 404, 413, 500, 502])
async def test_refusal_is_a_failure_without_the_text(status: int) -> None:
    answer = ScriptedAnswer(status, pieces=["猫叫拿铁 is not allowed".encode()])
    with pytest.raises(UpstreamFailed) as caught:
        await server(ScriptedOutbound(lambda _: answer)).embed(["猫叫拿铁"])
    assert str(status) in caught.value.message
    assert "猫" not in caught.value.message + (caught.value.hint or "")


async def test_way_out_that_is_not_set_up_or_breaks_is_a_failure() -> None:
    def refuse(_: OutboundRequest) -> ScriptedAnswer:
        raise InvalidInput("Workers AI is not set up on this machine")

    with pytest.raises(UpstreamFailed):
        await workers(ScriptedOutbound(refuse)).embed(["猫"])
    broken = ScriptedAnswer(pieces=[b'{"da'], breaks=TimedOut("silent"))
    with pytest.raises(TimedOut):
        await workers(ScriptedOutbound(lambda _: broken)).embed(["猫"])


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://localhost:1234", "http://localhost:1234/v1/embeddings"),
        ("http://localhost:1234/v1", "http://localhost:1234/v1/embeddings"),
        ("https://x.example/api/compat", "https://x.example/api/compat/embeddings"),
        (
            "https://generativelanguage.googleapis.com/v1beta",
            "https://generativelanguage.googleapis.com/v1beta/embeddings",
        ),
        (
            "https://gateway.ai.cloudflare.com/v1/acc/gw",
            "https://gateway.ai.cloudflare.com/v1/acc/gw/compat/embeddings",
        ),
        (
            "https://gateway.ai.cloudflare.com/v1/acc/gw/compat",
            "https://gateway.ai.cloudflare.com/v1/acc/gw/compat/embeddings",
        ),
        ("https://g.example/v1beta/openai", "https://g.example/v1beta/openai/embeddings"),
        ("https://a.example/v1/chat/completions", "https://a.example/v1/embeddings"),
    ],
)
def test_embeddings_url_takes_any_ending(base: str, expected: str) -> None:
    assert embeddings_url(base) == expected


async def test_gateway_is_sent_its_own_header() -> None:
    outbound = ScriptedOutbound(lambda _: json_answer({"data": [{"embedding": [1.0]}]}))
    named = embedder_named(
        settings(ai_gateway_base_url="https://gateway.ai.cloudflare.com/v1/a/g", cf_aig_token="t1"),
        outbound,
        "openai/text-embedding-3-large",
        dims=1,
    )
    await named.embed(["猫"])
    headers = dict(outbound.sent[0].headers)
    assert headers["cf-aig-authorization"] == "Bearer t1"
    assert "authorization" not in headers


def test_make_embedder_follows_the_setting() -> None:
    outbound, default = ScriptedOutbound(lambda _: json_answer({})), HashingEmbedder()
    assert make_embedder(settings(), outbound, default) is default
    assert make_embedder(settings(embedding_model="off"), outbound, default) is None
    assert make_embedder(settings(embedding_model=EDGE_MODEL), None, default) is None
    made = make_embedder(settings(embedding_model=EDGE_MODEL), outbound, default)
    assert isinstance(made, WorkersAiEmbedder)
    assert made.model == EmbeddingModel(EDGE_MODEL, 768)
    chosen = settings(
        embedding_model="nomic-embed-text:latest",
        ai_gateway_base_url=BASE,
        embedding_dimensions="256",
    )
    named = make_embedder(chosen, outbound, default)
    assert isinstance(named, ServerEmbedder)
    assert named.model == EmbeddingModel("nomic-embed-text:latest", 256)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"embedding_model": "my-own", "ai_gateway_base_url": BASE}, "EMBEDDING_DIMENSIONS"),
        ({"embedding_model": "bge-m3"}, "EMBEDDING_MODEL"),
    ],
)
def test_make_embedder_names_what_is_missing(given: dict[str, str], field: str) -> None:
    outbound = ScriptedOutbound(lambda _: json_answer({}))
    with pytest.raises(InvalidInput) as caught:
        make_embedder(settings(**given), outbound, None)
    assert caught.value.field == field


def test_known_sizes_fit_an_index() -> None:
    assert all(32 <= dims <= 1536 for dims in DIMENSIONS.values())
