"""The models whose indexes are kept, and how long each is left alone when its quota is spent."""

from __future__ import annotations

from remembrancer.ports.models import EmbeddingModel
from remembrancer.ports.sql import Outcome, Statement


def label_of(model: EmbeddingModel) -> str:
    """Return how a model is written beside its vectors: name and dimensions."""
    return f"{model.name}@{model.dims}"


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
