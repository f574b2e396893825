CREATE TRIGGER search_fresh_added AFTER INSERT ON search_terms
BEGIN
  INSERT INTO search_fresh (owner, id) VALUES (new.owner, new.id);
END;
CREATE TRIGGER search_fresh_removed AFTER DELETE ON search_terms
BEGIN
  DELETE FROM search_fresh WHERE owner = old.owner AND id = old.id;
END;
