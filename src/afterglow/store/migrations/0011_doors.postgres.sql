
GRANT SELECT, INSERT, UPDATE, DELETE ON happenings TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['happenings']);

-- It runs as the worker: an owner's transaction may forget tokens that are bound to it, which it cannot see. The newest
-- ten thousand happenings are kept; who is busy with some of the others does not hold anybody up.
CREATE FUNCTION afterglow_happened() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  happening BIGINT;
BEGIN
  CASE TG_ARGV[0]
    WHEN 'turn' THEN
      INSERT INTO happenings (owner, kind, session, number) VALUES (NEW.owner, 'turn', NEW.session, NEW.seq)
        RETURNING id INTO happening;
    WHEN 'block' THEN
      INSERT INTO happenings (owner, kind, session, number) VALUES (NEW.owner, 'block', NEW.session, NEW.number)
        RETURNING id INTO happening;
    WHEN 'summary' THEN
      INSERT INTO happenings (owner, kind, session, number) VALUES (NEW.owner, 'summary', NEW.session, NEW.last_seq)
        RETURNING id INTO happening;
    WHEN 'fact' THEN
      INSERT INTO happenings (owner, kind, session, what) VALUES (NEW.owner, 'fact', NEW.session, NEW.id)
        RETURNING id INTO happening;
    WHEN 'work' THEN
      INSERT INTO happenings (owner, kind, session, what) VALUES (NEW.owner, 'work', NEW.subject, NEW.kind)
        RETURNING id INTO happening;
    WHEN 'session' THEN
      INSERT INTO happenings (owner, kind, session) VALUES (NEW.owner, 'session', NEW.id)
        RETURNING id INTO happening;
    ELSE
      INSERT INTO happenings (owner, kind, what, number) VALUES (NEW.owner, TG_ARGV[0], NEW.agent, NEW.number)
        RETURNING id INTO happening;
  END CASE;
  IF happening % 100 = 0 THEN
    DELETE FROM happenings WHERE id IN
      (SELECT id FROM happenings WHERE id <= happening - 10000 ORDER BY id FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN NULL;
END
$$;
CREATE FUNCTION afterglow_unhappened() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_ARGV[0] = 'session' THEN
    DELETE FROM happenings WHERE owner = OLD.owner AND session = OLD.id;
  ELSE
    DELETE FROM happenings WHERE owner = OLD.owner;
    DELETE FROM access_tokens WHERE bound_to = OLD.owner;
  END IF;
  RETURN NULL;
END
$$;
ALTER FUNCTION afterglow_happened() OWNER TO afterglow_worker;
ALTER FUNCTION afterglow_unhappened() OWNER TO afterglow_worker;

CREATE TRIGGER turn_happened AFTER INSERT ON turns FOR EACH ROW EXECUTE FUNCTION afterglow_happened('turn');
CREATE TRIGGER block_happened AFTER INSERT ON blocks FOR EACH ROW EXECUTE FUNCTION afterglow_happened('block');
CREATE TRIGGER summary_happened AFTER INSERT OR UPDATE OF summary ON summaries
  FOR EACH ROW EXECUTE FUNCTION afterglow_happened('summary');
CREATE TRIGGER fact_happened AFTER INSERT ON facts FOR EACH ROW EXECUTE FUNCTION afterglow_happened('fact');
CREATE TRIGGER fact_happened_again AFTER UPDATE OF status ON facts
  FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION afterglow_happened('fact');
CREATE TRIGGER goal_happened AFTER INSERT ON goal_events FOR EACH ROW EXECUTE FUNCTION afterglow_happened('goal');
CREATE TRIGGER digest_happened AFTER INSERT ON digests FOR EACH ROW EXECUTE FUNCTION afterglow_happened('digest');
CREATE TRIGGER digest_happened_again AFTER UPDATE OF status ON digests
  FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION afterglow_happened('digest');
CREATE TRIGGER work_happened AFTER UPDATE OF token ON work
  FOR EACH ROW WHEN (OLD.token IS NOT NULL AND NEW.token IS NULL) EXECUTE FUNCTION afterglow_happened('work');
CREATE TRIGGER session_happened AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION afterglow_happened('session');
CREATE TRIGGER session_happened_again AFTER UPDATE OF state ON sessions
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION afterglow_happened('session');
CREATE TRIGGER session_forgotten AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION afterglow_unhappened('session');
CREATE TRIGGER owner_forgotten AFTER DELETE ON owners FOR EACH ROW EXECUTE FUNCTION afterglow_unhappened('owner');
