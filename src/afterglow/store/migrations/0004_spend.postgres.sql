
-- The totals of the days are of all owners, so they are no owner's business.
GRANT SELECT, INSERT, UPDATE, DELETE ON spend TO afterglow_owner, afterglow_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON spend_days TO afterglow_worker;

ALTER TABLE spend ENABLE ROW LEVEL SECURITY;
ALTER TABLE spend FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON spend TO afterglow_owner
  USING (owner = ANY (afterglow_owners())) WITH CHECK (owner = ANY (afterglow_owners()));
CREATE POLICY all_rows ON spend TO afterglow_worker USING (true) WITH CHECK (true);
