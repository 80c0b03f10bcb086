"""Reads the form that an upload of a Worker is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from email import policy
from email.parser import BytesParser
from typing import Any


@dataclass(frozen=True, slots=True)
class Upload:
    """What was sent: the metadata with the bindings, and every module by its name."""

    metadata: dict[str, Any]
    modules: dict[str, bytes]
    types: dict[str, str]
    """The media type of each module."""


def read_upload(content_type: str, body: bytes) -> Upload:
    """Takes a form apart."""
    head = f"Content-Type: {content_type}\r\nMIME-Version: 1.0\r\n\r\n".encode()
    message = BytesParser(policy=policy.HTTP).parsebytes(head + body)
    metadata: dict[str, Any] = {}
    modules: dict[str, bytes] = {}
    types: dict[str, str] = {}
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        name = part.get_param("name", header="content-disposition")
        if name == "metadata":
            metadata = json.loads(content)
        else:
            file = str(part.get_filename() or name)
            modules[file] = content
            types[file] = part.get_content_type()
    return Upload(metadata, modules, types)
