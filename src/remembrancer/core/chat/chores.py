"""Requests that a chat client makes for itself: a title, tags, the next question to suggest.

They quote a conversation that is known already, so they are given no memory and leave none. Known
by the words with which the clients' own prompts begin; a prompt that a person changed is not. Any
ring may import it.
*Source:* the default prompts of Open WebUI, LibreChat, Chatbox, Cherry Studio and Claude Code.
"""

from __future__ import annotations

from typing import Final

_MESSAGES: Final = (
    "provide a concise, 5-word-or-less title for the conversation",
    "analyze this conversation and provide:",
    "based on the chat history, give this conversation a name",
    "please write a 5-10 word title for the following conversation",
    "总结给出的会话",
)
"""How a user's message of that kind begins."""

_INSTRUCTIONS: Final = (
    "analyze if this message indicates a new conversation topic",
    "总结给出的会话",
    "# 核心指令\n你需要总结给出的会话",
)
"""How the instructions of such a request begin."""

_TASK: Final = "### task:"
_TASK_PARTS: Final = ("<chat_history>", "### output:", "### guidelines:")
"""Open WebUI's frame around all of its own requests."""


def is_chore(instructions: str, message: str) -> bool:
    """Return whether a request is a client's own.

    *Shape:* the system text, and the last of what the user says.
    """
    said = message.lstrip().lower()
    if said.startswith(_TASK):
        return any(part in said for part in _TASK_PARTS)
    return said.startswith(_MESSAGES) or instructions.lstrip().lower().startswith(_INSTRUCTIONS)
