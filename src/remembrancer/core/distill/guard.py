"""What can never be a fact: instructions to a model, and texts that are nothing but a secret.

A conversation may hold sentences that want to steer whoever reads them later. They are dropped,
not filed for review. Every ring may import it.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.core.distill.grounding import frame_words
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import fold
from remembrancer.core.text.segment import query_terms

_ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.!?\n]{0,40}"
    r"\b(?:previous|prior|above|earlier|all|any|your|system|these|those)\b[^.!?\n]{0,30}"
    r"\b(?:instructions?|rules?|prompts?|guidelines?|messages?|memor(?:y|ies)|restrictions?)\b"
    r"|(?:^|[\n\"'“‘>\]\-*]|[.!?:]\s)\s*(?:system|assistant|developer|tool|human)\s*(?:message\s*)?:"
    r"|<\s*/?\s*(?:\|?im_(?:start|end)|system|assistant|instructions?|/?s)\b"
    r"|‹\s*/?\s*(?:\|?im_(?:start|end)|system|assistant|instructions?)\b"
    r"|\[\s*/?\s*(?:inst|system)\b"
    r"|\byou (?:are|must) now\b|\bfrom now on,? (?:you|always|never|respond|answer|reply)\b"
    r"|\b(?:act|behave|pretend|respond) as (?:if you|an? (?:ai|unrestricted|evil|dan))\b"
    r"|\b(?:reveal|print|repeat|leak|show)\b[^.!?\n]{0,30}\b(?:system )?prompts?\b"
    r"|\b(?:delete|erase|wipe|retire|archive|remove) (?:all|every|any)\b[^.!?\n]{0,20}\bmemor"
    r"|\b(?:jailbreak|prompt injection|developer mode)\b"
    r"|\b(?:the )?(?:assistant|ai) (?:must|should|shall|has to|needs to)\b"
    r"|\b(?:save|store|remember|record) this as (?:a |an )?(?:memory|fact|rule|instruction)\b"
)
_ORDERS_ZH: Final = re.compile(
    r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|跳过|绕过|繞過|覆盖|覆蓋)[^。！？\n]{0,12}"
    r"(?:指令|指示|规则|規則|提示|要求|设定|設定|系统|系統|限制|记忆|記憶)"
    r"|(?:^|[\n“「>\]\-*]|[。！？]\s*)\s*(?:系统|系統|助手|开发者|開發者|工具)(?:消息|提示|指令)?\s*[::]"
    r"|(?:从现在起|從現在起|从现在开始|從現在開始|现在起|現在起)[,，]?\s*你"
    r"|你现在(?:是|必须|要)|你現在(?:是|必須|要)|你(?:必须|必須|只能|不得)"
    r"|(?:助手|ai|机器人|機器人)(?:必须|必須|应该|應該|应当|應當|不得|只能)"
    r"|(?:删除|刪除|清空|清除|归档|歸檔)(?:所有|全部|一切|掉所有)?的?(?:记忆|記憶)"
    r"|(?:输出|輸出|泄露|洩露|透露|重复|重複|打印)[^。！？\n]{0,10}(?:提示词|提示詞|系统提示|系統提示)"
    r"|越狱|越獄"
)

_MARK: Final = re.compile(r"\[redacted:[a-z_-]+\]")
_LABELS: Final = frozenset(
    """
    user users password passwords passwd passcode pin token tokens key keys api secret secrets
    credential credentials login account connection string private bearer auth code
    """.split()
)
_LABELS_ZH: Final = re.compile(
    "用户|用戶|密码|密碼|口令|令牌|密钥|密鑰|秘钥|秘鑰|账号|帳號|账户|帳戶|凭证|憑證|私钥|私鑰|验证码|"
    "連接字串|连接字符串|连接串|的|是|为|為|我|他|她|叫|有"
)


def is_instruction(text: str) -> bool:
    """Tell whether a text wants to steer a model, in English or Chinese."""
    plain = [fold(part) for part in (text, *text.splitlines())]
    return any(_ORDERS.search(part) or _ORDERS_ZH.search(part) for part in plain)


def without_secret(text: str) -> str | None:
    """Return the text with its secrets redacted; None when nothing else is said in it."""
    safe = redact(text)
    if not _MARK.search(safe):
        return safe
    rest = _LABELS_ZH.sub(" ", _MARK.sub(" ", safe))
    words = {term.text for term in query_terms(rest) if term.kind != "unigram"}
    return safe if words - _LABELS - frame_words() else None
