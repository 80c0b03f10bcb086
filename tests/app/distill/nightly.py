"""What tests of the distilling jobs share: messages, a scripted model, and what became of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.builders import NAMESPACE, OWNER_KEY, Bench

from remembrancer.app.commit import Answer
from remembrancer.app.jobs.frame import Asked
from remembrancer.app.jobs.running import run_job
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.ports.models import Completion, Embedder, Prompt
from remembrancer.ports.sql import Row, Statement
from remembrancer.testing.models import ScriptedModel

_LINE = re.compile(r"^\[(\w+)\] (\w+): (.*)$", re.MULTILINE)

Script = Callable[[Prompt], str | Completion]


@dataclass(slots=True)
class Distiller(Bench):
    """A bench with a chat model and settings of its own."""

    script: Script | None = None
    given: dict[str, str] = field(default_factory=dict)
    embedder: Embedder | None = None
    model: ScriptedModel | None = None

    def __post_init__(self) -> None:
        if self.script is not None:
            self.teach(self.script)

    def teach(self, script: Script | str | Completion) -> None:
        """Give the bench a model that answers so."""
        self.model = ScriptedModel(script if callable(script) else lambda _: script)

    @property
    def app(self) -> App:
        app = Bench(self.runtime, self.sql, bundles=self.bundles, shared=self.kv).app
        settings = load_settings({"CHATBOX_API_KEY": OWNER_KEY, **self.given})
        return replace(app, chat=self.model, settings=settings, embedder=self.embedder)

    @property
    def calls(self) -> int:
        return 0 if self.model is None else len(self.model.asked)

    async def say(
        self,
        *texts: str,
        role: str = "user",
        step_ms: int = 1_000,
        conversation: str = "c",
    ) -> list[str]:
        """Store messages, one after another, past all use cases; return their ids."""
        ids: list[str] = []
        statements: list[Statement] = []
        for text in texts:
            id_ = self.runtime.new_id("msg")
            ids.append(id_)
            statements.append(
                Statement(
                    "INSERT INTO messages (namespace, id, conversation_id, role, content,"
                    " client_hash, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (NAMESPACE, id_, conversation, role, text, id_, self.runtime.now_ms()),
                )
            )
            self.runtime.advance(step_ms)
        for start in range(0, len(statements), 40):
            await self.sql.write(statements[start : start + 40])
        return ids

    async def run(self, job: str = "extract", **asked: Any) -> Answer:
        asked = {"force": True, **asked}
        return await run_job(self.app, job, NAMESPACE, asked=Asked(**asked))

    async def memories(self, state: str = "active") -> list[Row]:
        return await self.rows(
            "SELECT * FROM items WHERE kind = 'memory' AND state = ? ORDER BY seq", state
        )

    async def texts(self, state: str = "active") -> list[str]:
        return [str(row["content"] or row["title"]) for row in await self.memories(state)]

    async def candidates(self, status: str = "pending") -> list[Row]:
        return await self.rows(
            "SELECT * FROM candidates WHERE status = ? ORDER BY content, id", status
        )


def counted(answer: Answer, name: str) -> int:
    """A count of a run's answer, 0 when it is not there."""
    counts = answer["counts"]
    assert isinstance(counts, dict)
    return int(str(counts.get(name, 0)))


def lines_of(prompt: Prompt) -> list[tuple[str, str, str]]:
    """The lines that a prompt shows: id, role, text."""
    return [(id_, role, text) for id_, role, text in _LINE.findall(prompt.user)]


def facts(*entries: dict[str, Any]) -> str:
    """An extraction's answer."""
    return json.dumps({"memories": entries}, ensure_ascii=False)


def fact(content: str, *ids: str, **given: Any) -> dict[str, Any]:
    whole = {
        "type": "fact",
        "content": content,
        "fact_key": None,
        "confidence": 0.9,
        "importance": 0.8,
        "tags": [],
        "source_message_ids": list(ids),
    }
    return {**whole, **given}


def echoing(prompt: Prompt) -> str:
    """A good model: every user's line that states something is a fact of its own words."""
    said = [(id_, text) for id_, role, text in lines_of(prompt) if role == "user"]
    return facts(*(fact(text, id_) for id_, text in said))


def scripted(answers: Sequence[str | Completion]) -> Script:
    """A model that gives these answers, the last one again and again."""
    remaining = list(answers)

    def answer(_: Prompt) -> str | Completion:
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    return answer


async def visible(bench: Distiller) -> dict[str, list[Row]]:
    """What a person sees, without ids and times, which differ from run to run."""
    return {
        "items": await bench.rows(
            "SELECT title, content, type, state, fact_key, tags, importance, authored_by, pinned"
            " FROM items WHERE state <> 'deleted' ORDER BY title, content, state"
        ),
        "candidates": await bench.rows(
            "SELECT kind, status, content FROM candidates ORDER BY content"
        ),
        "pages": await bench.rows("SELECT label, version, content FROM pages ORDER BY label"),
        "digest": await bench.rows("SELECT content, version FROM digests"),
        "parts": await bench.rows("SELECT date, part FROM dream_parts"),
        "relations": await bench.rows("SELECT type FROM relations"),
    }
