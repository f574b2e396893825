
-- Sixteen parts, by the session's name: a row that is changed is locked until the commit, and turns of two sessions of one owner
-- would wait for each other.
CREATE FUNCTION afterglow_turns_counted() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO turn_totals AS t VALUES (
    coalesce(NEW.owner, OLD.owner), hashtext(coalesce(NEW.id, OLD.id)) & 15,
    coalesce((NEW.turns > 0)::int, 0) - coalesce((OLD.turns > 0)::int, 0),
    coalesce(NEW.user_turns, 0) - coalesce(OLD.user_turns, 0), coalesce(NEW.user_terms, 0) - coalesce(OLD.user_terms, 0),
    coalesce(NEW.others_turns, 0) - coalesce(OLD.others_turns, 0),
    coalesce(NEW.others_terms, 0) - coalesce(OLD.others_terms, 0))
  ON CONFLICT (owner, part) DO UPDATE SET
    sessions = t.sessions + excluded.sessions, user_turns = t.user_turns + excluded.user_turns,
    user_terms = t.user_terms + excluded.user_terms, others_turns = t.others_turns + excluded.others_turns,
    others_terms = t.others_terms + excluded.others_terms;
  RETURN NULL;
END
$$;
CREATE TRIGGER turns_counted AFTER UPDATE OF turns, user_turns, user_terms, others_turns, others_terms ON sessions
  FOR EACH ROW EXECUTE FUNCTION afterglow_turns_counted();
CREATE TRIGGER session_counted AFTER INSERT ON sessions
  FOR EACH ROW WHEN (NEW.turns > 0) EXECUTE FUNCTION afterglow_turns_counted();
CREATE TRIGGER session_uncounted AFTER DELETE ON sessions
  FOR EACH ROW WHEN (OLD.turns > 0) EXECUTE FUNCTION afterglow_turns_counted();

GRANT SELECT, INSERT, UPDATE, DELETE ON turn_totals TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['turn_totals']);
