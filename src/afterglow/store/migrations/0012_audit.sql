-- What changed memory: who did what, and when. See store/audit.py.

-- `owner` is whose memory it was: '' where it concerns all of them, a digest where the owner is forgotten. `session` is its
-- name, or a digest where it is forgotten. `about` is JSON of ids and numbers, and holds no word of what was said.
CREATE TABLE audit (
  id          {id},
  at          BIGINT NOT NULL,
  owner       TEXT NOT NULL,
  who         TEXT NOT NULL,
  what        TEXT NOT NULL,
  session     TEXT,
  about       TEXT NOT NULL
);
CREATE INDEX audit_of ON audit (owner, id);
