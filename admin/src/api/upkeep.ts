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
}

export interface Alike {
  matches: { score: number; item: Brief; differences: string[] }[];
}

export interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

export interface LedgerEvent {
  position: number;
  stream: string;
  version: number;
  kind: string;
  actor: string;
  at: string;
  cause: string;
  changes: FieldChange[];
  undone: boolean;
  note?: Record<string, unknown>;
  forgotten?: boolean;
}
