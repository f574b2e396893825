-- The log: owners, the aliases that join them, sessions, turns, and the terms that words are searched by.
-- Moments are microseconds since 1970, UTC. Every key begins with the owner. A table whose rows are small, or so large that
-- they do not fit a page anyhow, is kept in the order of its key ({clustered}) rather than beside an index of it.

CREATE TABLE owners (
  owner       TEXT PRIMARY KEY,
  created_at  BIGINT NOT NULL
) {clustered};

CREATE TABLE aliases (
  owner       TEXT PRIMARY KEY,
  joined_to   TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  CHECK (owner <> joined_to)
) {clustered};
CREATE INDEX aliases_by_target ON aliases (joined_to);

CREATE TABLE sessions (
  owner       TEXT NOT NULL,
  id          TEXT NOT NULL,
  agent       TEXT NOT NULL,
  channel     TEXT NOT NULL,
  sender      TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('open', 'idle', 'closed')),
  created_at  BIGINT NOT NULL,
  last_at     BIGINT NOT NULL,
  closed_at   BIGINT,
  turns       BIGINT NOT NULL DEFAULT 0,
  exchanges   BIGINT NOT NULL DEFAULT 0,
  tokens      BIGINT NOT NULL DEFAULT 0,
  last_role   TEXT,
  user_turns  BIGINT NOT NULL DEFAULT 0,
  user_terms  BIGINT NOT NULL DEFAULT 0,
  others_turns BIGINT NOT NULL DEFAULT 0,
  others_terms BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (owner, id)
) {clustered};
CREATE INDEX sessions_by_binding ON sessions (owner, agent, channel, sender, created_at, id);
CREATE INDEX sessions_by_owner_newest ON sessions (owner, last_at);
CREATE INDEX sessions_newest ON sessions (last_at);

CREATE TABLE turns (
  owner       TEXT NOT NULL,
  session     TEXT NOT NULL,
  seq         BIGINT NOT NULL CHECK (seq >= 1),
  role        TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
  text        TEXT NOT NULL,
  parts       TEXT NOT NULL,
  at          BIGINT NOT NULL,
  tokens      BIGINT NOT NULL,
  trust       TEXT NOT NULL CHECK (trust IN ('owner', 'agent', 'other', 'external')),
  origin      TEXT NOT NULL CHECK (origin IN ('person', 'agent', 'heartbeat', 'task', 'import')),
  recalled    TEXT NOT NULL,
  channel     TEXT,
  model       TEXT,
  usage       TEXT,
  key         TEXT,
  removed     TEXT NOT NULL,
  bytes       BIGINT NOT NULL,
  cut         BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (owner, session, seq),
  FOREIGN KEY (owner, session) REFERENCES sessions (owner, id)
);
CREATE INDEX turns_newest ON turns (owner, at, session, seq);
CREATE UNIQUE INDEX turns_by_key ON turns (owner, session, key) WHERE key IS NOT NULL;

-- The whole of a turn that is over the size limit; its row in `turns` holds the head and tail.
CREATE TABLE whole_turns (
  owner       TEXT NOT NULL,
  session     TEXT NOT NULL,
  seq         BIGINT NOT NULL,
  text        TEXT NOT NULL,
  parts       TEXT NOT NULL,
  PRIMARY KEY (owner, session, seq),
  FOREIGN KEY (owner, session, seq) REFERENCES turns (owner, session, seq)
) {clustered};

-- What can be searched by words. `place` is the session, or the id of a fact; `seq` the number of the turn or block, else 0;
-- `label` the role of a turn, or the type of a fact. `mark` is put before each term in the index, and differs by owner and by
-- group, so that one owner's words are found without passing over another's.
CREATE TABLE search_terms (
  id          {id},
  owner       TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('turn', 'fact', 'block', 'summary')),
  place       TEXT NOT NULL,
  seq         BIGINT NOT NULL,
  label       TEXT NOT NULL,
  at          BIGINT NOT NULL,
  mark        TEXT NOT NULL,
  terms       TEXT NOT NULL CHECK (terms <> ''),
  UNIQUE (owner, kind, place, seq)
);

CREATE TABLE access_tokens (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  scope       TEXT NOT NULL CHECK (scope IN ('owner', 'agent', 'read')),
  digest      TEXT NOT NULL UNIQUE,
  created_at  BIGINT NOT NULL,
  revoked_at  BIGINT
) {clustered};
