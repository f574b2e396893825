GRANT SELECT, INSERT, UPDATE, DELETE ON summaries TO afterglow_owner, afterglow_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON fleet TO afterglow_worker;

ALTER TABLE summaries ENABLE ROW LEVEL SECURITY;
ALTER TABLE summaries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON summaries TO afterglow_owner
  USING (owner = ANY (afterglow_owners())) WITH CHECK (owner = ANY (afterglow_owners()));
CREATE POLICY all_rows ON summaries TO afterglow_worker USING (true) WITH CHECK (true);
