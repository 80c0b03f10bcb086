"""One call from a transport: who makes it, what it may see, and in whose name it is written.

Parsing of what every request may carry beside its own parameters; nothing is executed here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic

from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import IDEMPOTENCY_KEY_CHARS_MAX
from remembrancer.core.values import JSON, Caller, Idempotency, canonical_json
from remembrancer.mcp.arguments import did_you_mean, shown
from remembrancer.mcp.classify import Request
from remembrancer.mcp.exchange import Emit
from remembrancer.mcp.registry import DEFAULT_TOOLSETS, AppT, Prompt

IDEMPOTENCY_KEY: Final = "remembrancer/idempotency-key"
"""Key in `_meta`: makes a repeated write answer the first result. Source: DESIGN section 3."""
BY_HAND_KEY: Final = "remembrancer/by-hand"
"""Key in `_meta`: true when a person does this through a program. It is then the user's own, with
a key that writes in the user's name; arguments of a tool cannot reach it."""
AGENT_NAME_CHARS_MAX: Final = 64
"""Characters of an agent's name in the ledger. Our choice."""
DEFAULT_AGENT: Final = "agent:mcp"
"""Actor of a client that gave no name, with a key that names none."""


@dataclass(frozen=True, slots=True)
class Call(Generic[AppT]):
    """What a transport knows about a request beside its text.

    *Shape:* `app` is this request's own view of the app; `caller` is authenticated and its
    `cause` is this request's id; `emit` sends a message ahead of the answer, None where the
    client cannot take one; `client` is the name that the client gave when the connection was
    made, for transports that have connections; `count` counts one more request where requests are
    counted, and raises when there are too many.
    """

    app: AppT
    caller: Caller
    toolsets: frozenset[str] = DEFAULT_TOOLSETS
    emit: Emit | None = None
    client: str | None = None
    count: Callable[[], None] | None = None


# Any: the app is not looked at.
def agent_of(request: Request, call: Call[Any]) -> str:
    """Return the actor of a call: `agent:` and the client's name, reduced to word characters.

    A call that a person makes by hand is the user's own, when the key is.
    """
    if request.meta.get(BY_HAND_KEY) is True and call.caller.actor == "user":
        return call.caller.actor
    name = request.client_name or call.client or ""
    plain = re.sub(r"[^\w.-]+", "-", name)[:AGENT_NAME_CHARS_MAX].strip("-")
    if plain:
        return f"agent:{plain}"
    return call.caller.actor if call.caller.actor.startswith("agent:") else DEFAULT_AGENT


def idempotency_of(request: Request, tool_name: str, arguments: JSON) -> Idempotency | None:
    """Return the call's idempotency key with the hash of what is called, None without a key.

    *Raises:* InvalidInput when the key is not a text of sensible length.
    """
    key = request.meta.get(IDEMPOTENCY_KEY)
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= IDEMPOTENCY_KEY_CHARS_MAX:
        raise InvalidInput(
            f"_meta[{IDEMPOTENCY_KEY!r}] must be a text of 1 to {IDEMPOTENCY_KEY_CHARS_MAX} "
            f"characters, not {shown(key)}.",
            field=IDEMPOTENCY_KEY,
        )
    text = canonical_json([tool_name, arguments or {}])
    return Idempotency(key, hashlib.sha256(text.encode("utf-8")).hexdigest())


# Any: whatever app the prompt's handler takes, its arguments are texts.
def prompt_arguments(prompt: Prompt[Any], raw: JSON) -> dict[str, str]:
    """Return the arguments of a prompt.

    *Raises:* InvalidInput for a missing, unknown or non-text argument.
    """
    given: Mapping[str, JSON] = {}
    if isinstance(raw, dict):
        given = raw
    elif raw is not None:
        raise InvalidInput(f"The arguments must be an object, not {shown(raw)}.")
    names = [each.name for each in prompt.arguments]
    arguments: dict[str, str] = {}
    for name, value in given.items():
        if name not in names:
            raise InvalidInput(
                f"Unknown argument {shown(name)}.{did_you_mean(name, names)}",
                hint=f"Valid arguments: {', '.join(names) or 'none'}.",
            )
        if not isinstance(value, str):
            raise InvalidInput(f"Argument {name!r} must be a text, not {shown(value)}.", field=name)
        arguments[name] = value
    for each in prompt.arguments:
        if each.required and each.name not in arguments:
            raise InvalidInput(f"Argument {each.name!r} is required.", field=each.name)
    return arguments


@dataclass(frozen=True, slots=True)
class CompletionQuery:
    """What a client wants completed.

    *Shape:* `kind` is `prompt` or `resource`; `chosen` holds the arguments already filled in.
    """

    kind: str
    target: str
    argument: str
    typed: str
    chosen: Mapping[str, str]


def completion_query(params: Mapping[str, JSON]) -> CompletionQuery:
    """Return the query of `completion/complete`. *Raises:* InvalidInput for any other form."""
    ref, argument = _object(params.get("ref")), _object(params.get("argument"))
    kinds = {"ref/prompt": ("prompt", "name"), "ref/resource": ("resource", "uri")}
    kind, member = kinds.get(str(ref.get("type")), ("", ""))
    target, name, typed = ref.get(member), argument.get("name"), argument.get("value")
    if not (isinstance(target, str) and isinstance(name, str) and isinstance(typed, str)):
        raise InvalidInput(
            "A completion needs a ref ('ref/prompt' with name, 'ref/resource' with uri) and an "
            "argument with name and value.",
        )
    chosen = _object(_object(params.get("context")).get("arguments"))
    texts = {key: value for key, value in chosen.items() if isinstance(value, str)}
    return CompletionQuery(kind, target, name, typed, texts)


def _object(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}
