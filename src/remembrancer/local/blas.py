"""How many threads a multiplication takes: one, in the whole process.

The encoder and the vectors each have a thread of their own; more below them only wait for each
other. The limit is set before either multiplies, so that the encoder, which sets its own and puts
back what it found, finds one. `local.embedder` and `local.vector_array` import it.
"""

from __future__ import annotations

from typing import Final

from threadpoolctl import threadpool_limits

BLAS_THREADS: Final = 1
"""Threads of one multiplication. Measured on two busy cores, with one thread and with two: 6 and
190 ms for a sentence, 0.3 and 20 ms for the nearest of a thousand vectors."""


def limit_threads() -> None:
    """Set the limit for good; again is no error. numpy must be imported."""
    threadpool_limits(BLAS_THREADS, user_api="blas")
