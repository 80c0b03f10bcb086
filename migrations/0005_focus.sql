-- The order in which open tasks are looked at for the next step, in a project, of an objective and anywhere.

CREATE INDEX items_next ON items (namespace, pinned DESC, priority DESC, updated_at, id) WHERE type = 'tactical_task' AND state = 'active';
CREATE INDEX items_next_project ON items (namespace, project_id, pinned DESC, priority DESC, updated_at DESC, id) WHERE type = 'tactical_task' AND state = 'active' AND project_id IS NOT NULL;
CREATE INDEX items_next_objective ON items (namespace, objective_id, pinned DESC, priority DESC, updated_at DESC, id) WHERE type = 'tactical_task' AND state = 'active' AND objective_id IS NOT NULL;
-- Holds all that ranking the dated ones needs, so that none of them is read for it.
CREATE INDEX items_next_due ON items (namespace, due_at, pinned, priority, updated_at, project_id, objective_id, snoozed_until, ignored_until, expires_at, id, type, state) WHERE type = 'tactical_task' AND state = 'active' AND due_at IS NOT NULL;

CREATE INDEX items_stale ON items (namespace, updated_at) WHERE type = 'tactical_task' AND state = 'stale';
CREATE INDEX items_replaced ON items (namespace, project_id, updated_at DESC, id) WHERE state = 'superseded' AND project_id IS NOT NULL;
