-- How many sessions, turns and terms an owner has, so that a search need not add up the sessions. Triggers keep it, so that no
-- verb can forget to. What an owner has is the sum over `part`: see the triggers of each database for what a part is.
CREATE TABLE turn_totals (
  owner        TEXT NOT NULL,
  part         BIGINT NOT NULL,
  sessions     BIGINT NOT NULL,
  user_turns   BIGINT NOT NULL,
  user_terms   BIGINT NOT NULL,
  others_turns BIGINT NOT NULL,
  others_terms BIGINT NOT NULL,
  PRIMARY KEY (owner, part)
) {clustered};

INSERT INTO turn_totals
  SELECT owner, 0, count(*), sum(user_turns), sum(user_terms), sum(others_turns), sum(others_terms)
  FROM sessions WHERE turns > 0 GROUP BY owner;
