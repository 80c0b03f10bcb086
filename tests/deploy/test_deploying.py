"""The whole command with the platform's own tool, into an account of its own: run after run."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import PurePosixPath

import pytest
from tests.deploy.conftest import ROOT, Fork

Done = subprocess.CompletedProcess[str]
SECRET = "sk-一把很长的钥匙-2f1c"
"""A key that may show up nowhere but in the account."""
CRONS = tomllib.loads((ROOT / "wrangler.toml").read_text(encoding="utf-8"))["triggers"]["crons"]
"""The schedule, as it is tracked."""
EDGE = frozenset({"app", "core", "edge", "http", "mcp", "ports", "store"})
"""What the edge carries of the package."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def first(installed: Fork) -> Done:
    """The first deployment into an empty account; the key is not set yet."""
    return installed.deploy()


@pytest.fixture(scope="module")
def writes_of_first(installed: Fork, first: Done) -> list[str]:
    """What the first deployment changed, in order; the account's list is emptied."""
    found = installed.cloud.writes
    installed.cloud.calls.clear()
    return found


@pytest.fixture(scope="module")
def second(installed: Fork, writes_of_first: list[str]) -> Done:
    """The same again, now with a key in the environment."""
    return installed.deploy(CHATBOX_API_KEY=SECRET, LANG="zh_CN.UTF-8")


def test_fresh_account_gets_everything_and_the_addresses_are_printed(
    installed: Fork, first: Done
) -> None:
    assert first.returncode == 0, first.stdout
    assert [name for name, _ in installed.cloud.databases.values()] == ["remembrancer"]
    assert list(installed.cloud.namespaces.values()) == ["remembrancer"]
    assert list(installed.cloud.workers) == ["remembrancer"]
    assert installed.cloud.indexes == {"remembrancer": {"dimensions": 768, "metric": "cosine"}}
    assert installed.cloud.crons == {"remembrancer": CRONS}
    assert set(installed.cloud.queues) == {"remembrancer-jobs", "remembrancer-dead-letters"}
    [consumer] = installed.cloud.queues["remembrancer-jobs"]
    assert consumer["dead_letter_queue"] == "remembrancer-dead-letters"
    assert installed.cloud.workers["remembrancer"].is_public
    for path in ("mcp", "v1", "admin"):
        assert f"{installed.url}/address/{path}" in first.stdout
    assert "npx wrangler secret put CHATBOX_API_KEY --name remembrancer" in first.stdout
    assert not installed.cloud.unknown


def test_migrations_run_all_of_them_and_before_the_upload(
    installed: Fork, writes_of_first: list[str]
) -> None:
    rows = installed.cloud.database("remembrancer").execute("SELECT name FROM d1_migrations")
    files = sorted((installed.folder / "migrations").glob("*.sql"))
    assert [name for (name,) in rows] == [path.name for path in files]
    upload = writes_of_first.index("PUT /workers/scripts/remembrancer")
    queries = [at for at, each in enumerate(writes_of_first) if each.endswith("/query")]
    assert queries
    assert max(queries) < upload


def test_vectors_can_be_filtered_before_there_is_code_that_writes_one(
    installed: Fork, writes_of_first: list[str]
) -> None:
    assert installed.cloud.filters == {"remembrancer": ["kind", "project"]}
    upload = writes_of_first.index("PUT /workers/scripts/remembrancer")
    made = [at for at, each in enumerate(writes_of_first) if "metadata_index/create" in each]
    assert len(made) == 2
    assert max(made) < upload


def test_upload_holds_the_worker_the_package_and_the_packages_alone(
    installed: Fork, first: Done
) -> None:
    modules = installed.cloud.workers["remembrancer"].uploads[0].modules
    ours = {name for name in modules if not name.startswith("python_modules/")}
    sources = installed.folder / "src"
    tracked = {
        path.relative_to(sources).as_posix() for path in (sources / "remembrancer").rglob("*.py")
    }
    carried = {
        name
        for name in tracked
        if PurePosixPath(name).parent.name == "remembrancer" or PurePosixPath(name).parts[1] in EDGE
    }
    assert ours == carried | {"worker.py"}
    vendored = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "python_modules").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert set(modules) - ours == vendored
    assert modules["worker.py"] == (sources / "worker.py").read_bytes()


def test_upload_binds_what_was_made_and_keeps_variables(installed: Fork, first: Done) -> None:
    metadata = installed.cloud.workers["remembrancer"].uploads[0].metadata
    bindings = {each["name"]: each for each in metadata["bindings"]}
    assert bindings["DB"]["id"] in installed.cloud.databases
    assert bindings["KV"]["namespace_id"] in installed.cloud.namespaces
    assert (bindings["VECTORS"]["type"], bindings["AI"]["type"]) == ("vectorize", "ai")
    assert bindings["VECTORS"]["index_name"] == "remembrancer"
    assert bindings["JOBS"]["queue_name"] == "remembrancer-jobs"
    assert {"plain_text", "json"} <= set(metadata["keep_bindings"])
    assert metadata["main_module"] == "worker.py"
    assert metadata["compatibility_date"] == "2026-11-01"
    assert "python_workers" in metadata["compatibility_flags"]


def test_panel_is_uploaded_with_the_worker_first_for_every_path(
    installed: Fork, first: Done
) -> None:
    worker = installed.cloud.workers["remembrancer"]
    assert set(worker.files) == {"/index.html", "/assets/app-1.js"}
    assert worker.files["/index.html"].decode() == "<title>面板</title>"
    metadata = worker.uploads[0].metadata
    assert metadata["assets"]["config"] == {
        "html_handling": "none",
        "not_found_handling": "none",
        "run_worker_first": True,
    }
    bindings = {each["name"]: each["type"] for each in metadata["bindings"]}
    assert bindings["ASSETS"] == "assets" and "ARTIFACTS" not in bindings


def test_second_run_makes_nothing_anew_and_finishes(
    installed: Fork, second: Done, writes_of_first: list[str]
) -> None:
    assert second.returncode == 0, second.stdout
    assert "部署完成" in second.stdout
    assert len(installed.cloud.databases) == len(installed.cloud.namespaces) == 1
    made = [each for each in installed.cloud.writes if not each.endswith("/query")]
    kinds = ("d1/database", "namespaces", "vectorize", "POST /queues ")
    assert not [each for each in made if any(kind in f"{each} " for kind in kinds)]
    assert len(installed.cloud.workers["remembrancer"].uploads) == 2
    assert not installed.cloud.unknown


def test_key_of_the_environment_becomes_a_secret_and_shows_up_nowhere(
    installed: Fork, second: Done
) -> None:
    assert installed.cloud.workers["remembrancer"].secrets == {"CHATBOX_API_KEY": SECRET}
    assert SECRET not in second.stdout
    written = [path for path in installed.folder.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]


def test_ids_are_written_where_git_does_not_look(installed: Fork, first: Done) -> None:
    made = installed.folder / ".wrangler" / "upload" / "wrangler.json"
    [database] = json.loads(made.read_text())["d1_databases"]
    assert database["database_id"] in installed.cloud.databases
    private = [".wrangler/upload/wrangler.json", ".env", ".dev.vars"]
    command = ["git", "check-ignore", *private]
    ignored = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert ignored.stdout.split() == private
    assert "database_id" not in (installed.folder / "wrangler.toml").read_text()


def test_dry_run_shows_each_step_and_changes_nothing(installed: Fork, second: Done) -> None:
    installed.cloud.calls.clear()
    done = installed.deploy("--dry-run", REMEMBRANCER_KV_NAME="other-cache")
    assert done.returncode == 0, done.stdout
    assert re.findall(r"^\[(\d+)/11]", done.stdout, re.MULTILINE) == [str(n) for n in range(1, 12)]
    assert "Would create the KV namespace 'other-cache'" in done.stdout
    assert not [each for each in installed.cloud.writes if not each.endswith("/query")]
    assert len(installed.cloud.namespaces) == 1
