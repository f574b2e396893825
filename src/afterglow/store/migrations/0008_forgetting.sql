-- Forgetting: what is still to be removed, and what keeps it from coming back. See store/forgetting.py and store/stones.py.

ALTER TABLE sessions ADD COLUMN stones BIGINT NOT NULL DEFAULT 0;
-- 0 no, 1 it is to be forgotten, 2 that has begun.
ALTER TABLE sessions ADD COLUMN forgetting BIGINT NOT NULL DEFAULT 0;
CREATE INDEX sessions_forgetting ON sessions (owner, id) WHERE forgetting > 0;
-- 0 no, 1 it is being forgotten, 2 without anything that keeps it from coming back.
ALTER TABLE owners ADD COLUMN forgetting BIGINT NOT NULL DEFAULT 0;
CREATE INDEX owners_forgetting ON owners (owner) WHERE forgetting > 0;

-- Who has forgotten anything. The salt is drawn by chance, so that digests say nothing about another owner's words.
CREATE TABLE stone_salts (
  owner       TEXT PRIMARY KEY,
  salt        TEXT NOT NULL
) {clustered};

CREATE TABLE stones (
  owner       TEXT NOT NULL,
  digest      TEXT NOT NULL,
  PRIMARY KEY (owner, digest)
) {clustered};
