
-- The totals of the days are of all owners, so they are no owner's business.
GRANT SELECT, INSERT, UPDATE, DELETE ON spend TO afterglow_owner, afterglow_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON spend_days TO afterglow_worker;

SELECT afterglow_guard(ARRAY['spend']);
