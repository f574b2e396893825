-- Filled by the store just before each commit, once for all turns of the batch: a trigger would make the index write
-- itself out for every turn.
CREATE VIRTUAL TABLE turn_index USING fts5(
  terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE turn_vocab USING fts5vocab(turn_index, row);
