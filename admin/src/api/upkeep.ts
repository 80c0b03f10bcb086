// What the API answers about review, jobs, recalls, conversations, the library and the server.
import type { Brief } from "./types";

export type CandidateStatus = "pending" | "approved" | "merged" | "superseded" | "discarded";

export interface Candidate {
  id: string;
  kind: "fact" | "merge" | "replace" | "retire" | "conflict" | "stale_task";
  status: CandidateStatus;
  type: string;
  content: string;
  fact_key: string | null;
  confidence: number;
  importance: number;
  tags: string[];
  source: string;
  source_message_ids: string[];
  target_ids: string[];
  why: string | null;
  decision_note: string | null;
  memory_id: string | null;
  decided_at: string | null;
  version: number;
  created_at: string;
}

export interface Message {
  id: string;
  conversation_id: string;
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  chars: number;
  model: string | null;
  is_partial: boolean;
  created_at: string;
}

export interface CandidateDetail {
  data: Candidate;
  targets: Brief[];
  sources: Message[];
}

export interface MemoryText {
  id: string;
  title: string;
  content: string;
  tags: string[];
}

export interface MergePreview {
  data: Candidate;
  target: MemoryText;
  result: { content: string; tags: string[]; confidence: number | null; importance: number | null };
}

export interface Decided {
  results: { id: string; status?: string; error?: { code: string; message: string } }[];
  decided: number;
  failed: number;
  /** What another call is to name: on Cloudflare one takes a few. */
  left: string[];
}

export interface Alike {
  matches: { score: number; item: Brief; differences: string[] }[];
}

export interface Run {
  id: string;
  job: string;
  started_by: "cron" | "queue" | "hand" | "catch-up" | "retry";
  status: "running" | "done" | "failed" | "lost";
  attempt: number;
  started_at: string;
  finished_at: string | null;
  counts: Record<string, number>;
  progress: { done: number; total: number } | null;
  error: string | null;
  undone_at: string | null;
}

export interface Job {
  name: string;
  title: string;
  cron: string | null;
  next_due_at: string | null;
  status: "idle" | "running" | "paused" | "waiting" | "dead";
  attempts: number;
  next_try_at: string | null;
  failing_since: string | null;
  last_success_at: string | null;
  last_run: Run | null;
  backlog: Record<string, number>;
}

export interface Ran {
  job: string;
  status: "done" | "lost" | "nothing" | "paused" | "busy" | "waiting" | "dead" | "failed";
  run_id: string | null;
  counts: Record<string, number>;
  more: boolean;
}

export interface Leaving {
  days: number;
  counts: Record<string, number>;
  expire: { item_id: string; title: string; last_used_at: string; goes_at: string }[];
  purge: { item_id: string; title: string; state: string; ended_at: string; goes_at: string }[];
  messages_passed_to: string | null;
  messages_dreamt_to: string | null;
  messages_waiting: number;
}

export interface Skipped {
  message_id: string;
  conversation_id: string;
  content: string;
  said_at: string;
  skipped_at: string;
  goes_at: string;
  reason: "too_long" | "filtered" | "unreadable" | "rejected" | "failing";
  tries: number;
  run_id: string;
}

export interface Recall {
  id: string;
  at: string;
  purpose: "chat" | "mcp" | "rest";
  query: string;
  degraded: string[];
  injected: string[];
  tokens: number;
  found: number;
}

export interface Weighed {
  id: string;
  title?: string | null;
  state?: string | null;
  words: number | null;
  meaning: number | null;
  score: number;
  answers?: number | null;
  rerank: number | null;
  layer: "active" | "cold";
  gate: string | null;
}

export interface ExplainedRecall extends Recall {
  text: string | null;
  candidates: Weighed[];
}

export interface Conversation {
  id: string;
  model: string;
  said?: string | null;
  created_at: string;
  updated_at: string;
  answers: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  cost: number;
}

export interface Turn {
  id: string;
  turn: string;
  model: string;
  status: number;
  is_complete: boolean;
  finish_reason: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cached_tokens: number | null;
  cache_write_tokens: number | null;
  reasoning_tokens: number | null;
  cost: number | null;
  first_byte_ms: number;
  total_ms: number;
  recall_id: string | null;
  saved: string[];
  degraded: string[];
  cache_note: string | null;
  created_at: string;
}

export interface Precious {
  id: string;
  content: string;
  context_message_ids: string[];
  source: "human" | "secretary";
  created_at: string;
}

export interface Term {
  id: string;
  term: string;
  aliases: string[];
  definition: string;
  examples: string[];
  updated_at: string;
}

export interface Digest {
  content: string;
  version: number;
  updated_at: string;
}

export interface Page {
  date: string;
  kind: "day" | "week" | "month";
  title: string;
  summary: string;
  version: number;
  updated_at: string;
  content?: string;
}

export interface ServerSetting {
  variable: string;
  type: string;
  accepts: string;
  description: string;
  value: string | null;
  default: string;
  source: "default" | "environment" | "command line" | "data folder";
  secret: boolean;
}

export interface Key {
  id: string;
  name: string;
  actor: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

export interface VectorHealth {
  status: "ok" | "degraded" | "off";
  reasons: string[];
  model?: string | null;
  dims?: number | null;
  items?: number | null;
  vectors?: number | null;
  index_count?: number | null;
  outbox?: { waiting: number; removals: number; failing: number; last_error: string | null } | null;
  canary?: { written: boolean; found: boolean; deleted: boolean; ms: number } | null;
  next?: { model: string; dims: number; vectors: number; total: number } | null;
}

export interface Reindexed {
  dry_run: boolean;
  examined: number;
  missing: number;
  orphans: number;
  queued: number;
  embedded: number;
  deleted: number;
  progress: { done: number; total: number };
  next_cursor: string | null;
  failure: string | null;
}

/** How far long work is: with `more` it is not over. */
export interface Piece {
  more: boolean;
  cursor: string | null;
}

export interface Verified extends Piece {
  ok: boolean;
  events: number;
  streams: number;
  forgotten: number;
  first_break: { namespace: string; stream: string; version: number; what: string } | null;
}

export interface Rebuilt extends Piece {
  events: number;
  events_done: number;
  streams: number;
  rows_written_estimate: number;
}

export interface Imported extends Piece {
  lines: number;
  namespaces: string[];
  events: number;
  events_present: number;
  artifacts: number;
  positions_kept: boolean;
  dry_run: boolean;
}
