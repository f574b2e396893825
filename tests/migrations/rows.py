"""What a database of each past schema may hold. A new migration comes with the rows of the schema that it makes."""

from __future__ import annotations

from tests.kit.records import KATE

OWNER = KATE.owner

ROWS: dict[int, list[str]] = {
    1: [
        f"INSERT INTO owners (owner, created_at) VALUES ('{OWNER}', 1)",
        f"""INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns, exchanges, tokens,
                                  last_role, user_turns, user_terms, others_turns, others_terms)
            VALUES ('{OWNER}', 'old', 'kate', 'telegram', 'ana', 'open', 1, 3, 2, 1, 5, 'assistant', 1, 2, 1, 1)""",
        f"""INSERT INTO turns (owner, session, seq, role, text, parts, at, tokens, trust, origin, recalled, key, removed,
                               bytes, cut)
            VALUES ('{OWNER}', 'old', 1, 'user', 'red kettle', '[]', 2, 2, 'owner', 'person', '[]', 'k1', '{{}}', 10, 0),
                   ('{OWNER}', 'old', 2, 'assistant', 'head …', '[]', 3, 3, 'agent', 'agent', '[]', 'k2', '{{}}', 99, 1)""",
        f"INSERT INTO whole_turns VALUES ('{OWNER}', 'old', 2, 'head and the whole of it', '[]')",
        f"""INSERT INTO search_terms (owner, kind, place, seq, label, at, mark, terms)
            VALUES ('{OWNER}', 'turn', 'old', 1, 'user', 2, 'm_', 'red kettle'),
                   ('{OWNER}', 'turn', 'old', 2, 'assistant', 3, 'n_', 'head')""",
        "INSERT INTO access_tokens (id, name, scope, digest, created_at) VALUES ('t', 'mine', 'owner', 'digest', 1)",
    ],
    2: [
        f"""INSERT INTO work (owner, kind, subject, due_at, ready_at, reason)
            VALUES ('{OWNER}', 'context', 'old', 5, 5, 'interval')""",
        f"INSERT INTO work_heads VALUES ('{OWNER}', 'context', 5)",
    ],
    3: [
        f"""INSERT INTO blocks (owner, session, number, level, first_seq, last_seq, first_at, last_at, text, tokens,
              span_tokens, children, input_hash, prompt, model, input_tokens, output_tokens, reason, extract, lost,
              lost_count, created_at, shown_from)
            VALUES ('{OWNER}', 'old', 1, 0, 1, 2, 2, 3, 'a kettle', 3, 5, '[]', 'h', 'fold-1', 'm', 9, 3, 'manual', 0,
              '[]', 0, 4, 3)""",
        f"""INSERT INTO reports (owner, session, source, number, label, text, tokens, asked_at, start_at, end_at, shown_from)
            VALUES ('{OWNER}', 'old', 'calendar', 1, 'Calendar', 'dentist', 2, 4, 2, 3, 3)""",
        f"""UPDATE sessions SET folded_to = 2, folded_turns = 2, folded_exchanges = 1, blocks_version = 1,
              block_tokens = 3, tail_tokens = 0, fence = 'f' WHERE owner = '{OWNER}' AND id = 'old'""",
    ],
    4: [
        f"""INSERT INTO spend (owner, session, day, at, purpose, model, tokens, micro_usd)
            VALUES ('{OWNER}', 'old', '2026-03-02', 1, 'fold', 'openai:m', 10, 5)""",
        "INSERT INTO spend_days VALUES ('2026-03-02', 1, 10, 5)",
    ],
    5: [
        f"""INSERT INTO summaries (owner, session, last_seq, first_seq, first_at, last_at, agent, title, summary, category,
              decisions, open_threads, outcomes, people, trigger, model, prompt, input_tokens, output_tokens, degraded,
              newest, created_at)
            VALUES ('{OWNER}', 'old', 2, 1, 2, 3, 'kate', 'A kettle', 'It is red.', 'other', '[]', '[]', '[]', '[]',
              'manual', 'm', 'summary-1', 9, 3, 0, 1, 4)""",
        f"UPDATE sessions SET summary_seq = 2 WHERE owner = '{OWNER}' AND id = 'old'",
    ],
    6: [
        f"""INSERT INTO facts (owner, id, type, content, confidence, source_date, extracted_at, trust, status, session, way,
              model, prompt, changed_at, digest)
            VALUES ('{OWNER}', 'f', 'other', 'The kettle is red.', 'high', '1970-01-01', 4, 'owner', 'active', 'old',
              'extracted', 'm', 'facts-1', 4, 'd')""",
        f"INSERT INTO evidence VALUES ('{OWNER}', 'old', 1, '{OWNER}', 'f', 'red kettle', 2, 1, 0)",
        f"INSERT INTO readings VALUES ('{OWNER}', 'old', 2, 4, 1, 1, 0, '{{}}', 'm', 'facts-1')",
        "INSERT INTO schedules VALUES ('facts', 4)",
        f"UPDATE sessions SET facts_seq = 2 WHERE owner = '{OWNER}' AND id = 'old'",
        f"UPDATE owners SET facts_version = 1 WHERE owner = '{OWNER}'",
    ],
    7: [
        f"INSERT INTO search_totals VALUES ('{OWNER}', 'fact', 1, 2)",
        "INSERT INTO search_embedders VALUES (1, 'some', 0, 2)",
        f"INSERT INTO search_vectors SELECT '{OWNER}', 1, 1, min(id), '12' FROM search_terms",
    ],
    8: [
        f"INSERT INTO stone_salts VALUES ('{OWNER}', '5a17')",
        f"INSERT INTO stones VALUES ('{OWNER}', 'd1')",
    ],
    9: [
        f"""INSERT INTO presence (owner, agent, version, seen_at, channel, sender, events)
            VALUES ('{OWNER}', 'kate', 1, 3, 'telegram', 'ana', 1)""",
        f"INSERT INTO goal_events VALUES ('{OWNER}', 'kate', 1, 'boil', '1', 'completed', 'Boil', '', 4)",
        f"INSERT INTO digests VALUES ('{OWNER}', 'kate', 1, 3, 1, 'none', 'nothing happened', 0, 0, '', 'return', 0, 0)",
        f"INSERT INTO arrivals VALUES ('{OWNER}', 'm', 3, 'w', NULL, 4)",
    ],
    10: [
        f"""INSERT INTO inbox (owner, place, number, agent, channel, sender, reason, text, parts, at, key)
            VALUES ('{OWNER}', 'old', 1, 'kate', 'telegram', 'ana', 'user_message', 'hello', '[]', 3, 'k')""",
        f"""INSERT INTO tasks (owner, id, agent, channel, sender, prompt, kind, schedule, zone, state, created_at, created_by)
            VALUES ('{OWNER}', 'look', 'kate', 'telegram', 'ana', 'Look.', 'cron', '0 9 * * *', 'UTC', 'active', 3, 'owner')""",
    ],
    11: [
        f"""INSERT INTO access_tokens (id, name, scope, digest, created_at, kind, bound_to, expires_at, last_used_at)
            VALUES ('b', 'bound', 'read', 'digest of b', 1, 'session', '{OWNER}', 9, 2)""",
        f"INSERT INTO happenings (owner, kind, session, number) VALUES ('{OWNER}', 'turn', 'old', 1)",
    ],
    12: [
        f"""INSERT INTO audit (at, owner, who, what, session, about)
            VALUES (4, '{OWNER}', 'cli:ana', 'close_session', 'old', '{{}}')""",
    ],
    13: [
        f"""INSERT INTO audit (at, owner, who, what, session, about)
            VALUES (5, '{OWNER}', 'token:phone', 'append', 'old', '{{"first_seq": 1}}')""",
    ],
    14: [f"INSERT INTO written_files VALUES ('{OWNER}', 'facts/1970-01-01.json', 'd')"],
    15: [],  # its one table is filled by triggers
}
