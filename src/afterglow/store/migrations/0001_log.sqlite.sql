-- The index follows behind `turn_terms`, a batch at a time, so that nobody waits for it: all rows up to `indexed_to` are in
-- it, and a search looks through the few after that by itself.
CREATE VIRTUAL TABLE turn_index USING fts5(
  terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE turn_vocab USING fts5vocab(turn_index, row);
CREATE TABLE index_progress (id INTEGER PRIMARY KEY CHECK (id = 1), indexed_to INTEGER NOT NULL);
INSERT INTO index_progress VALUES (1, 0);
