GRANT SELECT, INSERT, UPDATE, DELETE ON facts, evidence, readings, memory_files TO afterglow_owner, afterglow_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON schedules TO afterglow_worker;

SELECT afterglow_guard(ARRAY['facts', 'evidence', 'readings', 'memory_files']);
