"""A request of Anthropic's Messages API as a chat completion request, for models that are not
Claude behind the door of its clients.

The reply's half is in `messages_reply`. Fields that have no counterpart are left out: what the
API's own servers do with them, others could not. Any ring may import it.
*Source:* Anthropic, Messages API; OpenAI, Chat Completions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from remembrancer.core.chat.request import text_of
from remembrancer.core.chat.shapes import Body, object_of, objects_of, string_of, write_json
from remembrancer.core.chat.wrapping import append_block

_SAME: Final = ("temperature", "top_p", "stream")
"""Fields of the same name and meaning."""

_EFFORTS: Final = ("low", "medium", "high")
"""Efforts that Chat Completions name. Source: OpenAI's types."""

_CHOICES: Final = {"auto": "auto", "any": "required", "none": "none"}


def to_chat_completion(body: Body, *, model: str) -> Body:
    """Return the request in the form of Chat Completions, for the model of that name.

    *Promise:* `body` is not changed; the same request gives the same bytes; a stream reports its
    usage, which the Messages API always does.
    """
    result: Body = {"model": model, "messages": list(_messages(body))}
    result |= {name: body[name] for name in _SAME if body.get(name) is not None}
    if body.get("max_tokens") is not None:
        result["max_tokens"] = body["max_tokens"]
    if body.get("stop_sequences"):
        result["stop"] = body["stop_sequences"]
    if body.get("stream") is True:
        result["stream_options"] = {"include_usage": True}
    tools = [_tool(tool) for tool in objects_of(body.get("tools")) if "input_schema" in tool]
    if tools:
        result["tools"] = tools
        result |= _tool_choice(object_of(body.get("tool_choice")))
    effort = string_of(object_of(body.get("output_config")).get("effort"))
    if effort in _EFFORTS:
        result["reasoning_effort"] = effort
    form = object_of(object_of(body.get("output_config")).get("format"))
    if form.get("type") == "json_schema":
        schema = {"name": "answer", "schema": object_of(form.get("schema"))}
        result["response_format"] = {"type": "json_schema", "json_schema": schema}
    user_id = object_of(body.get("metadata")).get("user_id")
    if isinstance(user_id, str):
        result["user"] = user_id
    return result


def _messages(body: Body) -> Iterator[Body]:
    system = text_of(body.get("system"))
    if system:
        yield {"role": "system", "content": system}
    for message in objects_of(body.get("messages")):
        content = message.get("content")
        if message.get("role") == "assistant":
            yield _assistant(content)
        elif message.get("role") == "system":
            yield {"role": "system", "content": text_of(content)}
        else:
            yield from _user(content)


def _assistant(content: object) -> Body:
    if isinstance(content, str):
        return {"role": "assistant", "content": content}
    blocks = objects_of(content)
    calls: list[Body] = [
        {
            "id": string_of(block.get("id")),
            "type": "function",
            "function": {
                "name": string_of(block.get("name")),
                "arguments": write_json(object_of(block.get("input"))),
            },
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    text = text_of(content)
    message: Body = {"role": "assistant", "content": text or (None if calls else "")}
    thought = "".join(
        string_of(block.get("thinking")) for block in blocks if block.get("type") == "thinking"
    )
    if thought and calls:  # servers that think want it back with the calls, and only then
        message["reasoning_content"] = thought
    if calls:
        message["tool_calls"] = calls
    return message


def _user(content: object) -> Iterator[Body]:
    """Yield the results of tools, each a message of its own, then what the user says."""
    if isinstance(content, str):
        yield {"role": "user", "content": content}
        return
    parts: list[Body] = []
    for block in objects_of(content):
        if block.get("type") == "tool_result":
            result = block.get("content")
            text = text_of(result)
            if block.get("is_error") is True:
                text = append_block("Error:", text)
            yield {
                "role": "tool",
                "tool_call_id": string_of(block.get("tool_use_id")),
                "content": text,
            }
            # A tool's message holds text alone: its pictures are shown by the user.
            parts += [part for inner in objects_of(result) if (part := _picture(inner))]
        elif block.get("type") == "text":
            parts.append({"type": "text", "text": string_of(block.get("text"))})
        elif part := _picture(block):
            parts.append(part)
    if parts and all(part["type"] == "text" for part in parts):
        yield {"role": "user", "content": "\n\n".join(string_of(part["text"]) for part in parts)}
    elif parts:
        yield {"role": "user", "content": parts}


def _picture(block: Body) -> Body | None:
    source = object_of(block.get("source"))
    if block.get("type") not in ("image", "document"):
        return None
    url = string_of(source.get("url"))
    if source.get("type") == "base64":
        url = f"data:{string_of(source.get('media_type'))};base64,{string_of(source.get('data'))}"
    if source.get("type") == "text":
        return {"type": "text", "text": string_of(source.get("data"))}
    if not url:
        return None
    if block.get("type") == "document":
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url}}


def _tool(tool: Body) -> Body:
    function: Body = {"name": string_of(tool.get("name"))}
    if description := string_of(tool.get("description")):
        function["description"] = description
    function["parameters"] = object_of(tool.get("input_schema"))
    return {"type": "function", "function": function}


def _tool_choice(choice: Body) -> Body:
    kind = string_of(choice.get("type"))
    result: Body = {}
    if kind == "tool":
        function = {"name": string_of(choice.get("name"))}
        result["tool_choice"] = {"type": "function", "function": function}
    elif kind in _CHOICES:
        result["tool_choice"] = _CHOICES[kind]
    if choice.get("disable_parallel_tool_use") is True:
        result["parallel_tool_calls"] = False
    return result
