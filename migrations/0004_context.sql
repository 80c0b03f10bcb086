-- Indexes that keep a bundle's reads few. All but the last two are partial: an item pays only for what it has.

CREATE INDEX items_goals ON items (namespace, startup_priority DESC, pinned DESC, priority DESC, updated_at DESC, id) WHERE type = 'strategic_goal' AND state = 'active' AND startup_priority >= 8;
CREATE INDEX items_recurring ON items (namespace, project_id, startup_priority DESC, pinned DESC, priority DESC, updated_at DESC, id) WHERE type = 'recurring_system' AND state = 'active';
-- A project's history.
CREATE INDEX items_ended ON items (namespace, project_id, updated_at DESC, id) WHERE project_id IS NOT NULL AND state IN ('superseded', 'archived', 'completed', 'expired');
-- Moments at which a bundle changes without a write.
CREATE INDEX items_snoozed ON items (namespace, snoozed_until) WHERE snoozed_until IS NOT NULL;
CREATE INDEX items_ignored ON items (namespace, ignored_until) WHERE ignored_until IS NOT NULL;
CREATE INDEX items_valid_from ON items (namespace, valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX items_valid_to ON items (namespace, valid_to) WHERE valid_to IS NOT NULL;

CREATE INDEX projects_focus ON projects (namespace, objective_since DESC, updated_at DESC, id) WHERE state = 'active';
CREATE INDEX topics_retrieval ON topics (namespace, retrieval_priority DESC, name, id) WHERE state = 'active' AND retrieval_priority > 0;
