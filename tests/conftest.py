"""What every test shares: async tests without a plugin, hypothesis profiles, near and full runs.

Fixtures of the domain are not here; builders live in their own modules.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.examples import part_of

ROOT = Path(__file__).resolve().parent.parent
"""The repository; tests that read its files start here."""

LEFT = os.environ.get("TESTS_LEFT")
"""Where a near run (`scripts/test` without a name) writes how many `long` tests it leaves; unset in
every other run, which runs them all."""

settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=part_of(60),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("default"), max_examples=100)
settings.register_profile(
    "deep", settings.get_profile("default"), derandomize=False, max_examples=2_000
)
# On the edge's Python the same properties run again, only to see that it is the same Python.
settings.register_profile("edge", settings.get_profile("default"), max_examples=12)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)


def _run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Runs a test's coroutine; by stepping it where a loop runs already and none may be started."""
    if "pyodide" not in sys.modules:
        asyncio.run(coroutine)
        return
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    pytest.fail("this async test waits for something; that needs an event loop of its own")


def _synchronous(function: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The same test as a plain function, with the signature that pytest and hypothesis read."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        _run(function(*args, **kwargs))

    return run


def pytest_pycollect_makeitem(name: str, obj: object) -> None:
    """Lets a property test be `async def`: hypothesis calls the inner test for each example."""
    handle = inspect.getattr_static(obj, "hypothesis", None)
    if name.startswith("test_") and handle and inspect.iscoroutinefunction(handle.inner_test):
        handle.inner_test = _synchronous(handle.inner_test)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a plain `async def` test, with the fixtures that its parameters name."""
    function = pyfuncitem.obj
    if not inspect.iscoroutinefunction(function):
        return None
    wanted = inspect.signature(function).parameters
    _run(function(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the `long` tests out of a near run and says how many of the chosen ones those are."""
    if LEFT is None:
        return
    left = [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if not item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left)
    Path(LEFT).write_text(str(len(left)), encoding="utf-8")


@pytest.fixture
def root() -> Path:
    """The repository's folder."""
    return ROOT


@pytest.fixture
def write_tree(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """A factory of small folders: `{"src/a.py": "text"}` becomes files; returns their root."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write
