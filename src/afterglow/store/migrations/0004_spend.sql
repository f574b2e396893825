-- What every call of a model cost. `tokens` and `micro_usd` are the most it could cost until it is settled, then what it
-- did cost; `micro_usd` is null where the price is not known. The owner is '' for calls that are made for nobody.
CREATE TABLE spend (
  id            {id},
  owner         TEXT NOT NULL,
  session       TEXT,
  day           TEXT NOT NULL,
  at            BIGINT NOT NULL,
  settled_at    BIGINT,
  purpose       TEXT NOT NULL,
  model         TEXT NOT NULL,
  tokens        BIGINT NOT NULL CHECK (tokens >= 0),
  micro_usd     BIGINT CHECK (micro_usd >= 0),
  input_tokens  BIGINT NOT NULL DEFAULT 0,
  output_tokens BIGINT NOT NULL DEFAULT 0,
  cached_tokens BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX spend_by_session ON spend (session, id) WHERE session IS NOT NULL;
CREATE INDEX spend_newest ON spend (owner, id);

-- What a day has cost, all owners together: the row that keeps the ceiling.
CREATE TABLE spend_days (
  day        TEXT PRIMARY KEY,
  calls      BIGINT NOT NULL DEFAULT 0,
  tokens     BIGINT NOT NULL DEFAULT 0,
  micro_usd  BIGINT NOT NULL DEFAULT 0
) {clustered};
