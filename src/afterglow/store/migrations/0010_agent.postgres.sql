GRANT SELECT, INSERT, UPDATE, DELETE ON inbox, tasks TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['inbox', 'tasks']);
