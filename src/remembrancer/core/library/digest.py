"""The digest: one short rolling summary of a namespace; every version is in the ledger.

Its record has one field. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.core import limits
from remembrancer.core.ledger.changes import changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.library.words import check_length
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON


def set_digest(present: Mapping[str, JSON], content: str) -> Draft | None:
    """Draft another digest, an empty one when there is no text; None when nothing changes.

    *Raises:* LimitExceeded: a digest that is too long is refused on every path, never cut.
    """
    content = clean(content).strip()
    check_length(content, field="content", chars_max=limits.DIGEST_CHARS_MAX)
    content = redact(content)
    check_length(content, field="content", chars_max=limits.DIGEST_CHARS_MAX)
    changes = changes_between(present, {"content": content or None})
    return Draft("DigestSet", changes) if changes else None
