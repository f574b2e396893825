-- Up to when each source has reported to an owner by way of an agent, in whichever session.
CREATE TABLE source_watermarks (
  owner         TEXT NOT NULL,
  agent         TEXT NOT NULL,
  source        TEXT NOT NULL,
  reported_to   BIGINT NOT NULL,
  PRIMARY KEY (owner, agent, source)
) {clustered};

INSERT INTO source_watermarks
  SELECT reports.owner, sessions.agent, reports.source, max({least}(reports.end_at, reports.asked_at))
  FROM reports JOIN sessions ON sessions.owner = reports.owner AND sessions.id = reports.session
  GROUP BY reports.owner, sessions.agent, reports.source;
