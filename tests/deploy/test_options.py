"""What a deployment has only when it is named: a bucket, and the index of the next model."""

from __future__ import annotations

from typing import Any

import pytest
from tests.deploy.conftest import Fork

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def bound(fork: Fork, kind: str) -> list[dict[str, Any]]:
    """What the code that was uploaded last is bound to, of one kind."""
    upload = fork.cloud.workers["remembrancer"].uploads[-1]
    return [each for each in upload.metadata["bindings"] if each["type"] == kind]


def test_bucket_and_next_index_are_made_kept_and_taken_off(fork: Fork) -> None:
    names = {"REMEMBRANCER_R2_NAME": "long-texts", "VECTORIZE_INDEX_NAME_NEXT": "bge"}
    done = fork.deploy(**names, EMBEDDING_DIMENSIONS_NEXT="1024")
    assert done.returncode == 0, done.stdout
    assert fork.cloud.buckets == ["long-texts"]
    assert fork.cloud.indexes["bge"] == {"dimensions": 1024, "metric": "cosine"}
    assert fork.cloud.filters["bge"] == ["kind", "project"]
    bucket = {"type": "r2_bucket", "name": "ARTIFACTS", "bucket_name": "long-texts"}
    following = {"type": "vectorize", "name": "VECTORS_NEXT", "index_name": "bge"}
    assert bound(fork, "r2_bucket") == [bucket]
    assert following in bound(fork, "vectorize")
    # A later run that does not name them: the Worker has them, and needs them.
    done = fork.deploy(LANG="zh_CN.UTF-8")
    assert done.returncode == 0, done.stdout
    assert "REMEMBRANCER_R2_NAME=none" in done.stdout
    assert bound(fork, "r2_bucket") == [bucket]
    assert following in bound(fork, "vectorize")
    # Its model is the usual one by now, and the first index is no longer wanted.
    done = fork.deploy(
        VECTORIZE_INDEX_NAME="bge", VECTORIZE_INDEX_NAME_NEXT="none", EMBEDDING_DIMENSIONS="1024"
    )
    assert done.returncode == 0, done.stdout
    assert [(each["name"], each["index_name"]) for each in bound(fork, "vectorize")] == [
        ("VECTORS", "bge")
    ]
    assert bound(fork, "r2_bucket") == [bucket]
    assert set(fork.cloud.indexes) == {"remembrancer", "bge"}
    assert not fork.cloud.unknown


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        pytest.param({"REMEMBRANCER_R2_NAME": "long-texts"}, "asks for a card", id="no-r2"),
        pytest.param(
            {"REMEMBRANCER_R2_NAME": "long-texts", "LANG": "zh"}, "还没有开通 R2", id="no-r2-zh"
        ),
        pytest.param(
            {"VECTORIZE_INDEX_NAME_NEXT": "bge"}, "EMBEDDING_DIMENSIONS_NEXT", id="no-size"
        ),
        pytest.param(
            {"VECTORIZE_INDEX_NAME_NEXT": "remembrancer"}, "that answers now", id="same-index"
        ),
    ],
)
def test_what_cannot_be_made_stops_with_a_way_out(
    fork: Fork, environment: dict[str, str], said: str
) -> None:
    fork.cloud.buckets = None
    fork.cloud.add_database("remembrancer")
    fork.cloud.indexes["remembrancer"] = {"dimensions": 768, "metric": "cosine"}
    fork.cloud.filters["remembrancer"] = ["kind", "project"]
    fork.cloud.namespaces["1" * 32] = "remembrancer"
    done = fork.deploy(**environment)
    assert done.returncode == 1
    assert said in done.stdout, done.stdout
    assert set(fork.cloud.indexes) == {"remembrancer"} and not fork.cloud.workers
