-- Search by meaning: what is to be embedded, by which embedder, and the vectors. And how much there is of each kind of record.

CREATE TABLE search_totals (
  owner       TEXT NOT NULL,
  kind        TEXT NOT NULL,
  records     BIGINT NOT NULL,
  terms       BIGINT NOT NULL,
  PRIMARY KEY (owner, kind)
) {clustered};

-- Rows of `search_terms` that have no vector yet. A list, and not a number up to which all have one: rows of PostgreSQL come
-- to light in another order than they are numbered.
CREATE TABLE search_fresh (
  owner       TEXT NOT NULL,
  id          BIGINT NOT NULL,
  PRIMARY KEY (owner, id)
) {clustered};

-- The embedders that were ever used; the last is in use. When it is new, all rows up to `until` are put on the list again, as
-- far as `walked_to` until now.
CREATE TABLE search_embedders (
  generation  BIGINT PRIMARY KEY,
  name        TEXT NOT NULL,
  walked_to   BIGINT NOT NULL,
  until       BIGINT NOT NULL
) {clustered};

-- `number` is the owner's own, in the order of commits, so that a reader who knows all up to one asks for those after it.
CREATE TABLE search_vectors (
  owner       TEXT NOT NULL,
  generation  BIGINT NOT NULL,
  number      BIGINT NOT NULL,
  id          BIGINT NOT NULL REFERENCES search_terms (id) ON DELETE CASCADE,
  vector      {bytes} NOT NULL,
  PRIMARY KEY (owner, generation, number)
) {clustered};
CREATE UNIQUE INDEX search_vectors_of ON search_vectors (id, generation);
