"""A chat completion request as a request of Anthropic's Messages API.

Turns are put together in `anthropic_turns`, marks for the cache in `cache_marks`; here are the
parameters, and what each model refuses of them. Any ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from remembrancer.core.chat.answer_schema import closed_schema
from remembrancer.core.chat.anthropic_content import Note, Notes, text_block
from remembrancer.core.chat.anthropic_thinking import ThinkingWish, put_thinking
from remembrancer.core.chat.anthropic_turns import Turns
from remembrancer.core.chat.cache_marks import CacheOptions, Ttl, place_marks, sort_tools
from remembrancer.core.chat.claude_models import ClaudeModel, claude_model
from remembrancer.core.chat.inject import with_memory_apart
from remembrancer.core.chat.request import parse_chat_request, wishes_beyond
from remembrancer.core.chat.shapes import Body, object_of, objects_of, string_of, write_json

DEFAULT_TOKENS_MAX: Final = 8_192
"""Tokens of an answer when the client names no limit; the API wants one. Our choice: long enough
for an essay, taken by every model since 3.5."""

_NATIVE: Final = (
    "cache_control",
    "container",
    "context_management",
    "diagnostics",
    "inference_geo",
    "mcp_servers",
    "speed",
    "top_k",
)
"""Fields of the Messages API that a client may send beside those of Chat Completions."""

_READ: Final = frozenset(
    """messages model max_tokens max_completion_tokens stream stream_options stop temperature top_p
    tools tool_choice parallel_tool_calls functions function_call response_format reasoning_effort
    reasoning thinking output_config metadata service_tier""".split()
)
"""Fields that are translated here or in `anthropic_thinking`."""

JSON_ONLY: Final = "Answer with one JSON object and nothing else."
"""The instruction in place of `json_object`, which the API does not know."""

JSON_SCHEMA: Final = "Answer with JSON and nothing else. It must match this JSON schema:"
"""The same with a schema, for models without structured outputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicOptions:
    """The settings of Claude's upstream.

    *Shape:* `thinking_budget` and `default_max_tokens` in tokens, `rolling_window` in blocks;
    `kept_thinking` maps the id of a tool call to the thinking blocks that came before it;
    `has_memory` when blocks at the end of users' messages are ours, and nobody else's.
    """

    cache_enabled: bool = True
    cache_ttl: Ttl = "5m"
    auto_cache: bool = False
    rolling_cache: bool = True
    rolling_window: int = 20
    cache_user_id: str = ""
    thinking_enabled: bool = False
    thinking_budget: int = 1_024
    default_max_tokens: int = DEFAULT_TOKENS_MAX
    kept_thinking: Mapping[str, Sequence[Body]] = field(default_factory=dict)
    has_memory: bool = False

    @property
    def cache(self) -> CacheOptions:
        """The part of them that marks need."""
        return CacheOptions(
            enabled=self.cache_enabled,
            ttl=self.cache_ttl,
            auto=self.auto_cache,
            rolling=self.rolling_cache,
            window=self.rolling_window,
        )


@dataclass(frozen=True, slots=True)
class Translated:
    """A translated request, and what of it was left out or changed."""

    body: Body
    notes: tuple[Note, ...]


def to_anthropic(body: Body, *, model: str, options: AnthropicOptions) -> Translated:
    """Return the request in the form of the Messages API, for the model of that name.

    *Promise:* `body` is not changed; the same request gives the same bytes; every field that the
    model would refuse is left out or replaced, and named in the notes.
    *Raises:* InvalidInput: the request has no readable messages.
    """
    request = parse_chat_request(body)
    notes, traits = Notes(), claude_model(model)
    turns = Turns(traits, notes, options.kept_thinking)
    turns.add_all(request.messages)
    result: Body = {"model": model, "max_tokens": 0}
    system = turns.system + _answer_form(body, traits, notes, result)
    if tools := _tools(body, traits, notes):
        result["tools"] = sort_tools(tools)
        choice = _tool_choice(body, notes)
        if choice is not None:
            result["tool_choice"] = choice
    if system:
        result["system"] = system
    apart = options.has_memory and traits.takes_system_messages
    result["messages"] = with_memory_apart(turns.turns) if apart else turns.turns
    wish = ThinkingWish(options.thinking_enabled, options.thinking_budget)
    result["max_tokens"] = _tokens_max(body, options, traits)
    put_thinking(result, body, traits, wish=wish, notes=notes)
    _put_sampling(result, body, traits, notes)
    _put_rest(result, body, options, notes)
    return Translated(place_marks(result, options.cache), tuple(notes.items))


def _tokens_max(body: Body, options: AnthropicOptions, traits: ClaudeModel) -> int:
    for name in ("max_completion_tokens", "max_tokens"):
        value = body.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return min(options.default_max_tokens, traits.output_tokens_max)


# -- tools ---------------------------------------------------------------------------------------


def _tools(body: Body, traits: ClaudeModel, notes: Notes) -> list[Body]:
    tools: list[Body] = []
    for index, tool in enumerate(objects_of(body.get("tools"))):
        function = object_of(tool.get("function"))
        if function:
            mark = tool.get("cache_control") or function.get("cache_control")
            tools.append(_function(function, mark, traits))
        elif "input_schema" in tool or tool.get("type") not in (None, "function", "custom"):
            tools.append({**tool})
        else:
            notes.add(f"tools[{index}]", "only functions with a JSON schema are taken")
    tools += [_function(function, None, traits) for function in objects_of(body.get("functions"))]
    return tools


def _function(function: Body, mark: object, traits: ClaudeModel) -> Body:
    tool: Body = {"name": string_of(function.get("name"))}
    if description := string_of(function.get("description")):
        tool["description"] = description
    schema = object_of(function.get("parameters"))
    tool["input_schema"] = {"type": "object", "properties": {}, **schema}
    if function.get("strict") is True and traits.takes_schema:
        tool["strict"] = True
        tool["input_schema"] = closed_schema(object_of(tool["input_schema"]))
    if isinstance(mark, dict):
        tool["cache_control"] = mark
    return tool


def _tool_choice(body: Body, notes: Notes) -> Body | None:
    given = body.get("tool_choice", body.get("function_call"))
    named = object_of(given)
    if allowed := object_of(named.get("allowed_tools")):
        notes.add("tool_choice", "the choice among some of the tools becomes one among all")
        given = allowed.get("mode")
    name = object_of(named.get("function")).get("name") or named.get("name")
    choice: Body | None = None
    if isinstance(given, str):
        kinds = {"auto": "auto", "required": "any", "any": "any", "none": "none"}
        choice = {"type": kinds[given]} if given in kinds else None
    elif name:
        choice = {"type": "tool", "name": name}
    elif named.get("type") in ("auto", "any", "none"):
        choice = {**named}
    if body.get("parallel_tool_calls") is False:
        choice = choice or {"type": "auto"}
        if choice["type"] != "none":
            choice["disable_parallel_tool_use"] = True
    return choice


# -- the form of the answer ----------------------------------------------------------------------


def _answer_form(body: Body, traits: ClaudeModel, notes: Notes, result: Body) -> list[Body]:
    """Put the form of the answer into the result, or return the instruction that stands for it."""
    form = object_of(body.get("response_format"))
    schema = object_of(object_of(form.get("json_schema")).get("schema"))
    if form.get("type") == "json_object" or (form.get("type") == "json_schema" and not schema):
        notes.add("response_format", "JSON is asked for in words")
        return [text_block(JSON_ONLY)]
    if form.get("type") != "json_schema":
        return []
    if not traits.takes_schema:
        notes.add("response_format", "this model takes no schema; it is told in words")
        return [text_block(f"{JSON_SCHEMA}\n{write_json(schema)}")]
    result["output_config"] = {"format": {"type": "json_schema", "schema": closed_schema(schema)}}
    return []


# -- the rest ------------------------------------------------------------------------------------


def _put_sampling(result: Body, body: Body, traits: ClaudeModel, notes: Notes) -> None:
    given = {
        name: body[name] for name in ("temperature", "top_p", "top_k") if body.get(name) is not None
    }
    if object_of(result.get("thinking")).get("type") in ("enabled", "adaptive"):
        reason = "thinking goes with the model's own sampling"
    else:
        reason = "this model samples in its own way"
    if traits.sampling == "none" or "thinking" in result:
        for name in given:
            notes.add(name, reason)
        return
    if traits.sampling == "one" and "temperature" in given and "top_p" in given:
        notes.add("top_p", "this model takes temperature or top_p, not both")
        del given["top_p"]
    temperature = given.get("temperature")
    if isinstance(temperature, int | float) and temperature > 1:
        notes.add("temperature", "this model takes at most 1")
        given["temperature"] = 1
    result.update(given)


def _put_rest(result: Body, body: Body, options: AnthropicOptions, notes: Notes) -> None:
    stop = body.get("stop")
    stops = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    kept = [text for text in stops if isinstance(text, str) and text.strip()]
    if len(kept) < len(stops):
        notes.add("stop", "a stop sequence of white space alone is not taken")
    if kept:
        result["stop_sequences"] = kept
    user_id = options.cache_user_id or object_of(body.get("metadata")).get("user_id")
    if isinstance(user_id, str) and user_id:
        result["metadata"] = {"user_id": user_id}
    tier = {"auto": "auto", "default": "standard_only", "standard_only": "standard_only"}
    if string_of(body.get("service_tier")) in tier:
        result["service_tier"] = tier[string_of(body["service_tier"])]
    if body.get("stream") is True:
        result["stream"] = True
    for name in _NATIVE:
        if body.get(name) is not None and name != "top_k":
            result[name] = body[name]
    for name in wishes_beyond(body, {*_READ, *_NATIVE}):
        notes.add(name, "the Messages API has nothing like it")
