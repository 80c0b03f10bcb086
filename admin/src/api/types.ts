// What the REST API answers, as far as the panel reads it. `/openapi.json` has all of it.

export type State =
  | "active"
  | "completed"
  | "archived"
  | "superseded"
  | "expired"
  | "stale"
  | "dormant"
  | "deleted";

export interface Named {
  slug: string;
  name: string;
}

export interface Brief {
  id: string;
  title: string;
  kind: "task" | "memory";
  type: string;
  state: State;
  priority: number;
  updated_at: string;
  content?: string;
  startup_priority?: number;
  pinned?: boolean;
  tags?: string[];
  due_at?: string | null;
  project?: Named | null;
  topic?: Named | null;
  fact_key?: string | null;
  recurrence_kind?: string | null;
}

export interface Health {
  status: "ok" | "degraded";
  reasons: string[];
  details?: Record<string, Record<string, string | number>>;
}

export interface Settings {
  namespace: string;
  settings: {
    default_quick_add_priority: "low" | "medium" | "high";
    default_capture_kind: "task" | "memory";
    default_upcoming_days: number;
    default_snooze_hours: number;
    time_zone: string;
  };
  sources: Record<string, "namespace" | "default">;
  defaults: Settings["settings"];
}

export interface Project {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  active_objective: Brief | null;
  counts?: Record<string, number>;
  version: number;
  created_at: string;
  updated_at: string;
}

export interface Topic {
  id: string | null;
  slug: string;
  name: string;
  description: string | null;
  kind: "topic" | "profile" | "project" | "system";
  retrieval_priority: number;
  summary_mode: "auto" | "manual";
  canonical_item: Brief | null;
  counts?: Record<string, number>;
  version: number;
  created_at: string | null;
  updated_at: string | null;
}

export interface Item extends Brief {
  content: string;
  tags: string[];
  pinned: boolean;
  startup_priority: number;
  completed: boolean;
  authored_by: string;
  version: number;
  created_at: string;
  progress?: "pending" | "in_progress" | "failed" | "done" | null;
  summary?: string | null;
  due_text?: string | null;
  importance?: number | null;
  confidence?: number | null;
  recurrence_interval?: number | null;
  recurrence_until?: string | null;
  snoozed_until?: string | null;
  ignored_until?: string | null;
  last_completed_at?: string | null;
  completed_at?: string | null;
  superseded_by?: string | null;
  artifact_id?: string | null;
  notes?: { at: string | null; text: string }[];
  steps?: Step[];
}

export interface Step {
  id: string;
  text: string;
  done: boolean;
  steps?: Step[];
}

export type ForgettingPlace = "candidate" | "page" | "digest" | "notes" | "message" | "question";

/** What would go with an item; `more` places are counted and not shown. */
export interface Forgetting {
  would_forget: string;
  counts: Record<string, number>;
  passages: { place: ForgettingPlace; id: string; texts: string[] }[];
  more: number;
}

export interface Memory {
  id: string;
  type: string;
  title: string;
  content: string;
  summary: string | null;
  fact_key: string | null;
  importance: number | null;
  confidence: number | null;
  status: State;
  pinned: boolean;
  tags: string[];
  source: string | null;
  source_message_ids: string[];
  authored_by: string;
  project: Named | null;
  topic: Named | null;
  superseded_by: string | null;
  artifact_id: string | null;
  valid_from: string | null;
  valid_to: string | null;
  expires_at: string | null;
  created_at: string;
  updated_at: string;
  version: number;
  recall_count?: number;
  last_recalled_at?: string | null;
  seen_count?: number;
  last_seen_at?: string | null;
}

export interface Relation {
  type: string;
  direction: string;
  item_id: string;
  title: string;
  state: State;
  confidence: number | null;
  reason: string | null;
}

export interface Candidate {
  id: string;
  words: number | null;
  meaning: number | null;
  score: number;
  rerank: number | null;
  layer: string;
  gate: string | null;
}

export interface Found {
  data: {
    id: string;
    content: string;
    score: number;
    type: string;
    fact_key: string | null;
    status: State;
    pinned: boolean;
    tags: string[];
    updated_at: string;
  }[];
  meta: {
    backend: string;
    count: number;
    raw_count: number;
    recall_id: string;
    degraded: string[];
    filter_debug?: Candidate[];
  };
  prompt?: string;
}

export interface LedgerEvent {
  position: number;
  stream: string;
  version: number;
  kind: string;
  actor: string;
  at: string;
  cause: string;
  changes: { field: string; before: unknown; after: unknown }[];
  undone: boolean;
  forgotten?: boolean;
  note?: Record<string, unknown>;
}

export interface Boot {
  digest: { content: string; updated_at?: string } | null;
  stats: {
    today_raw_count: number;
    pending_candidates: number;
    memory_type_counts: Record<string, number>;
    precious_total: number;
  };
}

export interface Startup {
  profile: Brief | null;
  active_goals: Brief[];
  current_focus: {
    strategic_focus: Brief | null;
    tactical_next_step: Brief | null;
    reason: string | null;
  } | null;
  active_projects: {
    slug: string;
    name: string;
    description: string | null;
    active_objective: { title: string | null } | null;
    active_count: number;
  }[];
  always_load: Brief[];
  topic_summaries: {
    group: { slug: string; name: string } | null;
    canonical_item: Brief | null;
    summary: { active_count: number; top_item: { id: string; title: string | null } | null };
  }[];
  context_version: number;
}
