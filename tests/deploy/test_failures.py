"""Every step fails once, and the next run goes on and finishes the job."""

from __future__ import annotations

import re
import subprocess
import uuid

import pytest
from tests.deploy.conftest import Fork

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

NAMED = {"CHATBOX_API_KEY": "sk-一把很长的钥匙-2f1c", "REMEMBRANCER_R2_NAME": "long-texts"}
"""What every run is told."""

MAKING = (
    (4, "POST .*/d1/database "),
    (4, "POST .*/namespaces "),
    (4, "POST .*/v2/indexes "),
    (4, "POST .*/metadata_index/create .*project"),
    (4, "POST .*/r2/buckets "),
    (4, "POST .*/queues .*remembrancer-jobs"),
)
"""Steps and what fails in them, while resources are made."""

GOING_ON = (
    (5, None),
    (6, None),
    (8, "POST .*/query .*0003_keys"),
    (9, "POST .*/assets-upload-session "),
    (9, "PUT .*/scripts/remembrancer "),
    (9, "POST .*/subdomain "),
    (9, "POST .*/consumers "),
    (9, "PUT .*/schedules "),
    (10, "PUT .*/secrets "),
    (11, None),
)
"""The same, once they are there."""


@pytest.fixture(params=["making", "going on"])
def troubles(request: pytest.FixtureRequest, fork: Fork) -> tuple[tuple[int, str | None], ...]:
    """What goes wrong, one after the other, in an account that is as far."""
    if request.param == "making":
        return MAKING
    cloud = fork.cloud
    cloud.add_database("remembrancer")
    cloud.namespaces[uuid.uuid4().hex] = "remembrancer"
    cloud.indexes["remembrancer"] = {"dimensions": 768, "metric": "cosine"}
    cloud.filters["remembrancer"] = ["kind", "project"]
    cloud.buckets = ["long-texts"]
    cloud.queues |= {"remembrancer-dead-letters": [], "remembrancer-jobs": []}
    return GOING_ON


def test_each_step_fails_once_and_the_next_run_finishes_the_job(
    fork: Fork, troubles: tuple[tuple[int, str | None], ...]
) -> None:
    breakers = {5: fork.folder / "vendor-fails", 6: fork.folder / "panel-fails"}
    for step, trouble in troubles:
        fork.cloud.is_healthy = step != 11
        for number, breaker in breakers.items():
            breaker.touch() if number == step else breaker.unlink(missing_ok=True)
        fork.cloud.failing = re.compile(trouble) if trouble else None
        done = fork.deploy(**NAMED)
        assert done.returncode == 1, done.stdout
        assert _last_step(done) == step, done.stdout
        assert "run the same command again" in done.stdout
    fork.cloud.failing, fork.cloud.is_healthy = None, True
    done = fork.deploy(**NAMED)
    assert done.returncode == 0, done.stdout
    assert len(fork.cloud.databases) == len(fork.cloud.namespaces) == len(fork.cloud.workers) == 1
    assert len(fork.cloud.indexes) == len(fork.cloud.crons) == 1
    assert fork.cloud.filters == {"remembrancer": ["kind", "project"]}
    assert fork.cloud.buckets == ["long-texts"]
    assert [len(each) for each in fork.cloud.queues.values()] == [0, 1]
    names = list((fork.folder / "migrations").glob("*.sql"))
    count = fork.cloud.database("remembrancer").execute("SELECT count(*) FROM d1_migrations")
    assert count.fetchone() == (len(names),)
    assert not fork.cloud.unknown


def _last_step(done: subprocess.CompletedProcess[str]) -> int:
    return int(re.findall(r"^\[(\d+)/", done.stdout, re.MULTILINE)[-1])
