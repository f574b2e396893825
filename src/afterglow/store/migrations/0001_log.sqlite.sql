-- The index follows behind `search_terms`, a batch at a time, so that nobody waits for it: all rows up to `indexed_to` are in
-- it, and a search looks through the few after that by itself.
CREATE VIRTUAL TABLE search_index USING fts5(
  terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE search_vocab USING fts5vocab(search_index, row);
CREATE TABLE search_progress (id INTEGER PRIMARY KEY CHECK (id = 1), indexed_to INTEGER NOT NULL);
INSERT INTO search_progress VALUES (1, 0);
