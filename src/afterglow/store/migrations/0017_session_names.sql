-- A session has an id of its own and may have a name; of several with one name the newest is meant. Until now the id of a named
-- session was its name: it stays its id, and becomes its name too.
ALTER TABLE sessions ADD COLUMN name TEXT;
UPDATE sessions SET name = id WHERE length(id) <> 16;
CREATE INDEX sessions_by_name ON sessions (owner, name, created_at, id);
