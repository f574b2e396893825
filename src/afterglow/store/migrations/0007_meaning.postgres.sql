CREATE FUNCTION afterglow_fresh_added() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_fresh (owner, id) VALUES (new.owner, new.id);
  RETURN NULL;
END
$$;
CREATE FUNCTION afterglow_fresh_removed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_fresh WHERE owner = old.owner AND id = old.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER search_fresh_added AFTER INSERT ON search_terms
  FOR EACH ROW EXECUTE FUNCTION afterglow_fresh_added();
CREATE TRIGGER search_fresh_removed AFTER DELETE ON search_terms
  FOR EACH ROW EXECUTE FUNCTION afterglow_fresh_removed();

-- Which embedders there are is nobody's secret; who sets one up is the worker.
GRANT SELECT ON search_embedders TO afterglow_owner;
GRANT SELECT, INSERT, UPDATE, DELETE ON search_embedders TO afterglow_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON search_totals, search_fresh, search_vectors TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['search_totals', 'search_fresh', 'search_vectors']);
