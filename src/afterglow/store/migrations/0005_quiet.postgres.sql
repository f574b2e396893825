GRANT SELECT, INSERT, UPDATE, DELETE ON summaries TO afterglow_owner, afterglow_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON fleet TO afterglow_worker;

SELECT afterglow_guard(ARRAY['summaries']);
