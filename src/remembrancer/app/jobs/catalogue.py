"""Every job by its name, with its schedule. What a job does is imported when it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from remembrancer.app.jobs.frame import Job
from remembrancer.core.errors import NotFound

_ALL: Final = (
    Job("extract", "Facts from messages", "0 */4 * * *", "remembrancer.app.jobs.extract"),
    Job(
        "dream", "The night's tidying and the digest", "10 20 * * *", "remembrancer.app.jobs.dream"
    ),
    Job("retention", "What has had its time", "40 20 * * *", "remembrancer.app.jobs.retention"),
    Job(
        "index",
        "Vectors of what has changed",
        "*/15 * * * *",
        "remembrancer.app.jobs.index",
        is_light=True,
    ),
    Job(
        "artifacts",
        "Long texts out of the database",
        "*/15 * * * *",
        "remembrancer.app.jobs.artifacts",
    ),
)

JOBS: Final[Mapping[str, Job]] = MappingProxyType({job.name: job for job in _ALL})
"""Name → job, in the order in which they are shown."""


def require_job(name: str) -> Job:
    """Return a job by its name. *Raises:* NotFound naming those there are."""
    job = JOBS.get(name)
    if job is None:
        raise NotFound(f"there is no job {name[:40]!r}", hint=f"one of {', '.join(JOBS)}")
    return job
