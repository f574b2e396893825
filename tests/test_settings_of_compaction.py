"""Sources are declared by name, asked by [compaction], and otherwise by an agent; what does not fit is told with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from afterglow import settings
from afterglow.errors import BadSettings
from afterglow.settings import (
    CompactionSettings,
    ContextSourceSettings,
    Settings,
    SourceSettings,
    SpendSettings,
    describe,
    json_schema,
    load,
)
from afterglow.settings.aliases import ALIASES
from afterglow.settings.checking import LEAVES
from tests.kit.loops import for_each
from tests.kit.settings_files import (
    PASSWORD,
    empty_working_folder,  # noqa: F401 — each test of this module runs in it
    loaded_from,
    problems,
    the_problem,
    written,
)

pytestmark = pytest.mark.spec("DOOR-8")

SEED = """\
[compaction]
# Compact every N exchanges (0 = disabled, use threshold-based)
interval = 5
# Number of recent turns to keep verbatim
keep_recent = 6
# Model to use for summarization (cheap/fast)
model = "gemini-2.5-flash"
# Context sources queried during compaction
[[compaction.context_sources]]
hand = "calendar-hand"
prompt = "Summarize events that occurred and upcoming events in the next 4 hours. One paragraph, concise."
[[compaction.context_sources]]
hand = "mail-hand"
prompt = "Summarize unread or notable emails. Flag anything urgent. One paragraph."
"""
SOURCES = """
[sources.calendar-hand]
kind = "calendar"
address = "calendar.ics"

[sources.mail-hand]
kind = "mail"
address = "maildir:mail"
"""
FEED = '[sources.feed]\nkind = "http"\naddress = "https://feed.example/news"\n'


def source(**keys: Any) -> str:
    """A file that declares one source."""
    return "\n".join(["[sources.it]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())])


# What is declared


@pytest.mark.spec("CTX-1")
def test_without_a_file_compaction_has_the_defaults_of_the_spec() -> None:
    settings = load(environ={}).settings
    assert settings.compaction == CompactionSettings(
        interval=5,
        keep_recent=6,
        model="",
        base_url=None,
        fanout=6,
        block_budget_tokens=2000,
        gap_seconds=900,
        deadline_seconds=60,
        in_library=True,
        context_sources=(),
    )
    assert settings.spend == SpendSettings(
        day_ceiling_usd=5, day_ceiling_tokens=5_000_000, breaker_failures=5, breaker_seconds=60
    )
    assert settings.sources == {}
    assert (settings.context.context_limit_tokens, settings.context.window_tokens) == (8000, 0)


def test_a_window_of_0_is_four_times_the_limit() -> None:
    assert loaded_from("[context]\ncontext_limit_tokens = 10_000").context.whole_window_tokens == 40_000
    assert loaded_from("[context]\nwindow_tokens = 9000").context.whole_window_tokens == 9000


@pytest.mark.spec("SRC-6")
def test_the_compaction_of_the_seed_loads_as_it_is_beside_the_sources_it_asks() -> None:
    settings = loaded_from(SEED + SOURCES)
    assert (settings.compaction.interval, settings.compaction.keep_recent) == (5, 6)
    assert settings.compaction.model == "gemini-2.5-flash"
    assert [one.source for one in settings.compaction.context_sources] == ["calendar-hand", "mail-hand"]
    assert settings.compaction.context_sources[1].prompt.startswith("Summarize unread or notable emails. Flag")
    assert list(settings.sources) == ["calendar-hand", "mail-hand"]
    assert settings.sources["calendar-hand"].kind == "calendar"


@pytest.mark.spec("SRC-6")
def test_the_compaction_of_the_seed_alone_names_both_sources_and_what_to_add() -> None:
    assert problems(SEED) == [
        'compaction.context_sources.hand (afterglow.toml, line 10): there is no source "calendar-hand"; declare it '
        "in a table [sources.calendar-hand] with its kind and address; none is declared so far",
        'compaction.context_sources.hand (afterglow.toml, line 13): there is no source "mail-hand"; declare it '
        "in a table [sources.mail-hand] with its kind and address; none is declared so far",
    ]


@pytest.mark.spec("SRC-6")
def test_a_source_that_is_not_declared_is_an_error_that_lists_those_that_are() -> None:
    asked = '[[compaction.context_sources]]\nsource = "my feed"\n'
    assert the_problem(asked + SOURCES) == (
        'compaction.context_sources.source (afterglow.toml, line 2): there is no source "my feed"; declare it in a '
        'table [sources."my feed"] with its kind and address, or name one of those declared: calendar-hand, mail-hand'
    )


@pytest.mark.spec("SRC-6")
def test_yaml_says_the_same_as_toml() -> None:
    text = """
sources:
  calendar-hand: {kind: calendar, address: calendar.ics}
  mail-hand:
    kind: mail
    address: maildir:mail
    ahead_hours:
compaction:
  model: gemini-2.5-flash
  context_sources:
    - hand: calendar-hand
      prompt: Summarize events that occurred and upcoming events in the next 4 hours. One paragraph, concise.
    - {hand: mail-hand, prompt: "Summarize unread or notable emails. Flag anything urgent. One paragraph."}
"""
    assert loaded_from(text, "afterglow.yaml") == loaded_from(SEED + SOURCES)
    assert the_problem(text.replace("calendar, ", "calender, "), "afterglow.yaml") == (
        'sources.calendar-hand.kind (afterglow.yaml, line 3): "calender" is not allowed; '
        "give one of calendar, mail, http, command, mcp, agent"
    )


# Other names


@pytest.mark.spec("AGENT-5")
def test_a_limit_at_the_top_of_the_file_is_the_one_of_the_context() -> None:
    text = "context_limit_tokens: 9000       # input_tokens threshold to trigger mid-conversation summarization\n"
    file = written(Path.cwd(), text, "afterglow.yaml")
    loaded = load(environ={})
    assert loaded.settings.context.context_limit_tokens == 9000
    assert loaded.sources["context.context_limit_tokens"] == str(file)
    written(Path.cwd(), text + "context:\n  window_tokens: 10_000\n", "afterglow.yaml")
    assert load(environ={}).settings.context.window_tokens == 10_000


def test_an_error_names_the_key_as_it_is_written() -> None:
    assert the_problem("zone: UTC\ncontext_limit_tokens: 1", "afterglow.yaml") == (
        "context_limit_tokens (afterglow.yaml, line 2): 1 is not allowed; "
        "give a whole number from 500 to 10_000_000, or leave it out for the default, 8000"
    )
    assert the_problem('[[compaction.context_sources]]\nprompt = ""\nhand = 5').startswith(
        "compaction.context_sources.hand (afterglow.toml, line 3): 5 is not allowed; give the name of a source"
    )


def test_a_setting_under_both_its_names_is_an_error() -> None:
    assert the_problem("context_limit_tokens = 9000\n[context]\ncontext_limit_tokens = 9000") == (
        "context_limit_tokens (afterglow.toml, line 1): it means context.context_limit_tokens, "
        "which stands there as well; keep one"
    )
    both = 'source = "feed"\nhand = "feed"\n'
    assert the_problem(f"{FEED}[[compaction.context_sources]]\n{both}") == (
        "compaction.context_sources.hand (afterglow.toml, line 6): it means compaction.context_sources.source, "
        "which stands there as well; keep one"
    )
    agent = f'[[agents]]\nid = "kate"\n[[agents.compaction.context_sources]]\n{both}'
    assert the_problem(FEED + agent) == (
        "agents.compaction.context_sources.hand (afterglow.toml, line 8): it means "
        "agents.compaction.context_sources.source, which stands there as well; keep one"
    )


def test_a_context_source_without_a_name_is_an_error() -> None:
    assert the_problem('\n[[compaction.context_sources]]\nprompt = "What happened?"') == (
        "compaction.context_sources.source (afterglow.toml, line 2): it is missing; "
        "give the name of a source that [sources] declares; hand means the same"
    )


@for_each("text", ["context: 5", "context: [1]", "agents: 5", "agents: &a [*a]", "compaction: [a]"])
def test_a_name_that_leads_nowhere_does_not_hide_what_is_wrong(text: str) -> None:
    told = problems(f"{text}\ncontext_limit_tokens: 9000", "afterglow.yaml")
    assert told[-1].startswith(f"{text.split(':')[0]} (afterglow.yaml, line 1): ")


def test_every_other_name_means_a_setting() -> None:
    meant = [name.removeprefix("agents.") for name in ALIASES.values()]
    assert [name for name in meant if name not in LEAVES] == []


# What a source needs


@pytest.mark.spec("SRC-3")
@for_each(
    "keys",
    [
        {"kind": "calendar", "address": "https://calendar.example/basic.ics"},
        {
            "kind": "calendar",
            "address": "caldavs://calendar.example/kate/",
            "username": "kate",
            "password_env": "CAL_PW",
        },
        {"kind": "calendar", "address": "caldav+http://127.0.0.1:5232/kate/"},
        {"kind": "mail", "address": "imaps://kate@mail.example:993/INBOX", "password_env": "MAIL_PASSWORD"},
        {"kind": "mail", "address": "imap://kate@127.0.0.1:1143/INBOX"},
        {"kind": "mail", "address": "imap://kate@[::1]/INBOX"},
        {"kind": "mail", "address": "imap://kate@mail.internal/INBOX", "allow_private": True},
        {"kind": "http", "address": "https://feed.example/news?since={from}"},
        {"kind": "command", "command": ["git", "log"]},
        {"kind": "mcp", "address": "https://mcp.example/", "tool": "recent"},
        {"kind": "mcp", "address": "uvx some-server --url=https://a.example", "tool": "recent"},
        {"kind": "mcp", "command": ["uvx", "some-server"], "tool": "recent"},
        {"kind": "agent", "address": "package.module:ask"},
    ],
)
def test_every_kind_of_source_can_be_declared(keys: dict[str, Any]) -> None:
    declared = loaded_from(source(**keys)).sources["it"].model_dump(exclude_unset=True)
    assert {**declared, "command": list(declared.get("command", ()))} == {"command": [], **keys}


@for_each(
    "keys, key, told",
    [
        ({"address": "a"}, "kind", "it is missing; give one of calendar, mail, http, command, mcp, agent"),
        (
            {"kind": "calendar"},
            "address",
            'it is missing; kind "calendar" needs it: give the path of an iCalendar file, https://…, caldavs://… '
            "or caldav+https://…",
        ),
        (
            {"kind": "mail", "address": ""},
            "address",
            'it is missing; kind "mail" needs it: give imaps://user@host/FOLDER, maildir:/path or mbox:/path',
        ),
        ({"kind": "http"}, "address", 'it is missing; kind "http" needs it: give https://… or http://…'),
        ({"kind": "agent"}, "address", 'it is missing; kind "agent" needs it: give package.module:callable'),
        (
            {"kind": "command"},
            "command",
            'it is missing; kind "command" needs it: give a list of a program and its arguments',
        ),
        (
            {"kind": "mcp", "command": ["a"]},
            "tool",
            'it is missing; kind "mcp" needs it: give the name of the tool to call',
        ),
        (
            {"kind": "mcp", "tool": "a"},
            "address",
            'it is missing; kind "mcp" needs the address of a server, or the command that starts it',
        ),
        (
            {"kind": "mcp", "tool": "a", "address": "b", "command": ["b"]},
            "address",
            'command stands there as well, keep one of the two; kind "mcp" needs the address of a server, '
            "or the command that starts it",
        ),
    ],
)
def test_what_a_kind_needs_and_does_not_have_is_told(keys: dict[str, Any], key: str, told: str) -> None:
    text = source(**keys)
    line = next((at for at, one in enumerate(text.split("\n"), 1) if one.startswith(f"{key} ")), 1)
    assert the_problem(text) == f"sources.it.{key} (afterglow.toml, line {line}): {told}"


@for_each(
    "kind, address",
    [
        ("calendar", "ftp://calendar.example/a.ics"),
        ("calendar", "https://"),
        ("mail", "kate@mail.example"),
        ("mail", "pop3://mail.example"),
        ("mail", "imaps://mail.example:port/INBOX"),
        ("http", "feed.example"),
        ("http", "https://a b.example/"),
        ("http", "https://[::1/"),
        ("mcp", "ws://mcp.example/"),
        ("agent", "package.module"),
        ("agent", "package.module:ask()"),
        ("agent", "../module:ask"),
    ],
)
def test_an_address_of_another_form_is_told_with_the_forms_of_its_kind(kind: str, address: str) -> None:
    assert the_problem(source(kind=kind, address=address, tool="t")).startswith(
        f'sources.it.address (afterglow.toml, line 3): this is no address of kind "{kind}"; give '
    )


def test_a_path_that_is_empty_is_told() -> None:
    for address in ("maildir:", "mbox:"):
        assert the_problem(source(kind="mail", address=address)) == (
            "sources.it.address (afterglow.toml, line 3): it is empty or holds a NUL character; give a path"
        )


def test_mail_in_the_clear_stays_on_this_machine_unless_it_is_allowed() -> None:
    assert the_problem(source(kind="mail", address="imap://kate@mail.example/INBOX")) == (
        "sources.it.address (afterglow.toml, line 3): imap:// would send the password in the clear; give imaps://, "
        "or allow_private = true where the way to the server is safe"
    )


def test_a_relative_path_in_an_address_begins_at_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    home = '[sources.home]\nkind = "mail"\naddress = "mbox:~/mbox"\n'
    sources = load(written(tmp_path / "etc", SOURCES + home), environ={}).settings.sources
    assert sources["calendar-hand"].address == str(tmp_path / "etc" / "calendar.ics")
    assert sources["mail-hand"].address == f"maildir:{tmp_path / 'etc' / 'mail'}"
    assert sources["home"].address == f"mbox:{tmp_path / 'home' / 'mbox'}"
    assert SourceSettings(kind="calendar", address="a.ics").address == str(Path.cwd() / "a.ics")


@pytest.mark.parametrize("name", ["", "a\nb"])
def test_a_name_that_cannot_be_shown_is_told(name: str) -> None:
    key = name.encode("unicode_escape").decode()
    text = f'[sources."{key}"]\nkind = "command"\ncommand = ["a"]'
    assert the_problem(text).startswith(f"sources.{key} (afterglow.toml, line 1): the name ")


def test_a_name_may_hold_a_dot() -> None:
    text = '[sources."my.feed"]\nkind = "http"\naddress = "https://a.example"\n'
    assert list(loaded_from(text).sources) == ["my.feed"]
    assert the_problem(text + "adress = 1") == (
        "sources.my.feed.adress (afterglow.toml, line 4): there is no such setting; did you mean sources.my.feed.address?"
    )


@for_each(
    "text, told",
    [
        ("sources = 5", "sources (afterglow.toml, line 1): 5 is not allowed; give a table for each, by name: "),
        (
            "[sources]\nit = 5",
            "sources.it (afterglow.toml, line 2): 5 is not allowed; give a table for each, by name: ",
        ),
        ('[sources]\nkind = "http"', 'sources.kind (afterglow.toml, line 2): "http" is not allowed; give a table for '),
        (
            "[compaction]\ncontext_sources = 5",
            "compaction.context_sources (afterglow.toml, line 2): 5 is not allowed; give up to 100 tables, each with ",
        ),
        (
            '[compaction]\ncontext_sources = ["feed"]',
            'compaction.context_sources (afterglow.toml, line 2): "feed" is not allowed; give up to 100 tables, each ',
        ),
        (
            '[[agents]]\nid = "kate"\ncompaction = 5',
            "agents.compaction (afterglow.toml, line 3): 5 is not allowed; give a table with any of the keys of ",
        ),
    ],
)
def test_what_should_be_a_table_and_is_none_is_told(text: str, told: str) -> None:
    assert the_problem(text).startswith(told)


# Passwords


@for_each("key", ["password", "token", "Secret", "api_key"])
def test_a_password_in_the_file_is_refused(key: str) -> None:
    assert the_problem(f'{source(kind="mail", address="maildir:a")}\n{key} = "{PASSWORD}"') == (
        f"sources.it.{key} (afterglow.toml, line 4): passwords stand in the environment, not in the settings file; "
        "take it out, and give the name of the variable that holds it as password_env"
    )


@for_each("kind, scheme", [("mail", "imaps"), ("calendar", "https"), ("calendar", "caldav+https"), ("http", "http")])
def test_a_password_in_an_address_is_refused(kind: str, scheme: str) -> None:
    assert the_problem(source(kind=kind, address=f"{scheme}://kate:{PASSWORD}@a.example/b")) == (
        "sources.it.address (afterglow.toml, line 3): a password stands in it; passwords stand in the environment, "
        "not in the settings file; take it out, and give the name of the variable that holds it as password_env"
    )


def test_a_password_in_the_address_of_the_model_is_refused() -> None:
    assert the_problem(f'[compaction]\nbase_url = "https://kate:{PASSWORD}@a.example/v1"') == (
        "compaction.base_url (afterglow.toml, line 2): a password stands in it; "
        "passwords stand in the environment, so take it out"
    )


@for_each(
    "text",
    [
        source(kind="mail", address=f"pop3://kate:{PASSWORD}@a.example"),
        source(kind="mail", address=f"imaps://kate:{PASSWORD}@a.example:x"),
        source(kind="mail", address="maildir:a", password_env=f"${PASSWORD}"),
        source(kind="mail", address="maildir:a", pasword=PASSWORD),
        f'[compaction]\nbase_url = "ftp://kate:{PASSWORD}@a.example"',
    ],
)
def test_a_password_of_a_source_is_in_no_error(text: str) -> None:
    assert PASSWORD not in the_problem(text)


# What must fit


def test_a_window_under_the_limit_is_an_error() -> None:
    assert the_problem("[context]\nwindow_tokens = 4000") == (
        "context.window_tokens (afterglow.toml, line 2): 4000 is under context.context_limit_tokens, which is 8000; "
        "raise the one or lower the other, or give 0 for four times the limit"
    )


def test_blocks_and_recent_turns_that_cannot_fit_the_limit_are_errors() -> None:
    assert problems("[compaction]\nkeep_recent = 8000\nblock_budget_tokens = 8000") == [
        "compaction.keep_recent (afterglow.toml, line 2): so many turns as 8000 cannot stay under "
        "context.context_limit_tokens, which is 8000; lower the one or raise the other",
        "compaction.block_budget_tokens (afterglow.toml, line 3): 8000 is not under "
        "context.context_limit_tokens, which is 8000; lower the one or raise the other",
    ]
    assert the_problem("context_limit_tokens = 1000") == (
        "compaction.block_budget_tokens (default): 2000 is not under context.context_limit_tokens, which is 1000; "
        "lower the one or raise the other"
    )


def test_a_source_is_asked_once() -> None:
    twice = '[[compaction.context_sources]]\nhand = "feed"\n' * 2
    assert the_problem(FEED + twice) == (
        'compaction.context_sources.hand (afterglow.toml, line 7): "feed" stands there already; '
        "ask a source for everything in one prompt"
    )


@for_each("model", ["", "offline", "gemini-2.5-flash", "openai:gpt-4.1-mini", "ollama:qwen3:8b"])
def test_a_model_is_plain_text(model: str) -> None:
    assert loaded_from(f'[compaction]\nmodel = "{model}"').compaction.model == model


def test_a_model_with_a_space_is_an_error() -> None:
    assert the_problem('[compaction]\nmodel = "gemini 2.5"') == (
        'compaction.model (afterglow.toml, line 2): "gemini 2.5" is not allowed; give offline, provider:model, or the '
        "name of a well-known model, such as gemini-2.5-flash, or leave it out for the default, "
        "one found from the environment"
    )


def test_everything_is_told_at_once_across_sources_compaction_and_agents() -> None:
    text = (
        '[sources.a]\nkind = "http"\n[sources.b]\nkind = 1\n[compaction]\ninterval = -1\n'
        '[[agents]]\nid = "kate"\n[agents.compaction]\nfanout = 1'
    )
    assert [line.split(" ")[0] for line in problems(text)] == [
        "sources.a.address",
        "sources.b.kind",
        "compaction.interval",
        "agents.compaction.fanout",
    ]


# An agent's own


AGENT = """
[[agents]]
id = "bob"

[[agents]]
id = "kate"

[agents.compaction]
interval = 10

[[agents.compaction.context_sources]]
hand = "feed"
prompt = "What is new?"
tokens_max = 50
"""


@pytest.mark.spec("SRC-6")
def test_an_agent_has_its_own_compaction_and_the_rest_as_all_have_it() -> None:
    settings = loaded_from(SEED + SOURCES + FEED + AGENT)
    kate = settings.compaction_of("kate")
    assert kate.interval == 10
    assert kate.model == "gemini-2.5-flash"
    assert kate.context_sources == (ContextSourceSettings(source="feed", prompt="What is new?", tokens_max=50),)
    assert settings.compaction_of("bob") == settings.compaction
    assert settings.compaction_of("stranger") == settings.compaction


def test_an_agent_can_have_what_is_the_default_where_all_others_have_not() -> None:
    text = '[compaction]\ninterval = 9\n[[agents]]\nid = "kate"\ncompaction = {interval = 5}'
    assert loaded_from(text).compaction_of("kate").interval == 5


@pytest.mark.spec("SRC-6")
def test_an_agents_own_compaction_is_checked_as_the_others_and_told_with_its_line() -> None:
    assert the_problem(AGENT) == (
        'agents.compaction.context_sources.hand (afterglow.toml, line 12): there is no source "feed"; declare it in a '
        "table [sources.feed] with its kind and address; none is declared so far"
    )
    assert the_problem(AGENT.replace("interval = 10", "block_budget_tokens = 9000") + FEED) == (
        "agents.compaction.block_budget_tokens (afterglow.toml, line 9): 9000 is not under "
        "context.context_limit_tokens, which is 8000; lower the one or raise the other"
    )
    assert the_problem(AGENT.replace("10", "-1") + FEED) == (
        "agents.compaction.interval (afterglow.toml, line 9): -1 is not allowed; give a whole number from 0 to 10_000, "
        "or leave it out to have it as in [compaction]"
    )


def test_what_all_have_is_not_told_again_for_each_agent() -> None:
    assert len(problems("[compaction]\nblock_budget_tokens = 9000\n" + AGENT + FEED)) == 1
    assert len(problems("context_limit_tokens = 1000\n" + AGENT + FEED)) == 1


# What is told of them


def test_describe_gives_sources_what_they_are_asked_and_what_an_agent_has_of_its_own() -> None:
    file = written(Path.cwd(), SEED + SOURCES + FEED + AGENT)
    loaded = load(environ={"AFTERGLOW_COMPACTION__INTERVAL": "7"})
    rows = {row.key: row for row in describe(loaded)}
    assert set(rows) == set(loaded.sources)
    assert rows["compaction.interval"][1:3] == (7, "environment AFTERGLOW_COMPACTION__INTERVAL")
    assert rows["sources"].value == ["calendar-hand", "mail-hand", "feed"]
    assert rows["sources.feed.kind"][1:3] == ("http", str(file))
    assert rows["sources.feed.label"][1:3] == (None, "default")
    assert rows["compaction.context_sources"].value == ["calendar-hand", "mail-hand"]
    assert rows["compaction.context_sources.mail-hand.tokens_max"][1:3] == (300, "default")
    assert rows["agents.kate.compaction.interval"][1:3] == (10, str(file))
    assert rows["agents.kate.compaction.context_sources"].value == ["feed"]
    assert rows["agents.kate.compaction.context_sources.feed.tokens_max"][1:3] == (50, str(file))
    assert "agents.kate.compaction.keep_recent" not in rows


def test_the_schema_knows_the_other_names() -> None:
    schema = json_schema()
    asked = schema["$defs"]["ContextSourceSettings"]
    assert asked["properties"]["hand"] == asked["properties"]["source"]
    assert asked["oneOf"] == [{"required": ["source"]}, {"required": ["hand"]}]
    assert "source" not in asked["required"]
    assert schema["properties"]["context_limit_tokens"]["minimum"] == 500
    assert schema["properties"]["sources"]["additionalProperties"] == {"$ref": "#/$defs/SourceSettings"}


def test_settings_that_a_program_makes_are_checked_too() -> None:
    asked = CompactionSettings(context_sources=(ContextSourceSettings(source="feed"),))
    with pytest.raises(BadSettings, match=r"there is no source \"feed\""):
        Settings(compaction=asked)
    with pytest.raises(ValidationError, match="password_env"):
        SourceSettings.model_validate({"kind": "mail", "password": PASSWORD})
    feed = SourceSettings(kind="http", address="https://a.example")
    assert Settings(compaction=asked, sources={"feed": feed}).compaction_of("kate") == asked


@pytest.mark.spec("P8", "CTX-6")
def test_a_budget_in_which_blocks_could_say_nothing_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "afterglow.toml"
    file.write_text("[compaction]\nblock_budget_tokens = 300\n")
    with pytest.raises(BadSettings) as caught:
        settings.load(file, environ={})
    assert str(caught.value) == (
        f"compaction.block_budget_tokens ({file}, line 2): 300 is too little for blocks of 80 tokens, of which a level holds "
        "up to compaction.fanout, which is 6; raise the one or lower the other"
    )
    file.write_text("[compaction]\nblock_budget_tokens = 300\nfanout = 3\n")
    assert settings.load(file, environ={}).settings.compaction.fanout == 3
