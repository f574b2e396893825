
-- A line stays as it was written. Only forgetting takes the name of a session out of it, or removes it with its owner.
GRANT SELECT, INSERT, UPDATE (session) ON audit TO afterglow_owner, afterglow_worker;
GRANT DELETE ON audit TO afterglow_worker;

SELECT afterglow_guard(ARRAY['audit']);
