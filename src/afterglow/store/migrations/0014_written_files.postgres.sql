GRANT SELECT, INSERT, UPDATE, DELETE ON written_files TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['written_files']);
