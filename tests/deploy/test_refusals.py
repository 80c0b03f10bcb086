"""What stops a deployment before it writes anything, and the sentence that says the way out."""

from __future__ import annotations

import re

import pytest
from tests.deploy.cloudflare import ACCOUNT, Worker
from tests.deploy.conftest import Fork

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

OTHER = "fedcba9876543210fedcba9876543210"
"""An account of somebody else."""


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        pytest.param({"CLOUDFLARE_API_TOKEN": ""}, "npx wrangler login", id="no-login"),
        pytest.param(
            {"CLOUDFLARE_API_TOKEN": "", "LANG": "zh_CN.UTF-8"}, "尚未登录", id="no-login-zh"
        ),
        pytest.param({"CLOUDFLARE_API_TOKEN": "wrong"}, "refuses", id="wrong-token"),
        pytest.param(
            {"CLOUDFLARE_API_TOKEN": "wrong", "LC_ALL": "zh_CN.UTF-8"}, "拒绝", id="wrong-token-zh"
        ),
        pytest.param({"CLOUDFLARE_ACCOUNT_ID": OTHER}, f"{ACCOUNT} (Mine)", id="other-account"),
        pytest.param(
            {"REMEMBRANCER_WORKER_NAME": "companion-memory-proxy"},
            "never written into",
            id="predecessor",
        ),
        pytest.param({"REMEMBRANCER_D1_NAME": "memo-kb"}, "never written", id="predecessor-d1"),
        pytest.param(
            {"WRANGLER_CI_OVERRIDE_NAME": "companion-memory-proxy", "LANG": "zh"},
            "绝不会往里写",
            id="predecessor-build",
        ),
        pytest.param({"REMEMBRANCER_D1_NAME": "My Base"}, "'My Base'", id="bad-name"),
    ],
)
def test_deploying_without_what_it_needs_stops_with_a_plain_sentence(
    fork: Fork, environment: dict[str, str], said: str
) -> None:
    fork.cloud.calls.clear()
    done = fork.deploy(**environment)
    assert done.returncode == 1
    assert said in done.stdout
    assert not fork.cloud.writes
    assert "Traceback" not in done.stdout


def test_several_accounts_are_listed_until_one_is_chosen(fork: Fork) -> None:
    fork.cloud.accounts[OTHER] = "公司"
    done = fork.deploy(CLOUDFLARE_ACCOUNT_ID="")
    assert done.returncode == 1
    assert f"{OTHER} (公司)" in done.stdout
    assert not fork.cloud.writes


@pytest.mark.parametrize(
    ("denied", "permission"),
    [
        pytest.param("/d1/database", "Account > D1 > Edit", id="d1"),
        pytest.param("/storage/kv", "Account > Workers KV Storage > Edit", id="kv"),
        pytest.param("/workers/scripts", "Account > Workers Scripts > Edit", id="workers"),
    ],
)
def test_missing_permission_is_named(fork: Fork, denied: str, permission: str) -> None:
    fork.cloud.denied = re.compile(denied)
    done = fork.deploy()
    assert done.returncode == 1
    assert permission in done.stdout
    assert not fork.cloud.writes


def test_database_of_another_program_is_not_touched(fork: Fork) -> None:
    fork.cloud.add_database("remembrancer")
    fork.cloud.database("remembrancer").execute("CREATE TABLE 订单 (id INTEGER)")
    done = fork.deploy()
    assert done.returncode == 1
    assert "订单" in done.stdout
    assert "REMEMBRANCER_D1_NAME" in done.stdout
    assert not [each for each in fork.cloud.writes if not each.endswith("/query")]
    tables = fork.cloud.database("remembrancer").execute("SELECT count(*) FROM sqlite_master")
    assert tables.fetchone() == (1,)


def test_worker_of_another_program_is_not_overwritten(fork: Fork) -> None:
    binding = {"type": "d1", "name": "DB", "id": "11111111-1111-4111-8111-111111111111"}
    fork.cloud.workers["remembrancer"] = Worker(versions=[("v1", [binding])])
    done = fork.deploy()
    assert done.returncode == 1
    assert "REMEMBRANCER_TAKE_OVER=remembrancer" in done.stdout
    assert not fork.cloud.writes


def test_worker_with_secrets_alone_is_deployed_into_under_the_name_of_the_build(
    fork: Fork,
) -> None:
    made = Worker(versions=[("v1", [])], secrets={"CHATBOX_API_KEY": "k"})
    fork.cloud.workers["my-memory"] = made
    done = fork.deploy(WRANGLER_CI_OVERRIDE_NAME="my-memory", CHATBOX_API_KEY="")
    assert done.returncode == 0, done.stdout
    assert list(fork.cloud.workers) == ["my-memory"]
    assert "CHATBOX_API_KEY is set." in done.stdout


def test_account_without_an_address_is_told_where_to_choose_one(fork: Fork) -> None:
    fork.cloud.subdomain = None
    done = fork.deploy(LANG="zh_CN.UTF-8")
    assert done.returncode == 1
    assert "workers.dev 子域名" in done.stdout


@pytest.mark.parametrize(
    ("config", "found"),
    [
        pytest.param({"dimensions": 1024, "metric": "cosine"}, "1024, cosine", id="dimensions"),
        pytest.param({"dimensions": 768, "metric": "euclidean"}, "768, euclidean", id="metric"),
    ],
)
def test_index_of_another_size_is_refused_and_left_as_it_is(
    fork: Fork, config: dict[str, object], found: str
) -> None:
    fork.cloud.indexes["remembrancer"] = dict(config)
    done = fork.deploy()
    assert done.returncode == 1
    assert found in done.stdout and "VECTORIZE_INDEX_NAME" in done.stdout
    assert fork.cloud.indexes == {"remembrancer": config}
    assert not fork.cloud.writes


def test_index_has_the_dimensions_of_the_model_that_was_chosen(fork: Fork) -> None:
    fork.cloud.indexes["remembrancer"] = {"dimensions": 1024, "metric": "cosine"}
    done = fork.deploy("--dry-run", EMBEDDING_DIMENSIONS="1024")
    assert done.returncode == 0, done.stdout
