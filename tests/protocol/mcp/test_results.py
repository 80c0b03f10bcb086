"""Content blocks and schemas whose every form no tool of the sample uses."""

from __future__ import annotations

from remembrancer.core.values import JSON
from remembrancer.mcp.results import audio_block, image_block, resource_block
from remembrancer.mcp.schema import open_top


def test_blocks_carry_bytes_in_base64_and_text_as_it_is() -> None:
    assert image_block(b"\x00", mime_type="image/png") == {
        "type": "image",
        "data": "AA==",
        "mimeType": "image/png",
    }
    assert audio_block(b"", mime_type="audio/wav")["data"] == ""
    assert resource_block("memo://a", "文", mime_type="text/plain") == {
        "type": "resource",
        "resource": {"uri": "memo://a", "mimeType": "text/plain", "text": "文"},
    }
    assert resource_block("memo://a", b"\x00", mime_type="image/png")["resource"] == {
        "uri": "memo://a",
        "mimeType": "image/png",
        "blob": "AA==",
    }


def test_schema_without_its_top_requirements_keeps_the_rest() -> None:
    schema: dict[str, JSON] = {
        "type": "object",
        "required": ["a"],
        "additionalProperties": False,
        "title": "T",
    }
    assert open_top(schema) == {"type": "object", "title": "T"}
