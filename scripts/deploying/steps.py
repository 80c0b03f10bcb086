"""The steps of a deployment, in order. Each finds what an earlier run has done and goes on.

A step that writes into the account shows instead what it would do when the run is dry.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from deploying.deployment import ACCOUNT_VARIABLE, Deployment
from deploying.resources import (
    DATABASE,
    HOLDERS,
    TABLE,
    WORKER_PERMISSION,
    Resource,
)
from deploying.smoke import ask_health
from deploying.upload_folder import CONFIGURATION, FOLDER, MODULES
from deploying.words import Stop
from deploying.wrangler import NO_WORKER, OFFLINE, explain, parse

GENERATED = (FOLDER / CONFIGURATION).as_posix()
"""The configuration with the ids, from the project's root."""
KEY = "CHATBOX_API_KEY"
"""The secret without which nobody can log in to the Worker."""
KEY_BYTES = 24
"""Random bytes of a key that is made here; 192 bits."""
FIRST_MIGRATION = "0001_event_log.sql"
"""By this entry of the list of migrations a database is known as ours."""
LOOKUPS_AT_ONCE = 4
"""Commands of wrangler that run beside each other. Our choice."""
SHOWN_MAX = 5
"""Names that a sentence lists."""
REPLACE_VARIABLE = "REMEMBRANCER_TAKE_OVER"
"""Holds the name of a Worker that may be replaced although it is bound to something else."""
ADDRESS_VARIABLE = "REMEMBRANCER_ADDRESS"
"""The Worker's address when it is not the one that wrangler names, such as an own domain."""
PANEL = Path("admin") / "dist"
"""The panel's files, from the project's root."""
CREDENTIALS = ("CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY")
"""Variables by which wrangler logs in without a browser."""
LOOKUP_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
LOOKUP_MIGRATIONS = "SELECT name FROM d1_migrations"

Step = Callable[[Deployment], None]


def read_project(run: Deployment) -> None:
    """Names and bindings, from wrangler.toml and the environment."""
    run.read_project()
    resources = [f"{run.kind(each)} {run.names[each.kind]!r}" for each in run.resources]
    run.tell("names", worker=run.worker, resources=run.speech.enumerate(resources))


def check_account(run: Deployment) -> None:
    """The login is good, and it is clear which account is meant."""
    if run.is_dry and not run.wrangler.program.exists():
        run.print(run.speech.stop(Stop("no_wrangler")))
        return
    outcome = run.wrangler.run("whoami", "--json")
    if run.is_dry and OFFLINE.search(outcome.text):
        run.tell("unreachable")
        return
    wanted = run.environment.get(ACCOUNT_VARIABLE)
    has_credentials = any(name in run.environment for name in CREDENTIALS)
    report = _read_report(outcome.output)
    if not report.get("loggedIn"):
        if has_credentials:
            refusal = explain(outcome, permission=WORKER_PERMISSION)
            raise refusal if refusal.key == "network" else Stop("bad_token")
        if run.is_dry:
            run.tell("account_later")
            return
        raise Stop("not_logged_in")
    accounts = {str(each["id"]): str(each["name"]) for each in report.get("accounts", ())}
    shown = ", ".join(f"{id_} ({name})" for id_, name in accounts.items())
    if wanted and accounts and wanted not in accounts:
        raise Stop("other_account", account=wanted, accounts=shown)
    if not wanted and len(accounts) != 1:
        raise Stop("many_accounts", accounts=shown) if accounts else Stop("no_account")
    chosen = wanted or next(iter(accounts))
    run.use_account(chosen)
    run.tell("account", account=f"{chosen} ({accounts[chosen]})" if accounts else chosen)


def _read_report(output: str) -> dict[str, Any]:
    try:
        found = json.loads(output)
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def survey(run: Deployment) -> None:
    """What exists, and that none of it is somebody else's. Reads only."""
    if not run.is_online:
        run.tell("survey_later")
        return
    _look_up(run, run.resources)
    _check_database(run)
    bindings = _worker_bindings(run)
    if bindings is None:
        run.tell("worker_new", worker=run.worker)
        return
    _check_worker(run, bindings)
    run.tell("worker_there", worker=run.worker)
    _keep_bound(run, bindings)


def _look_up(run: Deployment, resources: Sequence[Resource]) -> None:
    """Which of them are there. Each is a question of its own, and most of its time is waiting."""
    names = [run.names[each.kind] for each in resources]
    with ThreadPoolExecutor(LOOKUPS_AT_ONCE) as pool:
        looks = pool.map(lambda each, name: each.look(run.wrangler, name), resources, names)
    for resource, name, found in zip(resources, names, looks, strict=True):
        if found is not None:
            run.ids[resource.kind] = found
            run.tell("found", kind=run.kind(resource), name=name)


def _check_database(run: Deployment) -> None:
    """A database of that name is ours, or empty. *Raises:* Stop."""
    if DATABASE.kind not in run.ids:
        return
    tables = {
        name for name in _select(run, LOOKUP_TABLES) if not name.startswith(("_cf", "sqlite"))
    }
    if not tables:
        return
    applied = _select(run, LOOKUP_MIGRATIONS) if "d1_migrations" in tables else []
    others = sorted(tables - {"d1_migrations"})
    if FIRST_MIGRATION not in applied and others:
        raise Stop(
            "database_taken",
            name=run.names[DATABASE.kind],
            tables=", ".join(others[:SHOWN_MAX]),
            variable=DATABASE.variable,
        )


def _select(run: Deployment, sql: str) -> list[str]:
    """The names that a query of the remote database finds."""
    name = run.names[DATABASE.kind]
    with tempfile.TemporaryDirectory() as folder:
        # wrangler knows a database only from a configuration, and the real one is not due yet.
        path = Path(folder) / "wrangler.json"
        binding = {"binding": "DB", "database_name": name, "database_id": run.ids[DATABASE.kind]}
        path.write_text(json.dumps({"name": run.worker, "d1_databases": [binding]}))
        command = ("d1", "execute", name, "--remote", "--json", "--command", sql)
        found = run.wrangler.read(*command, "--config", str(path), permission=DATABASE.permission)
    assert isinstance(found, list)
    return [str(row["name"]) for row in found[0]["results"]]


def _worker_bindings(run: Deployment) -> list[dict[str, Any]] | None:
    """What the deployed version is bound to; None without a Worker."""
    named = ("--name", run.worker, "--json")
    outcome = run.wrangler.run("deployments", "status", *named)
    if outcome.code != 0:
        if NO_WORKER.search(outcome.text):
            return None
        raise explain(outcome, WORKER_PERMISSION)
    deployed = parse(outcome)
    assert isinstance(deployed, dict)
    version = str(deployed["versions"][0]["version_id"])
    seen = run.wrangler.read("versions", "view", version, *named, permission=WORKER_PERMISSION)
    assert isinstance(seen, dict)
    bindings: list[dict[str, Any]] = seen["resources"]["bindings"]
    return bindings


def _check_worker(run: Deployment, bindings: list[dict[str, Any]]) -> None:
    """The Worker is bound to our database, or to nothing yet. *Raises:* Stop."""
    run.has_plain_key = any(
        each.get("name") == KEY and each.get("type") in {"plain_text", "json"} for each in bindings
    )
    if run.environment.get(REPLACE_VARIABLE) == run.worker:
        return
    databases = {
        str(each.get("id") or each.get("database_id"))
        for each in bindings
        if each.get("type") == "d1"
    }
    holders = [f"{each['name']} ({each['type']})" for each in bindings if each["type"] in HOLDERS]
    if holders and run.ids.get(DATABASE.kind) not in databases:
        raise Stop("worker_taken", worker=run.worker, bindings=", ".join(holders[:SHOWN_MAX]))


def _keep_bound(run: Deployment, bindings: list[dict[str, Any]]) -> None:
    """What the Worker has beyond the usual stays bound: it holds texts, or answers searches."""
    for resource in TABLE:
        name = resource.bound_name(bindings)
        if resource.kind in run.names or resource.variable in run.environment or name is None:
            continue
        run.names[resource.kind] = name
        run.tell("kept", kind=run.kind(resource), name=name, variable=resource.variable)
        _look_up(run, [resource])


def create_resources(run: Deployment) -> None:
    """Every resource of the table that is not there."""
    for resource in run.resources:
        name, kind = run.names[resource.kind], run.kind(resource)
        if resource.kind in run.ids:
            run.tell("found", kind=kind, name=name)
        elif run.is_dry:
            run.tell("would_create" if run.is_online else "would_ensure", kind=kind, name=name)
            _complete(run, resource, is_new=True)
        else:
            found = resource.make(run.wrangler, name)
            run.tell("created", kind=kind, name=name)
            found = found or resource.look(run.wrangler, name)
            if found is None:
                raise Stop("gone", kind=resource.kind, name=name)
            run.ids[resource.kind] = found
            _complete(run, resource, is_new=True)
            continue
        if resource.kind in run.ids:
            _complete(run, resource)


def _complete(run: Deployment, resource: Resource, *, is_new: bool = False) -> None:
    """What the resource still needs before anything is written into it."""
    for command in resource.missing(run.wrangler, run.names[resource.kind], is_new=is_new):
        if run.is_dry:
            run.tell_command("wrangler", *command)
        else:
            run.wrangler.must(*command, permission=resource.permission)


def fill_folder(run: Deployment) -> None:
    """What is uploaded, and the untracked configuration with the ids of this account."""
    run.tell("written", folder=FOLDER.as_posix(), file=run.write())


def vendor_packages(run: Deployment) -> None:
    """python_modules, as locked."""
    command = ("bash", "scripts/vendor")
    if run.is_dry:
        run.tell_command(*command)
    elif subprocess.run(command, cwd=run.root, env=run.environment, check=False).returncode != 0:
        raise Stop("vendor")


def build_panel(run: Deployment) -> None:
    """admin/dist, the panel's files."""
    command = ("bash", "scripts/install", "--panel")
    if run.is_dry:
        run.tell_command(*command)
    elif subprocess.run(command, cwd=run.root, env=run.environment, check=False).returncode != 0:
        raise Stop("panel")


def migrate(run: Deployment) -> None:
    """The database's schema, before the code that needs it."""
    name = run.names[DATABASE.kind]
    command = ("d1", "migrations", "apply", name, "--remote", "--config", GENERATED)
    if run.is_dry:
        run.tell_command("wrangler", *command)
        return
    outcome = run.wrangler.must(*command, permission=DATABASE.permission)
    # Its table is printed anew after each file.
    for line in dict.fromkeys(map(str.strip, outcome.output.splitlines())):
        if "✅" in line or "No migrations" in line:
            run.print(line.strip("│ ✅"))


def upload(run: Deployment) -> None:
    """The new code; variables and secrets that were set on the platform stay."""
    command = ("deploy", "--config", GENERATED, "--keep-vars")
    if run.is_dry:
        run.tell_command("wrangler", *command)
        _show_upload(run)
        return
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "deploy.ndjson"
        outcome = run.wrangler.must(
            *command, permission=WORKER_PERMISSION, WRANGLER_OUTPUT_FILE_PATH=str(report)
        )
        run.target = _read_target(report)
    _print_size(run, outcome.output)


def _show_upload(run: Deployment) -> None:
    """Builds the upload without sending it, when the packages are there."""
    parts = (run.root / MODULES, run.root / PANEL, run.wrangler.program)
    if all(part.exists() for part in parts):
        run.tell("already_vendored")
        outcome = run.wrangler.must(
            "deploy", "--dry-run", "--config", GENERATED, permission=WORKER_PERMISSION
        )
        _print_size(run, outcome.output)


def _print_size(run: Deployment, output: str) -> None:
    for line in output.splitlines():
        if line.startswith("Total Upload"):
            run.print(line)


def _read_target(report: Path) -> str:
    """The first address in what wrangler wrote about the upload; empty without one."""
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    for entry in map(json.loads, lines):
        if entry.get("type") == "deploy" and entry.get("targets"):
            target = str(entry["targets"][0]).split()[0].removesuffix("/*")
            return target if "://" in target else f"https://{target}"
    return ""


def check_key(run: Deployment) -> None:
    """The secret that logs the owner in; it goes from here to the platform, and nowhere else."""
    given = run.environment.get(KEY)
    if run.is_dry:
        run.tell_command("wrangler", "secret", "list", "--name", run.worker)
        return
    command = ("secret", "list", "--name", run.worker, "--format", "json")
    listed = run.wrangler.read(*command, permission=WORKER_PERMISSION)
    assert isinstance(listed, list)
    if any(each["name"] == KEY for each in listed):
        run.tell("key_set")
    elif run.has_plain_key:
        run.tell("key_plain")
    elif given:
        _store_key(run, given)
        run.tell("key_from_environment")
    elif _is_wanted(run):
        made = f"sk-{secrets.token_urlsafe(KEY_BYTES)}"
        _store_key(run, made)
        run.tell("key_made", key=made)
    else:
        run.tell("key_missing", worker=run.worker)


def _store_key(run: Deployment, key: str) -> None:
    command = ("secret", "put", KEY, "--name", run.worker)
    run.wrangler.must(*command, given=key, permission=WORKER_PERMISSION)


def _is_wanted(run: Deployment) -> bool:
    """Whether somebody sits there and wants a key made."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return input("  " + run.speech.note("key_offer")).strip().lower() in {"", "y", "yes", "是"}


def smoke(run: Deployment) -> None:
    """The Worker answers, at the address that is printed."""
    address = run.environment.get(ADDRESS_VARIABLE) or run.target
    if run.is_dry:
        run.tell_command("GET", f"{address or f'https://{run.worker}.….workers.dev'}/health")
        return
    if not address:
        raise Stop("no_address")
    run.target = address.rstrip("/")
    url = f"{run.target}/health"
    run.tell("healthy", url=url, status=ask_health(url, run.environment))


STEPS: dict[str, Step] = {
    "project": read_project,
    "account": check_account,
    "survey": survey,
    "resources": create_resources,
    "packages": vendor_packages,
    "panel": build_panel,
    "folder": fill_folder,
    "migrations": migrate,
    "upload": upload,
    "key": check_key,
    "smoke": smoke,
}
"""Every step by its name in `words.STEPS`, in order."""
