// Markdown as people wrote it: made safe before it is shown, and never loading anything.
import DOMPurify, { type Config } from "dompurify";
import { marked } from "marked";
import { useMemo } from "preact/hooks";

/** Text and its structure; no pictures (they would call another host), forms, frames or styles. */
const ALLOWED: Config = {
  ALLOWED_TAGS: [
    ..."h1 h2 h3 h4 h5 h6 p br hr ul ol li blockquote pre code em strong del a".split(" "),
    ..."table thead tbody tr th td input".split(" "),
  ],
  ALLOWED_ATTR: ["href", "title", "align", "checked", "disabled", "type", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
};

const purifier = DOMPurify(window);
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A" && !node.getAttribute("href")?.startsWith("#")) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  if (node.tagName === "INPUT") node.setAttribute("disabled", "");
});

export function safeHtml(text: string): string {
  const html = marked.parse(text, { async: false, gfm: true, breaks: true });
  return purifier.sanitize(html, ALLOWED);
}

export function Markdown(props: { text: string }) {
  const html = useMemo(() => safeHtml(props.text), [props.text]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it was sanitised in the line above
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
