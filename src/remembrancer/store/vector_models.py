"""The models whose indexes are kept: which one answers, how far another is, and which waits.

A model is named by its label. Where nothing says which one answers, it is the one that is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from remembrancer.core.values import canonical_json
from remembrancer.ports.models import EmbeddingModel
from remembrancer.ports.sql import Outcome, Statement


@dataclass(frozen=True, slots=True)
class ModelState:
    """What is known of a model. *Shape:* `filled` namespace and item up to which its index is
    filled. *Units:* `paused_until` ms, 0 when its quota is not spent."""

    is_serving: bool = False
    filled: tuple[str, str] = ("", "")
    paused_until: int = 0


def label_of(model: EmbeddingModel) -> str:
    """Return how a model is written beside its vectors: name and dimensions."""
    return f"{model.name}@{model.dims}"


def model_of(label: str) -> EmbeddingModel:
    """Return the model that a label names."""
    name, _, dims = label.rpartition("@")
    return EmbeddingModel(name, int(dims))


def states_statement() -> Statement:
    """Return the statement that reads what is known of every model."""
    return Statement(
        "SELECT model, is_serving, filled_namespace, filled_item, paused_until FROM vector_models"
    )


def states(outcome: Outcome) -> dict[str, ModelState]:
    """Return label → what `states_statement` read."""
    return {
        str(row["model"]): ModelState(
            bool(row["is_serving"]),
            (str(row["filled_namespace"]), str(row["filled_item"])),
            int(str(row["paused_until"])),
        )
        for row in outcome.rows
    }


def serving(found: Mapping[str, ModelState]) -> str | None:
    """Return the label of the model that answers, where that was noted."""
    return next((label for label, state in found.items() if state.is_serving), None)


def pauses_statement(now_ms: int) -> Statement:
    """Return the statement that reads which models are left alone for now."""
    return Statement("SELECT model FROM vector_models WHERE paused_until > ?", (now_ms,))


def paused(outcome: Outcome) -> set[str]:
    """Return the labels that `pauses_statement` read."""
    return {str(row["model"]) for row in outcome.rows}


def pause_statement(model: str, until_ms: int, error: str) -> Statement:
    """Return the statement that leaves a model alone until a time, and says why."""
    return Statement(
        "INSERT INTO vector_models (model, paused_until, last_error) VALUES (?, ?, ?)"
        " ON CONFLICT (model) DO UPDATE SET paused_until = excluded.paused_until,"
        " last_error = excluded.last_error",
        (model, until_ms, error),
    )


def serve_statements(model: str) -> list[Statement]:
    """Return what notes that a model answers, and no other."""
    return [
        Statement("UPDATE vector_models SET is_serving = 0 WHERE model <> ?", (model,)),
        Statement(
            "INSERT INTO vector_models (model, is_serving) VALUES (?, 1)"
            " ON CONFLICT (model) DO UPDATE SET is_serving = 1, filled_namespace = '',"
            " filled_item = ''",
            (model,),
        ),
    ]


def filled_statement(model: str, place: tuple[str, str]) -> Statement:
    """Return what notes up to where a model's index is filled."""
    return Statement(
        "INSERT INTO vector_models (model, filled_namespace, filled_item) VALUES (?, ?, ?)"
        " ON CONFLICT (model) DO UPDATE SET filled_namespace = excluded.filled_namespace,"
        " filled_item = excluded.filled_item",
        (model, *place),
    )


def forget_statements(kept: list[str], limit: int) -> list[Statement]:
    """Return what drops the books of all models but these, the last rows of a model with it.

    *Shape:* at most `limit` books at once. *Promise:* may be repeated until nothing is changed.
    """
    labels = canonical_json([*kept])
    others = "model NOT IN (SELECT value FROM json_each(?1))"
    return [
        Statement(
            "DELETE FROM vector_rows WHERE (namespace, item_id, model) IN (SELECT namespace,"
            f" item_id, model FROM vector_rows WHERE {others} LIMIT ?2)",
            (labels, limit),
        ),
        Statement(f"DELETE FROM vector_models WHERE {others}", (labels,)),
    ]
