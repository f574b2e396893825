GRANT SELECT, INSERT, UPDATE, DELETE ON presence, goal_events, digests, arrivals TO afterglow_owner, afterglow_worker;

SELECT afterglow_guard(ARRAY['presence', 'goal_events', 'digests', 'arrivals']);
