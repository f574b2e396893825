GRANT SELECT, INSERT, UPDATE, DELETE ON presence, goal_events, digests, arrivals TO afterglow_owner, afterglow_worker;

DO $$
DECLARE
  name TEXT;
BEGIN
  FOREACH name IN ARRAY ARRAY['presence', 'goal_events', 'digests', 'arrivals'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_rows ON %I TO afterglow_owner
                    USING (owner = ANY (afterglow_owners())) WITH CHECK (owner = ANY (afterglow_owners()))', name);
    EXECUTE format('CREATE POLICY all_rows ON %I TO afterglow_worker USING (true) WITH CHECK (true)', name);
  END LOOP;
END
$$;
