-- Blocks: frozen summaries of spans. What the model sees is read from here; the turns stay where they are.

ALTER TABLE sessions ADD COLUMN tail_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN exchange_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN exchange_seq BIGINT NOT NULL DEFAULT 1;
ALTER TABLE sessions ADD COLUMN overhead_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN folded_to BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN folded_turns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN folded_exchanges BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN blocks_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN block_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN waits BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN fence TEXT;
ALTER TABLE sessions ADD COLUMN fold_wanted TEXT;
UPDATE sessions SET tail_tokens = tokens, exchange_seq = turns + 1;

-- `shown_from` and `shown_until` are numbers of turns: the block was before the model when those turns were answered.
CREATE TABLE blocks (
  owner         TEXT NOT NULL,
  session       TEXT NOT NULL,
  number        BIGINT NOT NULL CHECK (number >= 1),
  level         BIGINT NOT NULL CHECK (level >= 0),
  first_seq     BIGINT NOT NULL CHECK (first_seq >= 1),
  last_seq      BIGINT NOT NULL,
  first_at      BIGINT NOT NULL,
  last_at       BIGINT NOT NULL,
  text          TEXT NOT NULL CHECK (text <> ''),
  tokens        BIGINT NOT NULL,
  span_tokens   BIGINT NOT NULL,
  children      TEXT NOT NULL,
  input_hash    TEXT NOT NULL,
  prompt        TEXT NOT NULL,
  model         TEXT NOT NULL,
  input_tokens  BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cost_usd      DOUBLE PRECISION,
  reason        TEXT NOT NULL,
  extract       BIGINT NOT NULL,
  lost          TEXT NOT NULL,
  lost_count    BIGINT NOT NULL,
  created_at    BIGINT NOT NULL,
  shown_from    BIGINT NOT NULL,
  shown_until   BIGINT,
  PRIMARY KEY (owner, session, number),
  FOREIGN KEY (owner, session) REFERENCES sessions (owner, id),
  CHECK (first_seq <= last_seq)
);
CREATE INDEX blocks_shown ON blocks (owner, session, first_seq) WHERE shown_until IS NULL;

-- What sources said, all of it; the newest of each source is shown.
CREATE TABLE reports (
  owner         TEXT NOT NULL,
  session       TEXT NOT NULL,
  source        TEXT NOT NULL,
  number        BIGINT NOT NULL CHECK (number >= 1),
  label         TEXT NOT NULL,
  text          TEXT NOT NULL,
  tokens        BIGINT NOT NULL,
  asked_at      BIGINT NOT NULL,
  start_at      BIGINT NOT NULL,
  end_at        BIGINT NOT NULL,
  failed_at     BIGINT,
  shown_from    BIGINT NOT NULL,
  shown_until   BIGINT,
  PRIMARY KEY (owner, session, source, number),
  FOREIGN KEY (owner, session) REFERENCES sessions (owner, id)
) {clustered};
CREATE INDEX reports_shown ON reports (owner, session) WHERE shown_until IS NULL;
