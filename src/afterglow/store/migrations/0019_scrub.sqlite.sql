INSERT INTO work (owner, kind, subject, due_at, ready_at, reason)
  SELECT '', 'scrub', 'database', 0, 0, 'upgrade' WHERE EXISTS (SELECT 1 FROM stone_salts);
INSERT INTO work_heads (owner, kind, look_at) SELECT '', 'scrub', 0 WHERE EXISTS (SELECT 1 FROM stone_salts);
