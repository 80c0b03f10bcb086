"""Memory put into a conversation as marked data, where the prompt cache does not notice.

The boot pack stands in the stable prefix, after the client's own instructions; what one message
recalled stands at the end of that user's turn, and there stays through the whole tool loop. The
element is made in `wrapping` and taken out again in `echo`. Any ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.chat.claude_models import claude_model
from remembrancer.core.chat.echo import strip_injected, strip_injected_messages
from remembrancer.core.chat.envelopes import without_envelope
from remembrancer.core.chat.request import SYSTEM_ROLES, last_user_index, text_of
from remembrancer.core.chat.shapes import Body, objects_of, string_of
from remembrancer.core.chat.volatile import split_volatile
from remembrancer.core.chat.wrapping import append_block, is_block, language_of, split_block, wrap

__all__ = [
    "inject_boot",
    "inject_boot_anthropic",
    "inject_patch",
    "inject_patch_anthropic",
    "mark_patch",
    "move_volatile",
    "move_volatile_anthropic",
    "place_block",
    "place_block_anthropic",
    "split_volatile",
    "strip_injected",
    "strip_injected_messages",
    "user_turn_indexes",
    "with_memory_apart",
]


def mark_patch(
    patch_text: str, *, recall_id: str = "", volatile: str = "", message: str = ""
) -> str:
    """Return the block of one turn: the client's volatile text, then what was recalled.

    *Shape:* '' when there is neither; the preface is in the language of `message`, or else of
    the patch. It is what a caller keeps, to put the same bytes into every request of the loop.
    """
    language = language_of(message) if message.strip() else None
    context = wrap("context", volatile, language=language)
    return append_block(context, wrap("memory", patch_text, block_id=recall_id, language=language))


def user_turn_indexes(messages: Sequence[Body]) -> list[int]:
    """Return the indexes of messages with words of the user, oldest first; either vendor's form.

    A message that holds nothing but tool results, and what a client adds to them, is part of the
    turn before it.
    """
    return [
        index
        for index, message in enumerate(messages)
        if message.get("role") == "user" and not _is_result_only(message.get("content"))
    ]


def inject_patch(
    messages: Sequence[Body], patch_text: str, *, recall_id: str = "", volatile: str = ""
) -> list[Body]:
    """Return the messages with a patch at the end of the current user's turn.

    *Shape:* a new list; only that message is new. Without a user's message, or without anything
    to put in, the messages are as they were.
    *Promise:* the place is the same through a tool loop; `strip_injected_messages` undoes it.
    """
    at = _current_turn(messages)
    words = text_of(messages[at].get("content")) if at is not None else ""
    block = mark_patch(patch_text, recall_id=recall_id, volatile=volatile, message=words)
    return place_block(messages, block)


def place_block(messages: Sequence[Body], block: str, *, at: int | None = None) -> list[Body]:
    """Return the messages with a marked block at the end of the user's message `at`, or the last.

    It replays an earlier turn's block as well, so that what was sent once stays in the prefix.
    """
    result = list(messages)
    at = _current_turn(messages) if at is None else at
    if not block or at is None or not 0 <= at < len(result):
        return result
    content = result[at].get("content")
    result[at] = {**result[at], "content": _with_block(content, block)}
    return result


def inject_boot(messages: Sequence[Body], boot_text: str, *, block_id: str = "") -> list[Body]:
    """Return the messages with the boot pack after the client's leading instructions.

    *Shape:* at the end of the last leading system or developer message, since some upstreams take
    one only; a system message of its own when there is none.
    *Promise:* the same text gives the same bytes at the same place.
    """
    result = list(messages)
    block = wrap("boot", boot_text, block_id=block_id)
    if not block:
        return result
    count = _leading_count(messages)
    if not count:
        return [{"role": "system", "content": block}, *result]
    last = result[count - 1]
    result[count - 1] = {**last, "content": _with_block(last.get("content"), block)}
    return result


def move_volatile(messages: Sequence[Body]) -> tuple[list[Body], str]:
    """Return the messages with stable leading instructions, and what of them was volatile.

    The second half belongs into the patch, as `volatile`.
    """
    result: list[Body] = []
    moved: list[str] = []
    leading = _leading_count(messages)
    for message in messages[:leading]:
        content = message.get("content")
        stable = _stable(content, moved)
        if stable is content:
            result.append(message)
        elif stable and (not isinstance(stable, str) or stable.strip()):
            result.append({**message, "content": stable})
    return [*result, *messages[leading:]], "\n".join(moved)


# -- the Messages API ----------------------------------------------------------------------------


def inject_patch_anthropic(
    body: Body, patch: str, *, recall_id: str = "", volatile: str = ""
) -> Body:
    """Return a body of the Messages API with a patch in the current user's turn.

    *Shape:* a copy; where the model takes one, a system message right after the turn, else a text
    block at its end, behind tool results. It carries no mark and stands behind all of them.
    """
    messages = objects_of(body.get("messages"))
    turn = _current_turn(messages)
    words = text_of(messages[turn].get("content")) if turn is not None else ""
    block = mark_patch(patch, recall_id=recall_id, volatile=volatile, message=words)
    return place_block_anthropic(body, block)


def place_block_anthropic(body: Body, block: str, *, at: int | None = None) -> Body:
    """Return the body with a marked block at the user's message `at`, or the current turn's."""
    messages = objects_of(body.get("messages"))
    at = _current_turn(messages) if at is None else at
    if not block or at is None or not 0 <= at < len(messages):
        return body
    following = messages[at + 1].get("role") if at + 1 < len(messages) else "assistant"
    takes_system = claude_model(string_of(body.get("model"))).takes_system_messages
    text: Body = {"type": "text", "text": block}
    if takes_system and following == "assistant":
        messages.insert(at + 1, {"role": "system", "content": [text]})
    else:
        blocks = _as_blocks(messages[at].get("content"))
        messages[at] = {**messages[at], "content": [*blocks, text]}
    return {**body, "messages": messages}


def with_memory_apart(messages: Sequence[Body]) -> list[Body]:
    """Return turns of the Messages API whose memory is a system message right after each of them.

    *Shape:* for a model that takes one, and where it may stand: behind words of the user, before
    the assistant's or last. Every block at the end of a user's message must be ours: it gains the
    weight of an instruction.
    *Promise:* where one stands depends on its turn alone, so the prefix of the next request is the
    same.
    """
    result: list[Body] = []
    for index, message in enumerate(messages):
        is_last = index + 1 == len(messages)
        stands_well = is_last or messages[index + 1].get("role") == "assistant"
        blocks = _as_blocks(message.get("content"))
        last = blocks[-1] if blocks else {}
        own, memory = split_block(string_of(last.get("text")))
        kept = [*blocks[:-1], {**last, "text": own}] if own else blocks[:-1]
        if message.get("role") != "user" or not stands_well or not memory or not kept:
            result.append(message)
            continue
        if "cache_control" in last:  # the client's mark stays on what the client said
            kept[-1] = {"cache_control": last["cache_control"], **kept[-1]}
        result.append({**message, "content": kept})
        result.append({"role": "system", "content": [{"type": "text", "text": memory}]})
    return result


def inject_boot_anthropic(body: Body, boot_text: str, *, block_id: str = "") -> Body:
    """Return the body with the boot pack as the last block of its system text."""
    block = wrap("boot", boot_text, block_id=block_id)
    if not block:
        return body
    system = [*_as_blocks(body.get("system")), {"type": "text", "text": block}]
    return {**body, "system": system}


def move_volatile_anthropic(body: Body) -> tuple[Body, str]:
    """Return the body with a stable system text, and what of it was volatile."""
    moved: list[str] = []
    system = body.get("system")
    stable = _stable(system, moved)
    if stable is system:
        return body, ""
    if stable:
        return {**body, "system": stable}, "\n".join(moved)
    return {key: value for key, value in body.items() if key != "system"}, "\n".join(moved)


# -- parts ---------------------------------------------------------------------------------------


def _current_turn(messages: Sequence[Body]) -> int | None:
    turns = user_turn_indexes(messages)
    return turns[-1] if turns else last_user_index(messages)


def _leading_count(messages: Sequence[Body]) -> int:
    for index, message in enumerate(messages):
        if message.get("role") not in SYSTEM_ROLES:
            return index
    return len(messages)


def _is_result_only(content: object) -> bool:
    blocks = objects_of(content)
    return bool(blocks) and all(
        block.get("type") == "tool_result" or _is_added(string_of(block.get("text")))
        for block in blocks
    )


def _is_added(text: str) -> bool:
    """Return whether a text is ours, or one that a client puts beside the user's words."""
    return is_block(text) or (bool(text.strip()) and not without_envelope(text))


def _with_block(content: object, block: str) -> object:
    if isinstance(content, list):
        return [*content, {"type": "text", "text": block}]
    return append_block(string_of(content), block)


def _as_blocks(content: object) -> list[Body]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return objects_of(content)


def _stable(content: object, moved: list[str]) -> object:
    """The content without what is volatile, which is added to `moved`; the same object if none."""
    if isinstance(content, str):
        stable, volatile = split_volatile(content)
        if not volatile:
            return content
        moved.append(volatile)
        return stable
    if not isinstance(content, list):
        return content
    parts: list[object] = []
    count = len(moved)
    for part in content:
        text = part.get("text") if isinstance(part, dict) else None
        if not isinstance(text, str):
            parts.append(part)
            continue
        rest = _stable(text, moved)
        if rest is text:
            parts.append(part)
        elif string_of(rest).strip():
            parts.append({**part, "text": rest})
        elif "cache_control" in part and parts and isinstance(parts[-1], dict):
            # The mark of a part that is gone stays where the prefix now ends.
            parts[-1] = {"cache_control": part["cache_control"], **parts[-1]}
    return parts if len(moved) > count else content
