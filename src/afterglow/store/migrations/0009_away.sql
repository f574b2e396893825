-- Goal events, who was seen when, and what people were told of the time between. See store/presence.py.

-- `events` counts the goal events of this owner and agent, which are numbered by it; those up to `told_to` are behind the
-- person's last message, or were told. `version` grows with every message. The prose is about the events up to `prose_to`.
CREATE TABLE presence (
  owner       TEXT NOT NULL,
  agent       TEXT NOT NULL,
  version     BIGINT NOT NULL DEFAULT 0,
  seen_at     BIGINT,
  channel     TEXT,
  sender      TEXT,
  events      BIGINT NOT NULL DEFAULT 0,
  told_to     BIGINT NOT NULL DEFAULT 0,
  prose       TEXT,
  prose_to    BIGINT,
  prose_usd   DOUBLE PRECISION,
  prose_at    BIGINT,
  PRIMARY KEY (owner, agent)
) {clustered};
CREATE INDEX presence_untold ON presence (owner, agent) WHERE events > told_to;

CREATE TABLE goal_events (
  owner       TEXT NOT NULL,
  agent       TEXT NOT NULL,
  number      BIGINT NOT NULL CHECK (number >= 1),
  goal        TEXT NOT NULL,
  step        TEXT NOT NULL,
  outcome     TEXT NOT NULL CHECK (outcome IN ('completed', 'cancelled', 'failed', 'needs_you', 'running')),
  title       TEXT NOT NULL,
  note        TEXT NOT NULL,
  at          BIGINT NOT NULL,
  PRIMARY KEY (owner, agent, number)
) {clustered};
CREATE UNIQUE INDEX goal_events_once ON goal_events (owner, agent, goal, step);
CREATE INDEX goal_events_waiting ON goal_events (owner, agent, number) WHERE outcome = 'needs_you';
CREATE INDEX goal_events_of_goal ON goal_events (owner, agent, goal, number);
CREATE INDEX goal_events_newest ON goal_events (owner, agent, at, number);

-- What became of each absence that was long enough. `number` is the version of the presence that ended it. `unsaid` says that
-- something was forgotten while it was under way.
CREATE TABLE digests (
  owner       TEXT NOT NULL,
  agent       TEXT NOT NULL,
  number      BIGINT NOT NULL,
  at          BIGINT NOT NULL,
  since       BIGINT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('claimed', 'delivered', 'failed', 'none')),
  reason      TEXT NOT NULL,
  shown       BIGINT NOT NULL,
  total       BIGINT NOT NULL,
  text        TEXT NOT NULL,
  kind        TEXT NOT NULL,
  remembers   BIGINT NOT NULL,
  unsaid      BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (owner, agent, number)
) {clustered};
CREATE INDEX digests_newest ON digests (at);

-- Messages that came in, by the platform's id. `token` is who handles it, until the lease ends; none where it was handled.
CREATE TABLE arrivals (
  owner       TEXT NOT NULL,
  message     TEXT NOT NULL,
  at          BIGINT NOT NULL,
  handler     TEXT NOT NULL,
  token       BIGINT,
  lease_until BIGINT NOT NULL,
  PRIMARY KEY (owner, message)
) {clustered};
CREATE INDEX arrivals_oldest ON arrivals (owner, at);
