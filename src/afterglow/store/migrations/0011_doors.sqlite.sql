
CREATE TRIGGER turn_happened AFTER INSERT ON turns BEGIN
  INSERT INTO happenings (owner, kind, session, number) VALUES (NEW.owner, 'turn', NEW.session, NEW.seq);
END;
CREATE TRIGGER block_happened AFTER INSERT ON blocks BEGIN
  INSERT INTO happenings (owner, kind, session, number) VALUES (NEW.owner, 'block', NEW.session, NEW.number);
END;
CREATE TRIGGER summary_happened AFTER INSERT ON summaries BEGIN
  INSERT INTO happenings (owner, kind, session, number) VALUES (NEW.owner, 'summary', NEW.session, NEW.last_seq);
END;
CREATE TRIGGER summary_happened_again AFTER UPDATE OF summary ON summaries BEGIN
  INSERT INTO happenings (owner, kind, session, number) VALUES (NEW.owner, 'summary', NEW.session, NEW.last_seq);
END;
CREATE TRIGGER fact_happened AFTER INSERT ON facts BEGIN
  INSERT INTO happenings (owner, kind, session, what) VALUES (NEW.owner, 'fact', NEW.session, NEW.id);
END;
CREATE TRIGGER fact_happened_again AFTER UPDATE OF status ON facts WHEN OLD.status <> NEW.status BEGIN
  INSERT INTO happenings (owner, kind, session, what) VALUES (NEW.owner, 'fact', NEW.session, NEW.id);
END;
CREATE TRIGGER goal_happened AFTER INSERT ON goal_events BEGIN
  INSERT INTO happenings (owner, kind, what, number) VALUES (NEW.owner, 'goal', NEW.agent, NEW.number);
END;
CREATE TRIGGER digest_happened AFTER INSERT ON digests BEGIN
  INSERT INTO happenings (owner, kind, what, number) VALUES (NEW.owner, 'digest', NEW.agent, NEW.number);
END;
CREATE TRIGGER digest_happened_again AFTER UPDATE OF status ON digests WHEN OLD.status <> NEW.status BEGIN
  INSERT INTO happenings (owner, kind, what, number) VALUES (NEW.owner, 'digest', NEW.agent, NEW.number);
END;
CREATE TRIGGER work_happened AFTER UPDATE OF token ON work WHEN OLD.token IS NOT NULL AND NEW.token IS NULL BEGIN
  INSERT INTO happenings (owner, kind, session, what) VALUES (NEW.owner, 'work', NEW.subject, NEW.kind);
END;
CREATE TRIGGER session_happened AFTER INSERT ON sessions BEGIN
  INSERT INTO happenings (owner, kind, session) VALUES (NEW.owner, 'session', NEW.id);
END;
CREATE TRIGGER session_happened_again AFTER UPDATE OF state ON sessions WHEN OLD.state <> NEW.state BEGIN
  INSERT INTO happenings (owner, kind, session) VALUES (NEW.owner, 'session', NEW.id);
END;

-- Of what is forgotten not even the name stays.
CREATE TRIGGER session_forgotten AFTER DELETE ON sessions BEGIN
  DELETE FROM happenings WHERE owner = OLD.owner AND session = OLD.id;
END;
CREATE TRIGGER owner_forgotten AFTER DELETE ON owners BEGIN
  DELETE FROM happenings WHERE owner = OLD.owner;
  DELETE FROM access_tokens WHERE bound_to = OLD.owner;
END;

-- The newest ten thousand are kept.
CREATE TRIGGER happenings_end AFTER INSERT ON happenings WHEN NEW.id % 100 = 0 BEGIN
  DELETE FROM happenings WHERE id <= NEW.id - 10000;
END;
