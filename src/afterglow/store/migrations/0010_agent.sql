-- What the agent is still to answer, and what it is to do at set times. See store/inbox.py and store/tasks.py.

-- Messages that wait for an answer, in the order they came to a `place`: a session by its id, or a binding. Those
-- that are `taken` are answered together. `listener` is the process that hands the answer over; one that another process
-- answered stays, with the moment as `answered_at`, until it is handed over.
CREATE TABLE inbox (
  owner       TEXT NOT NULL,
  place       TEXT NOT NULL,
  number      BIGINT NOT NULL CHECK (number >= 1),
  agent       TEXT NOT NULL,
  channel     TEXT NOT NULL,
  sender      TEXT NOT NULL,
  session     TEXT,
  reason      TEXT NOT NULL,
  text        TEXT NOT NULL,
  parts       TEXT NOT NULL,
  at          BIGINT NOT NULL,
  key         TEXT NOT NULL,
  taken       BIGINT NOT NULL DEFAULT 0,
  listener    TEXT,
  answered_at BIGINT,
  PRIMARY KEY (owner, place, number)
) {clustered};
CREATE UNIQUE INDEX inbox_once ON inbox (owner, place, key);

-- `schedule` is a moment, a cron expression, or in which words the model plans the next time, as `kind` says. `next_at` is
-- none where no run is to come; `planning` is 1 while the next time is yet to be planned. `note` is how the last run went,
-- `why` why the model planned the next time as it did.
CREATE TABLE tasks (
  owner       TEXT NOT NULL,
  id          TEXT NOT NULL,
  agent       TEXT NOT NULL,
  channel     TEXT NOT NULL,
  sender      TEXT NOT NULL,
  prompt      TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('once', 'cron', 'planned')),
  schedule    TEXT NOT NULL,
  zone        TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('active', 'done', 'cancelled')),
  next_at     BIGINT,
  last_at     BIGINT,
  runs        BIGINT NOT NULL DEFAULT 0,
  runs_max    BIGINT,
  until       BIGINT,
  planning    BIGINT NOT NULL DEFAULT 0,
  note        TEXT NOT NULL DEFAULT '',
  why         TEXT NOT NULL DEFAULT '',
  created_at  BIGINT NOT NULL,
  created_by  TEXT NOT NULL,
  PRIMARY KEY (owner, id)
) {clustered};
