-- Quiet and ended sessions: timers, summaries, and the one process that works unasked.

ALTER TABLE sessions ADD COLUMN said_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN real_at BIGINT;
ALTER TABLE sessions ADD COLUMN idle_due BIGINT;
ALTER TABLE sessions ADD COLUMN summary_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN sunset_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN closed_by TEXT;
-- Since when what earlier sessions left is shown as it was then; until the first compaction it is shown as it is.
ALTER TABLE sessions ADD COLUMN boot_at BIGINT;
UPDATE sessions SET said_seq = turns, real_at = CASE WHEN turns > 0 THEN last_at END;
UPDATE sessions SET closed_by = 'closed' WHERE state = 'closed';

-- Only sessions that said something since their last summary are in it, so that a sweep costs what changed.
CREATE INDEX sessions_stale ON sessions (last_at) WHERE said_seq > summary_seq;

CREATE TABLE summaries (
  owner         TEXT NOT NULL,
  session       TEXT NOT NULL,
  last_seq      BIGINT NOT NULL CHECK (last_seq >= 1),
  first_seq     BIGINT NOT NULL,
  first_at      BIGINT NOT NULL,
  last_at       BIGINT NOT NULL,
  agent         TEXT NOT NULL,
  title         TEXT NOT NULL CHECK (title <> ''),
  summary       TEXT NOT NULL CHECK (summary <> ''),
  category      TEXT NOT NULL,
  decisions     TEXT NOT NULL,
  open_threads  TEXT NOT NULL,
  outcomes      TEXT NOT NULL,
  people        TEXT NOT NULL,
  trigger       TEXT NOT NULL,
  model         TEXT NOT NULL,
  prompt        TEXT NOT NULL,
  input_tokens  BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cost_usd      DOUBLE PRECISION,
  degraded      BIGINT NOT NULL,
  newest        BIGINT NOT NULL,
  created_at    BIGINT NOT NULL,
  PRIMARY KEY (owner, session, last_seq, created_at),
  FOREIGN KEY (owner, session) REFERENCES sessions (owner, id)
);
CREATE INDEX summaries_newest ON summaries (owner, last_at) WHERE newest = 1;
CREATE INDEX summaries_of_everyone ON summaries (last_at) WHERE newest = 1;
CREATE INDEX summaries_known ON summaries (owner, last_at);
CREATE INDEX summaries_last_made ON summaries (created_at);

-- One row: who is primary, until when, and when it last looked for what nobody asked for.
CREATE TABLE fleet (
  id            BIGINT PRIMARY KEY CHECK (id = 1),
  holder        TEXT,
  token         BIGINT,
  lease_until   BIGINT NOT NULL DEFAULT 0,
  last_sweep_at BIGINT,
  last_sweep_found BIGINT
) {clustered};
INSERT INTO fleet (id) VALUES (1);
