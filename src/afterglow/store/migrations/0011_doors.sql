-- Who may come in, and what happens live. See store/access.py and store/happenings.py.

-- A token may be bound to one owner. A link lets one browser sign in, once; a session is a browser that did.
ALTER TABLE access_tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'link', 'session'));
ALTER TABLE access_tokens ADD COLUMN bound_to TEXT;
ALTER TABLE access_tokens ADD COLUMN expires_at BIGINT;
ALTER TABLE access_tokens ADD COLUMN last_used_at BIGINT;

CREATE INDEX spend_by_day ON spend (day);
CREATE INDEX goal_events_of_everyone ON goal_events (at, number, owner);

-- The newest things that happened, without a word of what was said. Triggers write them, so that no verb can forget to.
CREATE TABLE happenings (
  id          {id},
  owner       TEXT NOT NULL,
  kind        TEXT NOT NULL,
  session     TEXT,
  what        TEXT,
  number      BIGINT
);
CREATE INDEX happenings_of ON happenings (owner, id);

-- Everyone's facts, the newest first.
CREATE INDEX facts_of_everyone ON facts (source_date, id);
