-- Work: one row for each (owner, kind, subject) that is due now or later, or under way. See store/queue.py.

CREATE TABLE work (
  owner       TEXT NOT NULL,
  kind        TEXT NOT NULL,
  subject     TEXT NOT NULL,
  due_at      BIGINT,
  not_before  BIGINT NOT NULL DEFAULT 0,
  ready_at    BIGINT NOT NULL,
  wanted      BIGINT NOT NULL DEFAULT 1,
  attempts    BIGINT NOT NULL DEFAULT 0,
  holder      TEXT,
  token       BIGINT,
  lease_until BIGINT,
  parked_at   BIGINT,
  reason      TEXT NOT NULL,
  last_error  TEXT,
  PRIMARY KEY (owner, kind, subject)
) {clustered};
CREATE INDEX work_ready ON work (owner, kind, ready_at);
CREATE INDEX work_leased ON work (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX work_held_back ON work (not_before) WHERE not_before > 0;
CREATE INDEX work_parked ON work (parked_at) WHERE parked_at IS NOT NULL;

-- For each owner and kind, when to look at it next: no later than its first row is ready. Claims go round by it, so
-- that an owner with ten thousand rows due does not hold up another's one.
CREATE TABLE work_heads (
  owner       TEXT NOT NULL,
  kind        TEXT NOT NULL,
  look_at     BIGINT NOT NULL,
  PRIMARY KEY (owner, kind)
) {clustered};
CREATE INDEX work_heads_next ON work_heads (kind, look_at);
