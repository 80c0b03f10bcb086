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
  settings: {
    default_quick_add_priority: "low" | "medium" | "high";
    default_capture_kind: "task" | "memory";
    default_upcoming_days: number;
    default_snooze_hours: number;
    time_zone: string;
  };
  sources: Record<string, "namespace" | "default">;
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
