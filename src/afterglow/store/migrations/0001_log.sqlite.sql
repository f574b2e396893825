CREATE VIRTUAL TABLE turn_index USING fts5(
  terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE turn_vocab USING fts5vocab(turn_index, row);

CREATE TRIGGER turn_terms_added AFTER INSERT ON turn_terms BEGIN
  INSERT INTO turn_index (rowid, terms) VALUES (new.id, new.mark || replace(new.terms, ' ', ' ' || new.mark));
END;
CREATE TRIGGER turn_terms_removed AFTER DELETE ON turn_terms BEGIN
  INSERT INTO turn_index (turn_index, rowid, terms)
  VALUES ('delete', old.id, old.mark || replace(old.terms, ' ', ' ' || old.mark));
END;
