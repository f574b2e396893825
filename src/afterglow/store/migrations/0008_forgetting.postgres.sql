GRANT SELECT, INSERT, UPDATE, DELETE ON stone_salts, stones TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['stone_salts', 'stones']);
