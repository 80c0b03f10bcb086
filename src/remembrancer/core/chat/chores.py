"""Requests that a chat client makes for itself: a title, tags, the next question to suggest.

They quote a conversation that is known already, so they are given no memory and leave none. Known
by the words with which the clients' own prompts begin; a prompt that a person changed is not. Any
ring may import it.
*Source:* the default prompts of Open WebUI, LibreChat, Chatbox, Cherry Studio, NextChat, LobeChat
and Claude Code.
"""

from __future__ import annotations

from typing import Final

_MESSAGES: Final = (
    "provide a concise, 5-word-or-less title for the conversation",
    "analyze this conversation and provide:",
    "based on the chat history, give this conversation a name",
    "please write a 5-10 word title for the following conversation",
    "please generate a four to five word title summarizing our conversation",
    "critical: respond with text only. do not call any tools.",
    "your task is to create a detailed summary of",
    "your task is to reflect the speaker's likely facial expression",
    "使用四到五个字直接返回这句话的简要主题",
    "总结给出的会话",
)
"""How a user's message of that kind begins."""

_INSTRUCTIONS: Final = (
    "analyze if this message indicates a new conversation topic",
    "总结给出的会话",
    "# 核心指令\n你需要总结给出的会话",
    "你是一名擅长会话的助理，你需要将用户的会话总结为",
    "you are a professional conversation summarizer. generate a concise title",
)
"""How the instructions of such a request begin."""

_LAST_INSTRUCTIONS: Final = (
    "summarize the discussion briefly in 200 words or less to use as a prompt",
    "简要总结一下对话内容，用作后续的上下文提示",
)
"""How the last line of the instructions begins where they follow a conversation."""

_TOOLS: Final = "available tools:"
_TOOLS_PART: Final = "your task is to choose and return the correct tool"
"""Open WebUI's question which tool to call, where a model is not asked with tools itself."""

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
    told = instructions.strip().lower()
    last = told.rpartition("\n")[2]
    return (
        said.startswith(_MESSAGES)
        or told.startswith(_INSTRUCTIONS)
        or last.startswith(_LAST_INSTRUCTIONS)
        or (told.startswith(_TOOLS) and _TOOLS_PART in told)
    )
