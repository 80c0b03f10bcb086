"""Measures distilling: what stands on its source, doubles, coverage, tokens, with scripted models.

Conversations are stored message by message and read by the job `extract`, on a store in memory.
The models are scripts (`distill_models.py`): good, sloppy, hostile; `rules` is none at all. Where
the environment names an upstream or its key, a real one is asked as well: `--model`, EXTRACT_MODEL
or the default. Coverage is the share of LoCoMo's answerable questions whose evidence became a
memory or waits as a candidate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from distill_models import LIES, good, make_hostile, make_sloppy
from measuring import print_table
from remembrancer.app.jobs.frame import Asked
from remembrancer.app.jobs.running import run_job
from remembrancer.app.models.chat import GatewayModel
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.distill.grounding import judge
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.ids import Namespace
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.local.outbound import HttpOutbound
from remembrancer.ports.models import ChatModel
from remembrancer.ports.sql import Row, SqlStore, SqlValue, Statement
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.models import ScriptedModel
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store

DATA_VARIABLE: Final = "REMEMBRANCER_DATA_SETS"
"""Names the folder of the labelled sets."""

DATA_DEFAULT: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Where the sets lie unless told: beside the repository."""

NAMESPACE: Final = Namespace("default")
RUNS_MAX: Final = 400
"""Runs after which a job that does not come to an end is left."""

Figures = dict[str, float]


@dataclass(slots=True)
class Talk:
    """A conversation. *Shape:* `evidence` for each question the numbers of its messages."""

    name: str
    messages: list[tuple[str, str]] = field(default_factory=list)
    evidence: list[list[int]] = field(default_factory=list)


def locomo(folder: Path) -> list[Talk]:
    """Return LoCoMo's conversations; both speakers are people, so both are heard as users."""
    talks: list[Talk] = []
    for whole in json.loads((folder / "locomo" / "locomo-0-4.json").read_text(encoding="utf-8")):
        talk = Talk(f"locomo {whole['sample_id']}")
        places: dict[str, int] = {}
        for session in whole["sessions"]:
            for turn in session["turns"]:
                places[turn["id"]] = len(talk.messages)
                talk.messages.append(("user", f"{turn['speaker']}: {turn['text']}"))
        for asked in whole["questions"]:
            found = [places[id_] for id_ in asked["evidence"] if id_ in places]
            if asked["category"] != 5 and found:
                talk.evidence.append(found)
        talks.append(talk)
    return talks


def memorybank(folder: Path) -> list[Talk]:
    """Return the Chinese companion conversations; they have no labels."""
    path = folder / "memorybank-cn" / "memory_bank_cn.json"
    talks: list[Talk] = []
    for name, whole in json.loads(path.read_text(encoding="utf-8")).items():
        talk = Talk(f"memorybank {name}")
        for day in whole["history"].values():
            for turn in day:
                talk.messages += [("user", turn["query"]), ("assistant", turn["response"])]
        talks.append(talk)
    return talks


@dataclass(slots=True)
class Bench:
    """A store with one conversation, and the job over it."""

    model: ChatModel | None
    settings: dict[str, str] = field(default_factory=dict)
    runtime: FixedRuntime = field(default_factory=FixedRuntime)
    counts: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    sql: SqlStore = field(default_factory=memory_store)
    app: App = field(init=False)

    def __post_init__(self) -> None:
        given = {"CHATBOX_API_KEY": "sk-bench", "EXTRACT_MAX_RUNS": "20", **self.settings}
        self.app = App(
            sql=self.sql,
            kv=MemoryKeyValue(self.runtime),
            runtime=self.runtime,
            settings=load_settings(given),
            chat=self.model,
        )

    async def rows(self, sql: str, *params: SqlValue) -> list[Row]:
        """Return the rows of a query."""
        [outcome] = await self.sql.read([Statement(sql, params)])
        return outcome.rows

    async def say(self, talk: Talk) -> list[str]:
        """Store a conversation and return the ids of its messages."""
        ids: list[str] = []
        statements: list[Statement] = []
        for role, text in talk.messages:
            id_ = self.runtime.new_id("msg")
            ids.append(id_)
            statements.append(
                Statement(
                    "INSERT INTO messages (namespace, id, conversation_id, role, content,"
                    " client_hash, created_at) VALUES (?, ?, 'c', ?, ?, ?, ?)",
                    (NAMESPACE, id_, role, text, id_, self.runtime.advance(1_000)),
                )
            )
        for start in range(0, len(statements), 40):
            await self.sql.write(statements[start : start + 40])
        return ids

    async def distil(self) -> None:
        """Run the job until nothing waits; what fails is tried again, as a scheduler would."""
        for _ in range(RUNS_MAX):
            self.runtime.advance(4 * 3_600_000)
            try:
                answer = await run_job(self.app, "extract", NAMESPACE, asked=Asked(force=True))
            except RemembrancerError:
                self.failures += 1
                continue
            if answer["status"] == "nothing":
                return
            counts: Any = answer["counts"]
            self.counts.update(counts)


async def measure(talk: Talk, bench: Bench) -> Figures:
    """Return what became of one conversation."""
    ids = await bench.say(talk)
    await bench.distil()
    texts = {id_: text for id_, (_, text) in zip(ids, talk.messages, strict=True)}
    kept = await bench.rows(
        "SELECT coalesce(content, title) AS content, source_message_ids FROM items"
        " WHERE kind = 'memory' AND state = 'active'"
    )
    waiting = await bench.rows(
        "SELECT content, source_message_ids FROM candidates WHERE status = 'pending'"
    )
    sources: set[str] = set()
    grounded = 0
    for row in (*kept, *waiting):
        cited = json.loads(str(row["source_message_ids"] or "[]"))
        sources.update(cited)
        said = "\n".join(texts[id_] for id_ in cited if id_ in texts)
        grounded += judge(str(row["content"]), said) in ("grounded", "reversed")
    keys = Counter(repetition_key(str(row["content"])) for row in kept)
    all_texts = " ".join(str(row["content"]) for row in (*kept, *waiting))
    covered = sum(any(ids[number] in sources for number in evidence) for evidence in talk.evidence)
    return {
        "messages": len(ids),
        "kept": len(kept),
        "waiting": len(waiting),
        "grounded": grounded,
        "doubles": sum(count - 1 for count in keys.values()),
        "lies": sum(lie in all_texts for lie in LIES),
        "asked": len(talk.evidence),
        "covered": covered,
        "calls": bench.counts["calls"],
        "failures": bench.failures,
        "refused": bench.counts["skipped"],
        "prompt_tokens": bench.counts["prompt_tokens"],
        "completion_tokens": bench.counts["completion_tokens"],
        "dropped": sum(n for name, n in bench.counts.items() if name.startswith("dropped_")),
    }


def joined(found: Sequence[Figures]) -> Figures:
    """Return the sums of several conversations, and the shares that follow."""
    total: Counter[str] = Counter()
    for figures in found:
        total.update({name: int(value) for name, value in figures.items()})
    facts = total["kept"] + total["waiting"]
    shares = {
        "grounded_rate": total["grounded"] / facts if facts else 1.0,
        "coverage": total["covered"] / total["asked"] if total["asked"] else 0.0,
        "tokens_per_message": (total["prompt_tokens"] + total["completion_tokens"])
        / max(1, total["messages"]),
    }
    return {**total, **{name: round(value, 3) for name, value in shares.items()}}


SHOWN: Final = (
    "messages", "kept", "waiting", "dropped", "grounded_rate", "doubles", "lies", "coverage",
    "calls", "failures", "refused", "prompt_tokens", "completion_tokens", "tokens_per_message",
)  # fmt: skip
"""Figures that are printed, of those that are written."""


async def run_arms(
    sets: dict[str, list[Talk]], arms: dict[str, Callable[[], Bench]]
) -> dict[str, dict[str, Figures]]:
    """Return set → arm → figures."""
    result: dict[str, dict[str, Figures]] = {}
    for name, talks in sets.items():
        result[name] = {}
        for arm, make in arms.items():
            found = [await measure(talk, make()) for talk in talks]
            result[name][arm] = joined(found)
        print(f"\n-- {name}")
        rows = [[arm, *(row[one] for one in SHOWN)] for arm, row in result[name].items()]
        print_table(["model", *SHOWN], rows)
    return result


UPSTREAM: Final = ("AI_GATEWAY_BASE_URL", "CF_AIG_TOKEN", "CLOUDFLARE_ACCOUNT_ID")
"""Variables that name the upstream of a real model, and its key."""


def real_model(asked: str | None) -> str | None:
    """Return the model to ask beside the scripts; None where no upstream is set up."""
    if asked is not None:
        return asked
    if not any(os.environ.get(name) for name in UPSTREAM[:2]):
        return None
    given = {"EXTRACT_MODEL": os.environ.get("EXTRACT_MODEL", "")}
    return load_settings({"CHATBOX_API_KEY": "sk-bench", **given}).extract_model


def real_arm(name: str) -> tuple[Callable[[], Bench], Callable[[], Awaitable[None]]]:
    """Return the arm of a real model, and what closes it."""
    given = {key: os.environ[key] for key in UPSTREAM if os.environ.get(key)}
    settings = {**given, "EXTRACT_MODEL": name}
    outbound = HttpOutbound()
    model = GatewayModel(outbound, load_settings({"CHATBOX_API_KEY": "sk-bench", **settings}))
    return (lambda: Bench(model, settings)), outbound.close


def main(arguments: Sequence[str]) -> int:
    """Measure every set that is there."""
    parser = argparse.ArgumentParser(description="Measures distilling with scripted models.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"instead of {DATA_VARIABLE}")
    parser.add_argument("--talks", type=int, metavar="N", help="of each set, the first N only")
    parser.add_argument(
        "--model", metavar="NAME", help="the model to ask over the upstream, if one is set up"
    )
    chosen = parser.parse_args(arguments)
    folder = chosen.data or Path(os.environ.get(DATA_VARIABLE) or DATA_DEFAULT)
    sets: dict[str, list[Talk]] = {}
    for name, load in (("locomo", locomo), ("memorybank-cn", memorybank)):
        if not (folder / name).is_dir():
            print(f"{name} is not in {str(folder)!r}: skipped; {DATA_VARIABLE} names another")
            continue
        sets[name] = load(folder)[: chosen.talks]
    arms: dict[str, Callable[[], Bench]] = {
        "rules": lambda: Bench(None),
        "good": lambda: Bench(ScriptedModel(good)),
        "sloppy": lambda: Bench(ScriptedModel(make_sloppy())),
        "hostile": lambda: Bench(ScriptedModel(make_hostile())),
    }

    real = real_model(chosen.model)

    async def run() -> dict[str, dict[str, Figures]]:
        if real is None:
            return await run_arms(sets, arms)
        make, close = real_arm(real)
        try:
            return await run_arms(sets, {**arms, real: make})
        finally:
            await close()

    figures = asyncio.run(run())
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2, sort_keys=True), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
