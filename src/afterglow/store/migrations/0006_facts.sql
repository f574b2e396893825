-- Facts and the turns that prove them. A fact that was forgotten is a stone: its digest, so that it does not come back.

ALTER TABLE sessions ADD COLUMN facts_seq BIGINT NOT NULL DEFAULT 0;
CREATE INDEX sessions_unread ON sessions (last_at) WHERE said_seq > facts_seq;
-- Grows with every change of the owner's facts: who compared new ones with those that were there commits only if none came.
ALTER TABLE owners ADD COLUMN facts_version BIGINT NOT NULL DEFAULT 0;
-- Grows with every forgetting.
ALTER TABLE owners ADD COLUMN facts_forgotten BIGINT NOT NULL DEFAULT 0;

CREATE TABLE facts (
  owner         TEXT NOT NULL,
  id            TEXT NOT NULL,
  type          TEXT NOT NULL,
  content       TEXT NOT NULL,
  confidence    TEXT NOT NULL,
  source_date   TEXT NOT NULL,
  extracted_at  BIGINT NOT NULL,
  trust         TEXT NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('active', 'pending', 'superseded', 'forgotten')),
  why           TEXT,
  supersedes    TEXT,
  session       TEXT NOT NULL,
  way           TEXT NOT NULL,
  model         TEXT NOT NULL,
  prompt        TEXT NOT NULL,
  changed_at    BIGINT NOT NULL,
  digest        TEXT NOT NULL,
  -- The fact of a joined owner that says the same and is shown in place of this one.
  twin_of       TEXT,
  PRIMARY KEY (owner, id),
  CHECK (content <> '' OR status = 'forgotten')
) {clustered};
CREATE UNIQUE INDEX facts_by_digest ON facts (owner, digest) WHERE status <> 'superseded';
CREATE INDEX facts_twins ON facts (twin_of) WHERE twin_of IS NOT NULL;
CREATE INDEX facts_newest ON facts (owner, status, source_date, id);

-- When each schedule was last kept.
CREATE TABLE schedules (
  name          TEXT PRIMARY KEY,
  last_at       BIGINT NOT NULL
) {clustered};

-- What became of a model's claims, reading by reading.
CREATE TABLE readings (
  owner         TEXT NOT NULL,
  session       TEXT NOT NULL,
  to_seq        BIGINT NOT NULL,
  at            BIGINT NOT NULL,
  claimed       BIGINT NOT NULL,
  stored        BIGINT NOT NULL,
  again         BIGINT NOT NULL,
  dropped       TEXT NOT NULL,
  model         TEXT NOT NULL,
  prompt        TEXT NOT NULL,
  PRIMARY KEY (owner, session, to_seq, at)
) {clustered};

CREATE TABLE evidence (
  owner         TEXT NOT NULL,
  session       TEXT NOT NULL,
  seq           BIGINT NOT NULL,
  fact_owner    TEXT NOT NULL,
  fact          TEXT NOT NULL,
  quote         TEXT NOT NULL,
  at            BIGINT NOT NULL,
  -- 1 where the turn states the fact, 0 where it only says the same, or only gives words.
  proves        BIGINT NOT NULL,
  -- 1 where words of the fact come from the turn: when it is forgotten, so is the fact.
  needed        BIGINT NOT NULL,
  PRIMARY KEY (owner, session, seq, fact_owner, fact)
) {clustered};
CREATE INDEX evidence_of ON evidence (fact_owner, fact);

-- Memory files that were left as they are, since nobody could read what was written into them.
CREATE TABLE memory_files (
  owner         TEXT NOT NULL,
  name          TEXT NOT NULL,
  problem       TEXT NOT NULL,
  found_at      BIGINT NOT NULL,
  PRIMARY KEY (owner, name)
) {clustered};
