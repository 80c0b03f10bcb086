"""What the conformance suite wants a server to offer, on our own kernel.

Names and texts are the suite's, not ours: @modelcontextprotocol/conformance describes each one.
Nothing of the product is in here.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import ConfigDict, Field

from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON, Caller
from remembrancer.mcp.arguments import Arguments, NoArguments
from remembrancer.mcp.dispatch import McpServer
from remembrancer.mcp.exchange import Exchange, InputRequired, elicitation
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.registry import (
    Completion,
    Interactive,
    Prompt,
    PromptArgument,
    Registry,
    Resource,
    ResourceTemplate,
    Tool,
)
from remembrancer.mcp.results import (
    Reply,
    audio_block,
    image_block,
    resource_block,
    text_block,
    user_message,
)

PNG: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFAAH/q842iQAAAABJRU5ErkJg"
    "gg=="
)
WAV: Final = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
PAUSE_S: Final = 0.02


async def _text(app: None, caller: Caller, arguments: NoArguments) -> Reply:
    return Reply([text_block("This is a simple text response for testing.")])


async def _image(app: None, caller: Caller, arguments: NoArguments) -> Reply:
    return Reply([image_block(PNG, mime_type="image/png")])


async def _audio(app: None, caller: Caller, arguments: NoArguments) -> Reply:
    return Reply([audio_block(WAV, mime_type="audio/wav")])


async def _embedded(app: None, caller: Caller, arguments: NoArguments) -> Reply:
    body = "This is an embedded resource content."
    return Reply([resource_block("test://embedded-resource", body, mime_type="text/plain")])


async def _mixed(app: None, caller: Caller, arguments: NoArguments) -> Reply:
    return Reply(
        [
            text_block("Multiple content types test:"),
            image_block(PNG, mime_type="image/png"),
            resource_block(
                "test://mixed-content-resource", '{"test":"data"}', mime_type="application/json"
            ),
        ]
    )


async def _failing(app: None, caller: Caller, arguments: NoArguments) -> Reply:
    raise InvalidInput("This tool intentionally returns an error for testing")


async def _logging(app: None, exchange: Exchange, arguments: NoArguments) -> Reply:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await exchange.log("info", text)
        await asyncio.sleep(PAUSE_S)
    return Reply([text_block("Logged.")])


async def _progress(app: None, exchange: Exchange, arguments: NoArguments) -> Reply:
    for done in (0, 50, 100):
        await exchange.progress(done, 100)
        await asyncio.sleep(PAUSE_S)
    return Reply([text_block("Done.")])


async def _needs_sampling(
    app: None, exchange: Exchange, arguments: NoArguments
) -> Reply | InputRequired:
    return InputRequired({"question": _sampling("Say something", max_tokens=10)})


async def _streaming(
    app: None, exchange: Exchange, arguments: NoArguments
) -> Reply | InputRequired:
    return InputRequired({"confirm": elicitation("Go on?", {"ok": {"type": "boolean"}})})


async def _ask_name(app: None, exchange: Exchange, arguments: NoArguments) -> Reply | InputRequired:
    answer = exchange.accepted("user_name")
    if answer is None:
        return InputRequired({"user_name": _name_question("What is your name?")})
    return Reply([text_block(f"Hello, {answer.get('name')}!")])


async def _ask_model(
    app: None, exchange: Exchange, arguments: NoArguments
) -> Reply | InputRequired:
    answer = exchange.answers.get("capital_question")
    if answer is None:
        question = _sampling("What is the capital of France?", max_tokens=100)
        return InputRequired({"capital_question": question})
    return Reply([text_block(str(answer.get("content")))])


async def _ask_roots(
    app: None, exchange: Exchange, arguments: NoArguments
) -> Reply | InputRequired:
    answer = exchange.answers.get("client_roots")
    if answer is None:
        return InputRequired({"client_roots": {"method": "roots/list", "params": {}}})
    return Reply([text_block(f"Roots: {answer.get('roots')}")])


async def _ask_with_state(
    app: None, exchange: Exchange, arguments: NoArguments
) -> Reply | InputRequired:
    if exchange.accepted("confirm") is None or exchange.state != {"asked": "confirm"}:
        question = elicitation("Please confirm", {"ok": {"type": "boolean"}})
        return InputRequired({"confirm": question}, {"asked": "confirm"})
    return Reply([text_block("state-ok")])


async def _ask_all(app: None, exchange: Exchange, arguments: NoArguments) -> Reply | InputRequired:
    questions: dict[str, Message] = {
        "user_name": _name_question("What is your name?"),
        "greeting": _sampling("Generate a greeting", max_tokens=50),
        "client_roots": {"method": "roots/list", "params": {}},
    }
    if not questions.keys() <= exchange.answers.keys():
        return InputRequired(questions, {"asked": "all"})
    return Reply([text_block("All answered.")])


async def _ask_twice(
    app: None, exchange: Exchange, arguments: NoArguments
) -> Reply | InputRequired:
    name = exchange.accepted("step1")
    if isinstance(exchange.state, dict) and "name" in exchange.state:
        color = exchange.accepted("step2")
        if color is not None:
            text = f"{exchange.state['name']} likes {color.get('color')}."
            return Reply([text_block(text)])
    if name is None:
        question = _name_question("Step 1: What is your name?")
        return InputRequired({"step1": question}, {"round": 1})
    question = elicitation("Step 2: What is your favorite color?", {"color": {"type": "string"}})
    return InputRequired({"step2": question}, {"round": 2, "name": name.get("name")})


async def _ask_what_it_can(
    app: None, exchange: Exchange, arguments: NoArguments
) -> Reply | InputRequired:
    questions: dict[str, Message] = {}
    if exchange.can_ask("elicitation/create"):
        questions["user_name"] = _name_question("What is your name?")
    if exchange.can_ask("sampling/createMessage"):
        questions["greeting"] = _sampling("Generate a greeting", max_tokens=50)
    if questions and not questions.keys() <= exchange.answers.keys():
        return InputRequired(questions)
    return Reply([text_block("Nothing to ask.")])


class RoutedArguments(Arguments):
    """Arguments that a client repeats in headers."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    region: str = Field(json_schema_extra={"x-mcp-header": "Region"})
    priority: int | None = Field(default=None, json_schema_extra={"x-mcp-header": "Priority"})
    verbose: bool | None = Field(default=None, json_schema_extra={"x-mcp-header": "Verbose"})


async def _routed(app: None, caller: Caller, arguments: RoutedArguments) -> Mapping[str, object]:
    return arguments.model_dump()


class AddressArguments(Arguments):
    """What the tool with the elaborate schema takes."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    name: str | None = None


async def _address(app: None, caller: Caller, arguments: AddressArguments) -> Reply:
    return Reply([text_block(f"Called with {arguments.name!r}.")])


ELABORATE: Final[Mapping[str, JSON]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _sampling(text: str, *, max_tokens: int) -> Message:
    messages: list[JSON] = [{"role": "user", "content": text_block(text)}]
    return {
        "method": "sampling/createMessage",
        "params": {"messages": messages, "maxTokens": max_tokens},
    }


def _name_question(message: str) -> Message:
    return elicitation(message, {"name": {"type": "string"}})


async def _static_text(app: None, caller: Caller) -> str:
    return "This is the content of the static text resource."


async def _static_binary(app: None, caller: Caller) -> bytes:
    return PNG


async def _watched(app: None, caller: Caller) -> str:
    return "Watched resource content."


async def _templated(app: None, caller: Caller, parameters: Mapping[str, str]) -> str:
    found = parameters["id"]
    return f'{{"id":"{found}","templateTest":true,"data":"Data for ID: {found}"}}'


async def _simple_prompt(app: None, caller: Caller, arguments: Mapping[str, str]) -> str:
    return "This is a simple prompt for testing."


async def _argument_prompt(app: None, caller: Caller, arguments: Mapping[str, str]) -> str:
    return f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"


async def _resource_prompt(
    app: None, caller: Caller, arguments: Mapping[str, str]
) -> Sequence[Message]:
    body = "Embedded resource content for testing."
    embedded = resource_block(arguments["resourceUri"], body, mime_type="text/plain")
    return [
        user_message(embedded),
        user_message(text_block("Please process the embedded resource above.")),
    ]


async def _image_prompt(
    app: None, caller: Caller, arguments: Mapping[str, str]
) -> Sequence[Message]:
    return [
        user_message(image_block(PNG, mime_type="image/png")),
        user_message(text_block("Please analyze the image above.")),
    ]


async def _asking_prompt(
    app: None, exchange: Exchange, arguments: Mapping[str, str]
) -> str | InputRequired:
    answer = exchange.accepted("user_context")
    if answer is None:
        question = elicitation(
            "What context should the prompt use?", {"context": {"type": "string"}}
        )
        return InputRequired({"user_context": question})
    return f"Context: {answer.get('context')}"


async def _complete(
    app: None, caller: Caller, typed: str, chosen: Mapping[str, str]
) -> Sequence[str]:
    return [value for value in ("test", "testValue1", "tester") if value.startswith(typed)]


# Any: a handler of either kind, with whatever arguments.
def _tool(name: str, handler: Any, arguments: type[Arguments] = NoArguments) -> Tool[None, Any]:
    return Tool(
        name=name,
        title=name.replace("_", " "),
        description=f"Fixture {name}.",
        handler=handler,
        arguments=arguments,
        read_only=True,
    )


def fixture_tools() -> list[Tool[None, Any]]:
    """The suite's tools."""
    plain = {
        "test_simple_text": _text,
        "test_image_content": _image,
        "test_audio_content": _audio,
        "test_embedded_resource": _embedded,
        "test_multiple_content_types": _mixed,
        "test_error_handling": _failing,
    }
    asking: dict[str, Any] = {
        "test_tool_with_logging": _logging,
        "test_tool_with_progress": _progress,
        "test_logging_tool": _logging,
        "test_missing_capability": _needs_sampling,
        "test_streaming_elicitation": _streaming,
        "test_input_required_result_elicitation": _ask_name,
        "test_input_required_result_sampling": _ask_model,
        "test_input_required_result_list_roots": _ask_roots,
        "test_input_required_result_request_state": _ask_with_state,
        "test_input_required_result_multiple_inputs": _ask_all,
        "test_input_required_result_multi_round": _ask_twice,
        "test_input_required_result_tampered_state": _ask_with_state,
        "test_input_required_result_capabilities": _ask_what_it_can,
    }
    elaborate: Tool[None, AddressArguments] = Tool(
        name="json_schema_2020_12_tool",
        title="Elaborate schema",
        description="Fixture with JSON Schema 2020-12 features.",
        handler=_address,
        arguments=AddressArguments,
        published=ELABORATE,
    )
    return [
        *(_tool(name, handler) for name, handler in plain.items()),
        *(_tool(name, Interactive(handler)) for name, handler in asking.items()),
        replace(_tool("test_x_mcp_header", _routed, RoutedArguments), result=RoutedArguments),
        elaborate,
    ]


def fixture_prompts() -> list[Prompt[None]]:
    """The suite's prompts."""
    arguments = tuple(
        PromptArgument(name, f"{name.title()} of the test", required=True)
        for name in ("arg1", "arg2")
    )
    uri = PromptArgument("resourceUri", "URI of the resource to embed", required=True)
    declared: list[tuple[str, Any, tuple[PromptArgument, ...]]] = [
        ("test_simple_prompt", _simple_prompt, ()),
        ("test_prompt_with_arguments", _argument_prompt, arguments),
        ("test_prompt_with_embedded_resource", _resource_prompt, (uri,)),
        ("test_prompt_with_image", _image_prompt, ()),
        ("test_input_required_result_prompt", Interactive(_asking_prompt), ()),
    ]
    return [
        Prompt(name, name.replace("_", " "), f"Fixture {name}.", handler, takes)
        for name, handler, takes in declared
    ]


def fixture_registry() -> Registry[None]:
    """All fixtures of the suite."""
    return Registry(
        fixture_tools(),
        resources=[
            Resource(
                "test://static-text", "static-text", "Text", "A text.", _static_text, "text/plain"
            ),
            Resource(
                "test://static-binary",
                "static-binary",
                "Image",
                "A PNG.",
                _static_binary,
                "image/png",
            ),
            Resource(
                "test://watched-resource", "watched", "Watched", "A text.", _watched, "text/plain"
            ),
        ],
        templates=[
            ResourceTemplate(
                "test://template/{id}/data",
                "template",
                "Data",
                "Data of an id.",
                _templated,
                "application/json",
            )
        ],
        prompts=fixture_prompts(),
        completions=[
            Completion("prompt", "test_prompt_with_arguments", name, _complete)
            for name in ("arg1", "arg2")
        ],
    )


def fixture_server() -> McpServer[None]:
    """A server that offers the fixtures."""
    return McpServer(
        fixture_registry(),
        name="remembrancer-fixtures",
        version="0.1.0",
        instructions="Fixtures for the conformance suite.",
        state_key=lambda _: b"fixtures only",
    )
