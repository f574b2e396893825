GRANT SELECT, INSERT, UPDATE, DELETE ON blocks, reports TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['blocks', 'reports']);
