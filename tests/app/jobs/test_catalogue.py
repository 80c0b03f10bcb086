"""The catalogue: its modules are there, and the platform's cron calls every line of it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.app.jobs.frame import Job, JobCode


@pytest.mark.parametrize("job", JOBS.values(), ids=[*JOBS])
def test_every_job_has_code_and_a_title(job: Job) -> None:
    assert isinstance(job.load(), JobCode) and job.title


def test_platform_calls_exactly_the_lines_of_the_catalogue(root: Path) -> None:
    configured = tomllib.loads((root / "wrangler.toml").read_text(encoding="utf-8"))
    lines = {job.cron for job in JOBS.values()}
    assert set(configured["triggers"]["crons"]) == lines
