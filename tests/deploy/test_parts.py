"""The parts of the command that need no wrangler: words, names, the folder, explanations."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from string import Formatter

import pytest
from tests.deploy.conftest import ROOT

from deploying import words
from deploying.deployment import Deployment, read_environment
from deploying.resources import TABLE, check_name
from deploying.steps import STEPS, create_resources, read_project
from deploying.upload_folder import make_folder, write_configuration
from deploying.words import Speech, Stop
from deploying.wrangler import Outcome, explain, parse
from remembrancer.app.gateway.routing import target_for
from remembrancer.app.settings import Settings

SENTENCES = {**words.STEPS, **words.NOTES, **words.STOPS, **words.KINDS}
"""Everything that is said."""


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", SENTENCES)
def test_sentence_in_both_languages_names_the_same_values(key: str) -> None:
    english, chinese = SENTENCES[key]
    assert _fields(english) == _fields(chinese)
    assert english != chinese


def test_every_step_and_every_kind_has_its_words() -> None:
    assert list(STEPS) == list(words.STEPS)
    assert {each.kind for each in TABLE} == set(words.KINDS)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        pytest.param({}, "Deployed.", id="unset"),
        pytest.param({"LANG": "en_US.UTF-8"}, "Deployed.", id="english"),
        pytest.param({"LANG": "zh_CN.UTF-8"}, "部署完成。", id="chinese"),
        pytest.param({"LANG": "zh_CN", "LC_ALL": "C"}, "Deployed.", id="lc-all-rules"),
    ],
)
def test_language_is_that_of_the_environment(environment: dict[str, str], said: str) -> None:
    assert Speech(environment).note("done") == said


def test_dry_run_shows_what_a_new_index_gets_before_its_first_vector(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = Deployment(ROOT, {"LANG": "zh_CN.UTF-8"}, is_dry=True)
    read_project(run)
    create_resources(run)
    said = capsys.readouterr().out
    assert "KV 命名空间 'remembrancer'、Vectorize 索引 'remembrancer'" in said
    assert "将查找 Vectorize 索引 'remembrancer'，没有就创建。" in said
    index = "将执行：wrangler vectorize create-metadata-index remembrancer --propertyName"
    assert [f"{index} {name} --type string" in said for name in ("kind", "project")] == [True] * 2


@pytest.mark.parametrize("name", ["r", "remembrancer", "my-memory-2", "a" * 54])
def test_name_of_letters_digits_and_dashes_is_good(name: str) -> None:
    assert check_name(name, "V") == name


@pytest.mark.parametrize(
    ("name", "key"),
    [
        pytest.param("", "bad_name", id="empty"),
        pytest.param("a" * 55, "bad_name", id="too-long"),
        pytest.param("-a", "bad_name", id="dash-first"),
        pytest.param("a--b", "bad_name", id="two-dashes"),
        pytest.param("记忆", "bad_name", id="chinese"),
        pytest.param("a; rm", "bad_name", id="shell"),
        pytest.param("companion-memory-proxy", "predecessor", id="predecessor"),
        pytest.param("memo-kb", "predecessor", id="predecessor-index"),
    ],
)
def test_other_name_is_refused(name: str, key: str) -> None:
    with pytest.raises(Stop) as caught:
        check_name(name, "V")
    assert caught.value.key == key


def test_empty_variables_of_a_build_form_count_as_unset() -> None:
    assert read_environment({"A": "", "B": " ", "C": "c"}) == {"C": "c"}


def _project(folder: Path, text: str, **more: str) -> Deployment:
    (folder / "wrangler.toml").write_text(text)
    environment = {
        "REMEMBRANCER_D1_NAME": "other",
        "REMEMBRANCER_DEAD_LETTERS_NAME": "lost",
        "VECTORIZE_INDEX_NAME": "memory",
        **more,
    }
    run = Deployment(folder, environment, is_dry=False)
    run.read_project()
    run.ids = {"D1": "d1-id", "KV": "kv-id"}
    return run


def test_configuration_of_the_upload_has_names_ids_and_paths_that_lead_back(
    tmp_path: Path,
) -> None:
    run = _project(tmp_path, (ROOT / "wrangler.toml").read_text())
    written = write_configuration(tmp_path, run.generate())
    made = json.loads((tmp_path / written).read_text())
    database = made["d1_databases"][0]
    assert (database["database_id"], database["database_name"]) == ("d1-id", "other")
    assert database["migrations_dir"] == "../../migrations"
    assert made["kv_namespaces"] == [{"binding": "KV", "id": "kv-id"}]
    assert made["vectorize"] == [{"binding": "VECTORS", "index_name": "memory"}]
    assert made["queues"]["producers"] == [{"binding": "JOBS", "queue": "remembrancer-jobs"}]
    [consumer] = made["queues"]["consumers"]
    assert (consumer["queue"], consumer["dead_letter_queue"]) == ("remembrancer-jobs", "lost")
    assert made["ai"] == {"binding": "AI"}
    assert made["assets"]["directory"] == "../../admin/dist"
    assert made["assets"]["run_worker_first"] is True
    assert "r2_buckets" not in made
    assert made["keep_vars"] is True
    assert (made["workers_dev"], made["preview_urls"]) == (True, False)


def test_configuration_binds_what_is_optional_when_it_is_named(tmp_path: Path) -> None:
    text = (ROOT / "wrangler.toml").read_text()
    more = {"REMEMBRANCER_R2_NAME": "long-texts", "VECTORIZE_INDEX_NAME_NEXT": "memory-bge"}
    made = _project(tmp_path, text, **more).generate()
    assert made["r2_buckets"] == [{"binding": "ARTIFACTS", "bucket_name": "long-texts"}]
    assert made["vectorize"] == [
        {"binding": "VECTORS", "index_name": "memory"},
        {"binding": "VECTORS_NEXT", "index_name": "memory-bge"},
    ]
    without = _project(tmp_path, text, **dict.fromkeys(more, "none")).generate()
    assert "r2_buckets" not in without and len(without["vectorize"]) == 1


def test_next_index_must_be_another_one(tmp_path: Path) -> None:
    text = (ROOT / "wrangler.toml").read_text()
    with pytest.raises(Stop, match="VECTORIZE_INDEX_NAME_NEXT"):
        _project(tmp_path, text, VECTORIZE_INDEX_NAME_NEXT="memory")


def test_configuration_with_routes_of_its_own_leaves_workers_dev_to_wrangler(
    tmp_path: Path,
) -> None:
    run = _project(tmp_path, 'name = "r"\nroutes = ["memory.example.com"]\n')
    assert "workers_dev" not in run.generate()


def test_project_without_a_configuration_says_which_root_is_meant(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="Root directory"):
        Deployment(tmp_path, {}, is_dry=False).read_project()


def test_folder_is_made_anew_without_what_runs_on_one_machine_only(tmp_path: Path) -> None:
    source = tmp_path / "src" / "remembrancer"
    for name in ("app/a.py", "local/b.py", "cli/c.py", "testing/d.py", "app/__pycache__/a.pyc"):
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (source / "py.typed").touch()
    (tmp_path / "python_modules" / "x").mkdir(parents=True)
    (make_folder(tmp_path) / "src" / "old.py").touch()
    folder = make_folder(tmp_path)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {"src/remembrancer/app/a.py"}
    assert (folder / "python_modules" / "x").is_dir()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("Authentication error [code: 10000]", "permission", id="permission"),
        pytest.param("fetch failed", "network", id="network"),
        pytest.param(
            "Authentication error [code: 10000]\nregister a workers.dev subdomain here",
            "subdomain",
            id="subdomain",
        ),
        pytest.param("Please enable R2 through the Dashboard. [code: 10042]", "no_r2", id="r2"),
        pytest.param("something else", "failed", id="other"),
    ],
)
def test_failure_of_wrangler_is_put_in_plain_words(text: str, key: str) -> None:
    assert explain(Outcome(1, "", text), permission="P").key == key


def test_json_is_found_behind_lines_that_are_none() -> None:
    assert parse(Outcome(0, '[wrangler:warn] is none\n[{"a": 1}]\n', "")) == [{"a": 1}]
    assert parse(Outcome(0, '▲ 警告\n{"a": [1]}\n', "")) == {"a": [1]}
    with pytest.raises(Stop, match="nothing"):
        parse(Outcome(0, "nothing", ""))


def test_command_is_the_one_that_forks_are_told_to_set() -> None:
    package = json.loads((ROOT / "package.json").read_text())
    assert package["scripts"]["deploy:cloudflare"] == "bash scripts/deploy"
    assert package["scripts"].keys() == {"deploy:cloudflare"}


def test_command_takes_a_python_whose_path_has_blanks(tmp_path: Path) -> None:
    python = tmp_path / "我的 programs" / "python 3"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "ran $*"\n', encoding="utf-8")
    python.chmod(0o755)
    environment = {**os.environ, "PYTHON": str(python)}
    command = ["bash", str(ROOT / "scripts/deploy"), "--dry-run"]
    run = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=20, check=False
    )
    assert (run.returncode, run.stdout) == (0, "ran -m deploying --dry-run\n"), run.stderr


@pytest.mark.parametrize("name", ["DEPLOYING.md", "DEPLOYING.zh-CN.md"])
def test_guide_names_every_setting_and_gives_the_words_of_the_build_form(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for word in (
        *(each.variable for each in TABLE),
        *(each.permission for each in TABLE),
        "REMEMBRANCER_WORKER_NAME",
        "REMEMBRANCER_ADDRESS",
        "REMEMBRANCER_SMOKE_SECONDS",
        "REMEMBRANCER_TAKE_OVER",
        "CLOUDFLARE_API_TOKEN",
        "CLOUDFLARE_ACCOUNT_ID",
        "`npm ci`",
        "`npm run deploy:cloudflare`",
        "`/`",
    ):
        assert word in text, word


@pytest.mark.parametrize("name", ["DEPLOYING.md", "DEPLOYING.zh-CN.md"])
def test_guide_says_how_a_chat_client_gets_its_model_and_its_memory(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for setting in ("ai_gateway_base_url", "cf_aig_token", "chat_model", "vision_model"):
        assert setting in Settings.model_fields
        assert f"`{setting.upper()}`" in text
    found = re.search(r"`(workers-ai/[^`]+)`", text)
    assert found is not None
    assert target_for(Settings(), found[1]).form == "workers_ai"
    for word in ("`companion`", "/v1`", "/anthropic`", "/v1/guide-dog`"):
        assert word in text, word
