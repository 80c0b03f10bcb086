"""The platform's exceptions turned into ours, where they happen.

D1 says everything in a message; the table of texts is `core.sqlerrors`, shared with the local
driver. The text itself goes into no message of ours: it can quote what somebody wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyodide.ffi import JsException

from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.sqlerrors import classify


@contextmanager
def d1_errors() -> Iterator[None]:
    """Raise ours for what D1 throws. *Raises:* what `core.sqlerrors.classify` makes of it."""
    try:
        yield
    except JsException as error:
        raise classify(error.message) from error


@contextmanager
def kv_errors() -> Iterator[None]:
    """Raise ours for what the key-value store throws. *Raises:* StoreUnavailable."""
    try:
        yield
    except JsException as error:
        raise StoreUnavailable(
            "the key-value store did not answer", hint="try again in a moment"
        ) from error


@contextmanager
def vector_errors() -> Iterator[None]:
    """Raise ours for what the vector index throws. *Raises:* StoreUnavailable."""
    try:
        yield
    except JsException as error:
        raise StoreUnavailable(
            "the vector index did not answer", hint="search by words goes on; try again later"
        ) from error


@contextmanager
def queue_errors() -> Iterator[None]:
    """Raise ours for what the queue throws. *Raises:* StoreUnavailable."""
    try:
        yield
    except JsException as error:
        raise StoreUnavailable(
            "the queue took no message", hint="the next scheduled run finds the work"
        ) from error


@contextmanager
def blob_errors() -> Iterator[None]:
    """Raise ours for what the bucket throws. *Raises:* StoreUnavailable."""
    try:
        yield
    except JsException as error:
        raise StoreUnavailable(
            "the bucket of the artifacts did not answer", hint="try again in a moment"
        ) from error


@contextmanager
def asset_errors() -> Iterator[None]:
    """Raise ours for what the static assets throw. *Raises:* StoreUnavailable."""
    try:
        yield
    except JsException as error:
        raise StoreUnavailable(
            "the panel's files did not answer", hint="load the page again"
        ) from error
