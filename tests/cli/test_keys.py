"""Access keys at the command line, on this machine's store."""

from __future__ import annotations

from tests.cli.running import Program


def test_keys_are_made_listed_and_revoked(program: Program) -> None:
    assert program("keys").out == "No keys were made.\n"
    made = program("keys", "create", "小红书", "--agent", "claude-code", "--json").json
    assert made["token"].startswith("rmb_")
    assert made["key"]["scopes"] == ["memory:read", "memory:write"]
    assert made["key"]["actor"] == "agent:claude-code"
    listed = program("keys")
    assert "小红书" in listed.out
    assert made["token"] not in listed.out + program("keys", "--json").out
    assert made["key"]["id"] in program("keys", "revoke", made["key"]["id"]).out
    assert program("keys", "list", "--json").json["data"][0]["revoked_at"]
    assert program("keys", "revoke", "key_none").code == 4


def test_keys_with_chosen_scopes_and_an_end(program: Program) -> None:
    made = program(
        *("keys", "create", "export", "--scope", "export:read", "--scope", "memory:read"),
        *("--expires", "2090-01-01", "--json"),
    ).json
    assert made["key"]["scopes"] == ["memory:read", "export:read"]
    assert made["key"]["expires_at"] == "2090-01-01T15:59:59.999Z"
    shown = program("keys", "create", "shown").out
    assert shown.splitlines()[1].startswith("rmb_")
    for wrong in (("--scope", "all"), ("--expires", "2000-01-01"), ("--expires", "soon")):
        assert program("keys", "create", "x", *wrong).code == 2, wrong


def test_keys_of_a_namespace_are_its_own(program: Program) -> None:
    program("keys", "create", "work", "--namespace", "work")
    assert program("keys").out == "No keys were made.\n"
    assert "work" in program("keys", "--namespace", "work").out
