-- What each memory file said when it was last written, as a digest; empty for one that was left as it is. See store/files.py.
CREATE TABLE written_files (
  owner         TEXT NOT NULL,
  name          TEXT NOT NULL,
  digest        TEXT NOT NULL,
  PRIMARY KEY (owner, name)
) {clustered};

-- What facts_forgotten was when the owner's memory files were last written.
ALTER TABLE owners ADD COLUMN files_forgotten BIGINT NOT NULL DEFAULT 0;
