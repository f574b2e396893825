-- Who writes to a session: the audit has a line where that changes, and the newest is looked up with every turn.
CREATE INDEX audit_writers ON audit (owner, session, id) WHERE what = 'append';
