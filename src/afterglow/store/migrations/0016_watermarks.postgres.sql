GRANT SELECT, INSERT, UPDATE, DELETE ON source_watermarks TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['source_watermarks']);
