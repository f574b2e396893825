-- Two roles, beside whoever connects: `afterglow_owner` for the requests of one owner, which sees that owner's rows and
-- no others whatever a query says, and `afterglow_worker` for background work and the operator.

-- The database's clock; a test may set the moment for its own transaction.
CREATE FUNCTION afterglow_now() RETURNS BIGINT LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    nullif(current_setting('afterglow.now_us', true), '')::bigint,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
$$;

-- The owner of this transaction and all that an alias has joined to it, the one it is joined to first.
CREATE FUNCTION afterglow_owners() RETURNS TEXT[] LANGUAGE sql STABLE SECURITY DEFINER
SET search_path FROM CURRENT AS $$
  SELECT array_prepend(root, array(SELECT owner FROM aliases WHERE joined_to = root ORDER BY owner))
  FROM (SELECT coalesce((SELECT joined_to FROM aliases WHERE owner = given), given) AS root
        FROM (SELECT nullif(current_setting('afterglow.owner', true), '') AS given) AS asked
        WHERE given IS NOT NULL) AS resolved
$$;

ALTER TABLE search_terms ADD COLUMN lexemes TSVECTOR
  GENERATED ALWAYS AS (array_to_tsvector(string_to_array(mark || replace(terms, ' ', ' ' || mark), ' '))) STORED;
CREATE INDEX search_terms_by_lexeme ON search_terms USING gin (lexemes);

-- Text search operators may not run before a row-level policy, so the index would be of no use to `afterglow_owner`.
-- These two run as the worker, and apply the owner's filter themselves.
CREATE FUNCTION afterglow_matches(token TEXT, since BIGINT, until BIGINT, labels TEXT, most BIGINT)
RETURNS SETOF BIGINT LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT id FROM search_terms
  WHERE lexemes @@ quote_literal(token)::tsquery AND owner = ANY (afterglow_owners()) AND at >= since AND at < until
    AND (labels = '' OR label = ANY (string_to_array(labels, ',')))
  ORDER BY id DESC LIMIT most
$$;
CREATE FUNCTION afterglow_matches_count(token TEXT) RETURNS BIGINT LANGUAGE sql STABLE SECURITY DEFINER
SET search_path FROM CURRENT AS $$
  SELECT count(*) FROM search_terms
  WHERE lexemes @@ quote_literal(token)::tsquery AND owner = ANY (afterglow_owners())
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON owners, sessions, turns, whole_turns, search_terms TO afterglow_owner;
GRANT SELECT, INSERT, UPDATE, DELETE
  ON owners, aliases, sessions, turns, whole_turns, search_terms, access_tokens TO afterglow_worker;
GRANT SELECT ON schema_versions TO afterglow_owner, afterglow_worker;

ALTER FUNCTION afterglow_owners() OWNER TO afterglow_worker;
ALTER FUNCTION afterglow_matches(TEXT, BIGINT, BIGINT, TEXT, BIGINT) OWNER TO afterglow_worker;
ALTER FUNCTION afterglow_matches_count(TEXT) OWNER TO afterglow_worker;

-- Of these tables an owner's transaction sees and changes its own rows alone, and the worker's all.
CREATE FUNCTION afterglow_guard(names TEXT[]) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  name TEXT;
BEGIN
  FOREACH name IN ARRAY names LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_rows ON %I TO afterglow_owner
                    USING (owner = ANY (afterglow_owners())) WITH CHECK (owner = ANY (afterglow_owners()))', name);
    EXECUTE format('CREATE POLICY all_rows ON %I TO afterglow_worker USING (true) WITH CHECK (true)', name);
  END LOOP;
END
$$;
SELECT afterglow_guard(ARRAY['owners', 'sessions', 'turns', 'whole_turns', 'search_terms']);
