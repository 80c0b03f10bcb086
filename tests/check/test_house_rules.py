"""Each house rule is shown a good sample that it keeps quiet about, and a bad one that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checks import names, purity, sizes, text, workflows
from checks.tree import Problem, Tree

Writer = Callable[[dict[str, str]], Path]
Checker = Callable[[Tree], Iterator[Problem]]

CORE = "src/remembrancer/core/items.py"
APP = "src/remembrancer/app/items.py"


def parameters(count: int) -> str:
    """The head of a function with so many parameters, half of them keyword-only."""
    named = [f"a{number}" for number in range(count)]
    return f"def f({', '.join(named[:2])}, *, {', '.join(named[2:])}):\n    return 1\n"


def protocol(methods: int) -> str:
    """A port with so many methods."""
    body = "".join(f"    async def m{number}(self) -> int: ...\n" for number in range(methods))
    return f"class Port(Protocol):\n{body}"


def function(lines: int) -> str:
    """A function of so many lines."""
    return "def f():\n" + "    x = 1\n" * (lines - 1)


WORKFLOW = """name: check
permissions:
  contents: read
concurrency:
  cancel-in-progress: true

jobs:
  check:
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@8e8c483db84b4bee98b60c0593521ed34d9990e8 # v6.0.1
      - run: scripts/check
"""


def workflow(old: str = "", new: str = "") -> dict[str, str]:
    """A sound workflow with one passage replaced."""
    text = WORKFLOW.replace(old, new) if old else WORKFLOW
    return {".github/workflows/check.yml": text, "scripts/check": ""}


GOOD: list[tuple[str, Checker, dict[str, str]]] = [
    ("module-at-limit", sizes.check, {CORE: "x = 1\n" * 400}),
    ("test-module-at-limit", sizes.check, {"tests/core/test_a.py": "x = 1\n" * 600}),
    ("wire-at-limit", sizes.check, {"src/remembrancer/local/wire.py": "x = 1\n" * 150}),
    ("view-at-limit", sizes.check, {"admin/src/views/a.tsx": "x;\n" * 300}),
    ("style-at-limit", sizes.check, {"admin/src/styles/a.css": "\n" * 400}),
    (
        "lock-names-a-folder-of-ours",
        text.check,
        {"package-lock.json": '{"resolved": "admin", "link": true}\n'},
    ),
    ("function-at-limit", sizes.check, {CORE: function(60)}),
    ("table-is-no-function", sizes.check, {CORE: "@d(\n" + "    1,\n" * 99 + ")\n" + function(60)}),
    ("asgi-in-a-ring", names.check, {"src/remembrancer/http/asgi.py": ""}),
    ("parameters-at-limit", sizes.check, {CORE: parameters(6)}),
    ("self-is-no-parameter", sizes.check, {CORE: parameters(6).replace("f(", "f(self, ")}),
    (
        "test-with-many-fixtures",
        sizes.check,
        {"tests/test_a.py": parameters(9).replace("def f", "def test_f")},
    ),
    ("port-at-limit", sizes.check, {"src/remembrancer/ports/kv.py": protocol(6)}),
    ("wide-class-outside-ports", sizes.check, {CORE: protocol(9)}),
    (
        "top-level",
        names.check,
        dict.fromkeys(("src/a.py", ".ci/run", ".npmrc", "LICENSE", "README.zh.md"), ""),
    ),
    ("migrations", names.check, {"migrations/0001_a.sql": "", "migrations/0002_b_c.sql": ""}),
    (
        "core-standard-library",
        purity.check,
        {CORE: "import re\nfrom remembrancer.core import ids\n"},
    ),
    ("sql-in-store", purity.check, {"src/remembrancer/store/a.py": 'Q = "SELECT a FROM b "\n'}),
    ("sentence-is-no-sql", purity.check, {APP: 'T = "Select a task from the list."\n'}),
    ("docstring-is-no-sql", purity.check, {APP: '"""select what follows from events"""\n'}),
    ("narrow-catch", purity.check, {APP: "try:\n    f()\nexcept ValueError:\n    pass\n"}),
    (
        "clean-up-raises-again",
        purity.check,
        {APP: "try:\n    f()\nexcept BaseException:\n    undo()\n    raise\n"},
    ),
    (
        "outer-loop",
        purity.check,
        {"src/remembrancer/cli/main.py": "try:\n    f()\nexcept Exception:\n    pass\n"},
    ),
    ("readers-own-folder", text.check, {"README.md": "`/home/you/notes/`, `~/work/`, `/tmp/a`\n"}),
    ("workflow", workflows.check, workflow()),
    ("lock", text.check, {"requirements.lock": "httpx==1.0 \\\n    --hash=sha256:00\n"}),
]

BAD: list[tuple[str, Checker, dict[str, str], str]] = [
    ("module", sizes.check, {CORE: "x = 1\n" * 401}, "401 lines"),
    ("test-module", sizes.check, {"tests/core/test_a.py": "x = 1\n" * 601}, "601 lines"),
    ("worker", sizes.check, {"src/worker.py": "x = 1\n" * 61}, "61 lines"),
    ("wire", sizes.check, {"src/remembrancer/local/wire.py": "x = 1\n" * 151}, "151 lines"),
    ("function", sizes.check, {CORE: function(61)}, "f has 61 lines"),
    (
        "method",
        sizes.check,
        {CORE: f"class A:\n  {function(61)}".replace("\n    x", "\n      x")},
        "61",
    ),
    ("parameters", sizes.check, {CORE: parameters(7)}, "7 parameters"),
    ("builder", sizes.check, {"tests/builders.py": parameters(7)}, "7 parameters"),
    ("port", sizes.check, {"src/remembrancer/ports/kv.py": protocol(7)}, "7 methods"),
    ("columns", sizes.check, {"scripts/test": "#" * 101 + "\n"}, "101 columns"),
    ("folder", names.check, {"docs/a.md": ""}, "top level"),
    ("file", names.check, {"setup.py": ""}, "top level"),
    ("word", names.check, {"src/remembrancer/core/date_utils.py": ""}, "'utils'"),
    ("folder-word", names.check, {"src/remembrancer/helpers/dates.py": ""}, "'helpers'"),
    ("platform-word", names.check, {"src/workers.py": ""}, "runtime"),
    ("long-view", sizes.check, {"admin/src/views/a.tsx": "x;\n" * 301}, "300"),
    ("long-part", sizes.check, {"admin/src/parts/a.tsx": "x;\n" * 401}, "400"),
    ("migration", names.check, {"migrations/add_items.sql": ""}, "NNNN"),
    (
        "migration-number",
        names.check,
        {"migrations/0001_a.sql": "", "migrations/0001_b.sql": ""},
        "number of",
    ),
    ("third-party", purity.check, {CORE: "import pydantic\n"}, "'pydantic'"),
    ("outward", purity.check, {CORE: "from remembrancer import app\n"}, "'remembrancer.app'"),
    ("await", purity.check, {CORE: "async def f():\n    return 1\n"}, "no async"),
    ("select", purity.check, {APP: 'Q = "SELECT a FROM b WHERE c"\n'}, "SQL"),
    ("f-string", purity.check, {APP: 'Q = f"DELETE FROM {table} "\n'}, "SQL"),
    ("lower-case", purity.check, {APP: 'Q = "insert into a values (1)"\n'}, "SQL"),
    ("with", purity.check, {APP: 'Q = "WITH a AS (SELECT 1)"\n'}, "SQL"),
    ("bare", purity.check, {APP: "try:\n    f()\nexcept:\n    pass\n"}, "broad catch"),
    ("exception", purity.check, {APP: "try:\n    f()\nexcept Exception:\n    pass\n"}, "broad"),
    (
        "in-a-tuple",
        purity.check,
        {APP: "try:\n    f()\nexcept (KeyError, Exception):\n    raise Other from None\n"},
        "broad",
    ),
    (
        "second-in-outer-loop",
        purity.check,
        {"src/remembrancer/cli/main.py": "try:\n    f()\nexcept Exception:\n    pass\n" * 2},
        "broad",
    ),
    (
        "loose-action",
        workflows.check,
        workflow("8e8c483db84b4bee98b60c0593521ed34d9990e8 # v6.0.1", "v6"),
        "commit hash",
    ),
    ("own-commands", workflows.check, workflow("scripts/check", "pip install ."), "calls scripts"),
    ("no-script", workflows.check, workflow("scripts/check", "scripts/chek"), "no scripts/chek"),
    ("rights", workflows.check, workflow("contents: read", "contents: write"), "contents: read"),
    ("no-time-limit", workflows.check, workflow("    timeout-minutes: 10\n"), "timeout-minutes"),
    ("old-runs", workflows.check, workflow("in-progress: true", "in-progress: false"), "must say"),
    ("machine-path", text.check, {"README.md": "see " + "/" + "work/main\n"}, "one machine"),
    ("home", text.check, {CORE: '"/' + 'home/someone/x"\n'}, "one machine"),
    ("registry", text.check, {"README.md": "https://pypi" + ".org/simple\n"}, "registry"),
    (
        "lock-address",
        text.check,
        {"package-lock.json": '{"resolved": "https://example.org/a.tgz"}\n'},
        "downloaded from",
    ),
]


@pytest.mark.parametrize(
    ("checker", "files"),
    [sample[1:] for sample in GOOD],
    ids=[sample[0] for sample in GOOD],
)
def test_rule_with_good_sample_is_quiet(
    checker: Checker, files: dict[str, str], write_tree: Writer
) -> None:
    assert list(checker(Tree.of_folder(write_tree(files)))) == []


@pytest.mark.parametrize(
    ("checker", "files", "words"),
    [sample[1:] for sample in BAD],
    ids=[sample[0] for sample in BAD],
)
def test_rule_with_bad_sample_names_it(
    checker: Checker, files: dict[str, str], words: str, write_tree: Writer
) -> None:
    problems = list(checker(Tree.of_folder(write_tree(files))))
    assert [problem for problem in problems if words in str(problem)], problems
    assert {problem.path.split("/")[0] for problem in problems} <= {
        name.split("/")[0] for name in files
    }


def test_tree_of_repository_holds_what_git_would_track(root: Path) -> None:
    files = set(Tree.of_repository(root).files)
    assert {"pyproject.toml", "scripts/check", "tests/conftest.py"} <= files
    assert not [name for name in files if name.startswith((".venv/", "node_modules/"))]
