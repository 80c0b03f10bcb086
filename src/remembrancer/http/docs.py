"""`/docs`: the route table as one page to read, made here; no script, no CDN, nothing to load.

For machines there is `/openapi.json`.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from typing import Final

from pydantic import BaseModel

from remembrancer.core.errors import CODES
from remembrancer.core.product import NAME, VERSION
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.route_table import AnyRoute, Route, RouteTable
from remembrancer.http.shape_models import model_of

_STYLE: Final = (
    ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}"
    "body{max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font:0.9em ui-monospace,monospace}"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0}"
    "td,th{text-align:left;vertical-align:top;padding:.2rem .6rem;border-bottom:1px solid #8884}"
    "details{border:1px solid #8886;border-radius:6px;margin:.4rem 0;padding:.4rem .8rem}"
    "summary{cursor:pointer;overflow-wrap:anywhere}"
    ".m{display:inline-block;min-width:4.5rem;font-weight:600}"
    ".s{opacity:.75}"
)

_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

POLICY: Final = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'"
"""The page's content policy: its own style and nothing else."""


def render_page(table: RouteTable) -> str:
    """Return the page."""
    listed = [route for route in table.routes if route.is_listed]
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{NAME}</title>",
        "<meta name=viewport content='width=device-width, initial-scale=1'>",
        f"<style>{_STYLE}</style>",
        f"<h1>{NAME} <small class=s>{VERSION}</small></h1>",
        "<p>Send the key as <code>Authorization: Bearer …</code>.",
        "The same for machines: <a href=/openapi.json>openapi.json</a>.</p>",
    ]
    for area in sorted({route.area for route in listed}):
        parts.append(f"<h2>{escape(area)}</h2>")
        for route in listed:
            if route.area == area:
                parts += _route(route)
    parts.append("<h2>errors</h2><table><tr><th>code<th>status<th>meaning")
    for code, info in CODES.items():
        parts.append(f"<tr><td><code>{code}</code><td>{info.http}<td>{escape(info.meaning)}")
    parts.append("</table></html>")
    return "\n".join(parts)


def _route(route: AnyRoute) -> Iterator[str]:
    yield (
        f"<details id={route.name}><summary><span class=m>{route.method}</span> "
        f"<code>{escape(route.path)}</code> <span class=s>{escape(route.summary)}</span></summary>"
    )
    if route.description:
        yield f"<p>{escape(route.description)}</p>"
    scope = f"scope <code>{route.scope}</code>" if route.scope is not None else "open"
    scope = "any key" if route.any_key else scope
    also = "".join(f", also <code>{escape(path)}</code>" for path in route.aliases)
    yield f"<p class=s>{scope}{also}</p>"
    yield from _names("path", dict(route.params))
    yield from _model("query", route.query)
    yield from _model("body", route.body)
    if isinstance(route.response, type):
        yield from _model("answer", model_of(route.response))
    statuses = [str(status) for status in route.statuses]
    codes = " ".join(f"<code>{code}</code>" for code in route.error_codes)
    yield f"<p class=s>{', '.join(statuses)} — {codes}</p></details>"


def _model(title: str, model: type[BaseModel] | None) -> Iterator[str]:
    if model is None:
        return
    rows = {}
    for name, field in model.model_fields.items():
        words = str(field.annotation).replace("typing.", "")
        kind = (
            words if "[" in words or "|" in words else getattr(field.annotation, "__name__", words)
        )
        need = "required" if field.is_required() else f"default {field.get_default()!r}"
        rows[field.alias or name] = f"{kind}, {need}. {field.description or ''}"
    yield from _names(title, rows)


def _names(title: str, rows: dict[str, str]) -> Iterator[str]:
    if rows:
        yield f"<table><tr><th>{title}<th>"
        for name, text in rows.items():
            yield f"<tr><td><code>{escape(name)}</code><td>{escape(text.strip())}"
        yield "</table>"


async def _page(call: Call[None, None]) -> Answer:
    return Answer(
        _cached(call.table),
        media_type="text/html",
        headers={"content-security-policy": POLICY, "cache-control": "no-cache"},
    )


def _cached(table: RouteTable) -> bytes:
    page = table.documents.get("docs")
    if page is None:
        page = table.documents["docs"] = render_page(table).encode()
    return page


ROUTES: Final = (
    Route(
        method="GET",
        path="/docs",
        name="docs",
        area="health",
        summary="This description, to read",
        scope=None,
        media_type="text/html",
        handler=_page,
    ),
)
"""The route of the page."""
