"""`/admin`: the panel's built files, open to all; they hold nothing private.

What the panel shows it asks of the REST API, with a key that its user types in.
"""

from __future__ import annotations

import hashlib
from typing import Final

from pydantic import ConfigDict

from remembrancer.core.errors import NotFound
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query
from remembrancer.http.route_table import Route

INDEX: Final = "index.html"
"""The page that loads everything else."""

HASHED: Final = "assets/"
"""Where the build puts files whose names hold a hash of their content."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The panel's content policy: its own files, this server's API, and nothing inline."""

UNBUILT: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Remembrancer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<h1>The panel is not built</h1>
<p>Building it takes Node.js 20 or newer. In Remembrancer's folder run
<code>scripts/install</code>, then load this page again.
Everything else works without it: see <a href="/docs">/docs</a>.</p>
<div lang="zh-CN"><h1>管理面板尚未构建</h1>
<p>构建需要 Node.js 20 或更新的版本。请在 Remembrancer 的目录里运行
<code>scripts/install</code>，然后刷新本页。
没有面板，其他功能照常可用：见 <a href="/docs">/docs</a>。</p></div>
</html>
"""
"""What is answered in place of the page where there is no build."""


class LinkQuery(Query):
    """Whatever a link carries, such as what newsletters put there: none of it is read."""

    model_config = ConfigDict(extra="ignore")


async def _index(call: Call[LinkQuery, None]) -> Answer:
    asset = await call.app.assets.read(INDEX) if call.app.assets is not None else None
    if asset is None:
        return Answer(
            UNBUILT,
            status=503,
            media_type="text/html",
            headers={"content-security-policy": POLICY, "cache-control": "no-store"},
        )
    return _answer(call, asset.body, asset.media_type, "no-cache")


async def _file(call: Call[LinkQuery, None]) -> Answer:
    path = call.path["path"]
    asset = None
    if call.app.assets is not None and _is_inside(path) and path != INDEX:
        asset = await call.app.assets.read(path)
    if asset is None:
        raise NotFound(f"the panel has no file {path[:80]!r}", hint="the panel itself is at /admin")
    is_hashed = path.startswith(HASHED)
    caching = "public, max-age=31536000, immutable" if is_hashed else "no-cache"
    return _answer(call, asset.body, asset.media_type, caching)


def _is_inside(path: str) -> bool:
    """Tell whether a path can only name a file below the build's folder."""
    parts = path.split("/")
    return all(part and not part.startswith(".") for part in parts) and not set("\\:\0") & set(path)


def _answer(call: Call[LinkQuery, None], body: bytes, media_type: str, caching: str) -> Answer:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"content-security-policy": POLICY, "cache-control": caching, "etag": etag}
    wanted = call.headers.get("if-none-match", "")
    # Weak ones too: a proxy that compresses marks the tag as weak.
    known = {each.strip().removeprefix("W/") for each in wanted.split(",")}
    if etag in known or known == {"*"}:
        return Answer(status=304, headers=headers)
    return Answer(body, media_type=media_type, headers=headers)


ROUTES: Final = (
    Route(
        method="GET",
        path="/admin",
        aliases=("/memory-admin",),
        name="panel",
        area="panel",
        summary="The panel, a page for people",
        description="Static; what it shows it asks of this API with a key. 503 where it is not "
        "built; the page says how to build it.",
        scope=None,
        query=LinkQuery,
        media_type="text/html",
        statuses=(200, 304, 503),
        handler=_index,
    ),
    Route(
        method="GET",
        path="/admin/{path:path}",
        aliases=("/memory-admin/{path:path}",),
        name="panel_file",
        area="panel",
        summary="A file of the panel",
        scope=None,
        query=LinkQuery,
        params={"path": "the file's path within the build"},
        media_type="*/*",
        statuses=(200, 304),
        handler=_file,
    ),
)
"""The panel's routes."""
