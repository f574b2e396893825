
-- One writer, one part.
CREATE TRIGGER turns_counted AFTER UPDATE OF turns, user_turns, user_terms, others_turns, others_terms ON sessions
BEGIN
  INSERT INTO turn_totals VALUES (
    NEW.owner, 0, (NEW.turns > 0) - (OLD.turns > 0), NEW.user_turns - OLD.user_turns, NEW.user_terms - OLD.user_terms,
    NEW.others_turns - OLD.others_turns, NEW.others_terms - OLD.others_terms)
  ON CONFLICT (owner, part) DO UPDATE SET
    sessions = sessions + excluded.sessions, user_turns = user_turns + excluded.user_turns,
    user_terms = user_terms + excluded.user_terms, others_turns = others_turns + excluded.others_turns,
    others_terms = others_terms + excluded.others_terms;
END;
CREATE TRIGGER session_counted AFTER INSERT ON sessions WHEN NEW.turns > 0
BEGIN
  INSERT INTO turn_totals VALUES (
    NEW.owner, 0, 1, NEW.user_turns, NEW.user_terms, NEW.others_turns, NEW.others_terms)
  ON CONFLICT (owner, part) DO UPDATE SET
    sessions = sessions + excluded.sessions, user_turns = user_turns + excluded.user_turns,
    user_terms = user_terms + excluded.user_terms, others_turns = others_turns + excluded.others_turns,
    others_terms = others_terms + excluded.others_terms;
END;
CREATE TRIGGER session_uncounted AFTER DELETE ON sessions WHEN OLD.turns > 0
BEGIN
  UPDATE turn_totals SET
    sessions = sessions - 1, user_turns = user_turns - OLD.user_turns, user_terms = user_terms - OLD.user_terms,
    others_turns = others_turns - OLD.others_turns, others_terms = others_terms - OLD.others_terms
  WHERE owner = OLD.owner AND part = 0;
END;
