GRANT SELECT, INSERT, UPDATE, DELETE ON work, work_heads TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['work', 'work_heads']);
