"""Use case of storing chat messages: each once, all of a call or none.

What a user's message asks to be remembered is saved in the same batch; other facts are not
distilled from them here: that is the work of the jobs.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.memories.remember import plan_wishes, wishes_of
from remembrancer.app.state import App
from remembrancer.core.chat.envelopes import without_envelope
from remembrancer.core.messages import Message, check_messages, check_place, client_hashes
from remembrancer.core.values import Caller
from remembrancer.store import messages as store
from remembrancer.store.messages import NewMessage


async def ingest_messages(
    app: App,
    caller: Caller,
    messages: Sequence[Message],
    *,
    conversation_id: str | None = None,
    source: str | None = None,
) -> Answer:
    """Store messages in their order; one that is sent again soon after is the same message.

    *Shape:* `{"conversation_id", "message_ids", "stored", "repeated", "saved", "deferred"}`, an id
    for each message as sent, and for each statement that a new one of a user's asks to be
    remembered `{"id", "content", "outcome"}`, but for those that are left to extraction; without a
    `conversation_id` they belong to the namespace's endless conversation.
    *Raises:* InvalidInput naming the message and its unknown role, LimitExceeded.
    *Promise:* two round trips, and two more for statements to remember; all or none.
    """
    checked = check_messages(messages)
    conversation = f"{caller.namespace}:default"
    if conversation_id is not None:
        conversation = check_place(conversation_id, field="conversation_id")
    origin = None if source is None else check_place(source, field="source")

    async def decide() -> Plan:
        now_ms = app.runtime.now_ms()
        hashes = client_hashes(checked, conversation_id=conversation, now_ms=now_ms)
        wanted = [one for pair in hashes for one in pair]
        [outcome] = await app.sql.read([store.known_statement(caller.namespace, wanted)])
        known = store.known_of(outcome.rows)
        ids: list[str] = []
        new: list[NewMessage] = []
        for message, (hash_, earlier) in zip(checked, hashes, strict=True):
            id_ = known.get(hash_) or known.get(earlier)
            if id_ is None:
                id_ = app.runtime.new_id("msg")
                new.append(NewMessage(id_, message.role, message.content, hash_))
            ids.append(id_)
        said = [(one.id, without_envelope(one.content)) for one in new if one.role == "user"]
        wishes = wishes_of(said)
        remembering = await plan_wishes(app, caller, wishes)
        answer: Answer = {
            "conversation_id": conversation,
            "message_ids": [*ids],
            "stored": len(new),
            "repeated": len(ids) - len(new),
            **remembering.answer,
        }
        if not new:
            return Plan(answer, now_ms)
        statement = store.store_statement(
            caller.namespace, new, conversation_id=conversation, source=origin, at_ms=now_ms
        )
        return Plan(
            answer,
            remembering.at_ms,
            edits=remembering.edits,
            extra=[statement, *remembering.extra],
        )

    return await write(app, caller, decide)
