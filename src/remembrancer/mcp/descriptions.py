"""How lists show what the registry holds: tools with their schemas, prompts, resources.

No lookups and no paging here (`registry.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.schema import input_schema, open_top, output_schema

if TYPE_CHECKING:
    from remembrancer.mcp.registry import AppT, Prompt, Resource, ResourceTemplate, Tool


def described_tool(tool: Tool[AppT, Any]) -> Message:  # Any: each has its own arguments
    """Return a tool as a list shows it, with its schemas."""
    hints: Message = {"readOnlyHint": tool.read_only}
    if not tool.read_only:
        hints |= {"destructiveHint": tool.destructive, "idempotentHint": tool.idempotent}
    described: Message = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": dict(tool.published or input_schema(tool.arguments)),
        "annotations": {**hints, "openWorldHint": False},
    }
    if tool.result is not None:
        described["outputSchema"] = (
            output_schema(tool.result) if isinstance(tool.result, type) else open_top(tool.result)
        )
    return described


def described_prompt(prompt: Prompt[AppT]) -> Message:
    """Return a prompt as a list shows it."""
    described: Message = {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
    }
    if prompt.arguments:
        described["arguments"] = [
            {"name": each.name, "description": each.description, "required": each.required}
            for each in prompt.arguments
        ]
    return described


def resource_text(resource: Resource[AppT] | ResourceTemplate[AppT]) -> Message:
    """Return what lists show of a resource or a template beside its address."""
    described: Message = {
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
    }
    if resource.annotations:
        described["annotations"] = dict(resource.annotations)
    return described
