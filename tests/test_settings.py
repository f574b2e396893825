"""Settings come from one file, the environment and arguments; what is wrong is said all at once, with the fix."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from afterglow.errors import BadSettings
from afterglow.settings import (
    LEAVES,
    VARIABLES,
    AgentSettings,
    ContextSourceSettings,
    ServerSettings,
    Settings,
    SourceSettings,
    describe,
    example,
    json_schema,
    load,
    reference,
)
from afterglow.settings.pages import with_generated
from tests.kit.loops import for_each
from tests.kit.processes import without_coverage
from tests.kit.settings_files import (
    PASSWORD,
    empty_working_folder,  # noqa: F401 — each test of this module runs in it
    problems,
    the_problem,
    written,
)

ROOT = Path(__file__).resolve().parent.parent
REGENERATE = "python -c 'from pathlib import Path; from afterglow.settings import regenerate; regenerate(Path())'"
SOURCE_KEYS = ", ".join(SourceSettings.model_fields)

pytestmark = pytest.mark.spec("DOOR-8")


# Where values come from


def test_without_a_file_everything_has_its_default() -> None:
    loaded = load(environ={})
    assert loaded.settings == Settings()
    assert loaded.file is None
    assert set(loaded.sources.values()) == {"default"}
    assert loaded.settings.sqlite_path == loaded.settings.data_dir / "afterglow.db"


@pytest.mark.spec("SAFE-1")
def test_the_server_listens_on_this_machine_only_by_default() -> None:
    assert load(environ={}).settings.server.host == "127.0.0.1"


@pytest.mark.parametrize("name", ["afterglow.toml", "afterglow.yaml", "afterglow.yml"])
def test_a_file_in_the_working_folder_is_found(name: str) -> None:
    file = written(Path.cwd(), "[server]\nport = 9000" if name.endswith("toml") else "server:\n  port: 9000", name)
    loaded = load(environ={})
    assert loaded.settings.server.port == 9000
    assert loaded.file == file
    assert loaded.sources["server.port"] == str(file)
    assert loaded.sources["server.host"] == "default"


def test_a_file_in_the_data_folder_is_found_unless_the_working_folder_has_one(tmp_path: Path) -> None:
    written(tmp_path / "elsewhere", "server:\n  port: 1", "afterglow.yaml")
    environ = {"AFTERGLOW_DATA_DIR": str(tmp_path / "elsewhere")}
    assert load(environ=environ).settings.server.port == 1
    assert load(environ={}, overrides={"data_dir": tmp_path / "elsewhere"}).settings.server.port == 1
    written(Path.cwd(), "[server]\nport = 2")
    assert load(environ=environ).settings.server.port == 2


def test_the_given_file_goes_before_the_one_in_the_environment_and_that_before_those_that_are_found(
    tmp_path: Path,
) -> None:
    written(Path.cwd(), "[server]\nport = 1")
    named = written(tmp_path, "[server]\nport = 2", "named.toml")
    given = written(tmp_path, "[server]\nport = 3", "given.toml")
    assert load(environ={"AFTERGLOW_SETTINGS": str(named)}).settings.server.port == 2
    assert load(given, environ={"AFTERGLOW_SETTINGS": str(named)}).settings.server.port == 3


def test_the_environment_goes_over_the_file_and_arguments_go_over_both() -> None:
    written(Path.cwd(), '[server]\nport = 1\nhost = "::1"\nallowed_hosts = ["a"]')
    environ = {"AFTERGLOW_SERVER__PORT": "2", "AFTERGLOW_SERVER__ALLOWED_HOSTS": "b.example, C.example"}
    loaded = load(environ=environ, overrides={"server.port": 3, "server.host": None})
    assert loaded.settings.server.port == 3
    assert loaded.settings.server.host == "::1"
    assert loaded.settings.server.allowed_hosts == ("b.example", "c.example")
    assert loaded.sources["server.port"] == "argument"
    assert loaded.sources["server.allowed_hosts"] == "environment AFTERGLOW_SERVER__ALLOWED_HOSTS"
    assert load(environ=environ).settings.server.port == 2


def test_every_setting_but_the_tables_in_lists_and_by_name_has_an_environment_variable() -> None:
    values = {
        "data_dir": "/somewhere",
        "database": "sqlite:////somewhere/else.db",
        "zone": "Asia/Tokyo",
        "primary": "yes",
        "auto_summarize": "off",
        "sunset_marker": "Good night",
        "boot.summaries": "5",
        "mcp.owner": "kate/telegram/ana",
        "server.host": "::1",
        "server.allowed_hosts": "a,b",
        "server.open_locally": "true",
        "server.log_format": "json",
        "server.log_to": "stderr",
        "context.context_limit_tokens": "2000",
        "context.window_tokens": "3000",
        "compaction.model": "offline",
        "summaries.model": "offline",
        "compaction.base_url": "http://127.0.0.1:11434/v1",
        "compaction.fanout": "3",
        "compaction.in_library": "no",
        "facts.enabled": "no",
        "facts.schedule": "never",
        "facts.model": "offline",
        "search.embedder": "none",
        "search.base_url": "http://127.0.0.1:11434/v1",
        "away_summary.enabled": "yes",
        "away_summary.threshold_hours": "0.5",
        "away_summary.style": "rich",
        "away_summary.prose": "yes",
        "away_summary.prompt_template": "Tell of {events}",
        "away_summary.show_cost": "yes",
        "away_summary.deadline_seconds": "3",
        "away_summary.daily_at": "8:30",
        "answering.model": "offline",
        "answering.base_url": "http://127.0.0.1:11434/v1",
        "answering.tools": "file_list,expand",
        "answering.mcp_servers": "",  # none can be declared here
        "answering.tool_rounds_max": "3",
    }
    environ = {name: values.get(leaf.key, "1000") for name, leaf in VARIABLES.items()}
    environ |= {
        "AFTERGLOW_STORE__READERS": "3",
        "AFTERGLOW_WORK__CONCURRENCY": "3",
        "AFTERGLOW_SEARCH__SECONDS_MAX": "3",
    }
    environ |= {"AFTERGLOW_STORE__BUSY_TIMEOUT_SECONDS": "0.5", "AFTERGLOW_STORE__POOL_TIMEOUT_SECONDS": "0.5"}
    environ |= {"AFTERGLOW_LOG__TURN_BYTES_MAX": "1_048_576"}
    loaded = load(environ=environ)
    left = {key for key, source in loaded.sources.items() if source == "default"}
    assert left == {
        *("agents", "sources", "compaction.context_sources"),
        *("away_summary.awake_hours", "away_summary.bindings"),
        *("mcp_servers", "answering.mcp_servers"),
    }
    assert loaded.settings.log.turn_bytes_max == 1_048_576
    assert loaded.settings.store.busy_timeout_seconds == 0.5


def test_an_empty_variable_and_an_empty_key_of_yaml_count_as_not_set() -> None:
    written(Path.cwd(), "zone:\nserver:\nlog:\n  turn_bytes_max:\n", "afterglow.yaml")
    assert load(environ={"AFTERGLOW_DATABASE": "", "AFTERGLOW_SETTINGS": ""}).settings == Settings()


@for_each("text", ["", "# nothing\n", "\ufeff"])
@for_each("name", ["afterglow.toml", "afterglow.yaml"])
def test_an_empty_file_is_fine(name: str, text: str) -> None:
    file = written(Path.cwd(), text, name)
    try:
        assert load(environ={}).settings == Settings()
    finally:
        file.unlink()


def test_variables_that_are_not_settings_but_ours_are_left_alone() -> None:
    reserved = ("AFTERGLOW_TOKEN", "AFTERGLOW_FAILPOINTS", "AFTERGLOW_TEST_POSTGRES")
    assert load(environ=dict.fromkeys(reserved, "x")).settings == Settings()


def test_variables_that_kubernetes_sets_for_a_service_are_left_alone() -> None:
    environ = {
        "AFTERGLOW_SERVICE_HOST": "10.0.0.1",
        "AFTERGLOW_SERVICE_PORT": "8765",
        "AFTERGLOW_SERVICE_PORT_HTTP": "8765",
        "AFTERGLOW_PORT": "tcp://10.0.0.1:8765",
        "AFTERGLOW_PORT_8765_TCP": "tcp://10.0.0.1:8765",
        "AFTERGLOW_PORT_8765_TCP_ADDR": "10.0.0.1",
        "AFTERGLOW_WEB_SERVICE_HOST": "10.0.0.2",
    }
    assert load(environ=environ).settings == Settings()
    assert "AFTERGLOW_SERVER__PORT" in the_problem(environ={"AFTERGLOW_PORT": "9000"})


# What values mean


@pytest.mark.spec("LOG-4")
def test_an_agent_has_its_own_settings_and_an_unlisted_one_has_the_defaults() -> None:
    file = written(Path.cwd(), "agents:\n  - id: kate\n    redact_secrets: false\n  - id: bob\n", "afterglow.yaml")
    loaded = load(environ={})
    assert loaded.settings.agent("kate") == AgentSettings(id="kate", redact_secrets=False, drop_private=True)
    assert loaded.settings.agent("bob") == AgentSettings(id="bob")
    assert loaded.settings.agent("stranger") == AgentSettings(id="stranger", redact_secrets=True, drop_private=True)
    assert loaded.sources["agents.kate.redact_secrets"] == str(file)
    assert loaded.sources["agents.kate.drop_private"] == "default"


def test_a_relative_path_in_a_file_begins_at_the_file_and_elsewhere_at_the_working_folder(tmp_path: Path) -> None:
    file = written(tmp_path / "etc", 'data_dir = "kept"\ndatabase = "sqlite:///db/a.db"')
    settings = load(file, environ={}).settings
    assert settings.data_dir == tmp_path / "etc" / "kept"
    assert settings.sqlite_path == tmp_path / "etc" / "db" / "a.db"
    settings = load(file, environ={"AFTERGLOW_DATA_DIR": "kept", "AFTERGLOW_DATABASE": "sqlite:///b.db"}).settings
    assert settings.data_dir == Path.cwd() / "kept"
    assert settings.sqlite_path == Path.cwd() / "b.db"


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    written(Path.cwd(), 'data_dir = "~/kept"\ndatabase = "sqlite:///~/a.db"')
    settings = load(environ={}).settings
    assert settings.data_dir == tmp_path / "home" / "kept"
    assert settings.sqlite_path == tmp_path / "home" / "a.db"


def test_the_zone_is_the_machines_or_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert load(environ={}).settings.zone == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    assert load(environ={}).settings.zone == "UTC"


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        load(environ={}).settings.server.port = 1  # pyright: ignore[reportAttributeAccessIssue]


def test_every_number_has_a_least_and_a_most() -> None:
    numbers = [leaf for leaf in LEAVES.values() if leaf.kind in ("number", "whole number")]
    assert numbers
    for leaf in numbers:
        assert re.fullmatch(r"a (whole )?number from [\d._]+ to [\d._]+", leaf.allowed), leaf.key


def test_every_setting_says_what_it_means() -> None:
    assert [key for key, leaf in LEAVES.items() if not leaf.meaning.endswith(".")] == []


# What is said when something is wrong


def test_an_unknown_key_is_an_error_that_names_the_nearest_one() -> None:
    assert the_problem("[server]\nprot = 1") == (
        "server.prot (afterglow.toml, line 2): there is no such setting; did you mean server.port?"
    )


@for_each(
    "text, name, hint",
    [
        ("port = 1", "port", "did you mean server.port?"),
        ("[sever]\nport = 1", "sever", "did you mean server?"),
        ("[compactoin]\ninterval = 5", "compactoin", "did you mean compaction?"),
        ("[source.a]\nkind = 5", "source", "did you mean sources?"),
        ("interval = 5", "interval", "did you mean compaction.interval?"),
        (
            '[sources.a]\nkind = "http"\naddress = "http://a"\nlabl = 1',
            "sources.a.labl",
            "did you mean sources.a.label?",
        ),
        ('[sources.a]\nkind = "http"\naddress = "http://a"\nxyz = 1', "sources.a.xyz", f"sources.a has {SOURCE_KEYS}"),
        (
            '[sources.a]\nkind = "command"\ncommand = ["a"]\n[[compaction.context_sources]]\nsource = "a"\npromt = 1',
            "compaction.context_sources.promt",
            "did you mean compaction.context_sources.prompt?",
        ),
        (
            '[[agents]]\nid = "a"\n[agents.compaction]\ninterval = 1\nkeep_recnt = 1',
            "agents.compaction.keep_recnt",
            "did you mean agents.compaction.keep_recent?",
        ),
        ("turn-bytes-max = 1", "turn-bytes-max", "did you mean log.turn_bytes_max?"),
        (
            "[server]\nxyz = 1",
            "server.xyz",
            "server has host, port, allowed_hosts, open_locally, requests_per_second, log_format, log_to",
        ),
        ('[[agents]]\nid = "kate"\nredact = 1', "agents.redact", "did you mean agents.redact_secrets?"),
        ("qqqq = 1", "qqqq", "take it out, or look for its name in docs/settings.md"),
    ],
)
def test_an_unknown_key_gets_the_hint_that_fits(text: str, name: str, hint: str) -> None:
    line = text.count("\n") + (0 if text.startswith(f"[{name}") else 1)
    assert the_problem(text) == f"{name} (afterglow.toml, line {line}): there is no such setting; {hint}"


def test_unknown_keys_and_what_is_wrong_between_the_known_ones_are_told_together() -> None:
    told = problems(
        "[compaction]\nnosuch = 2\nkeep_recent = 9000\ncontext_sources = [{source = 'nope', bar = 1}]\n"
        "[server]\nport = 'x'\n[[agents]]\nid = 'kate'\nfoo = 1\n[[agents]]\nid = 'kate'"
    )
    assert [each.partition(" (")[0] for each in told] == [
        "compaction.nosuch",
        "compaction.context_sources.bar",
        "server.port",
        "agents.foo",
        "compaction.keep_recent",
        "compaction.context_sources.source",
        "agents",
    ]


def test_a_misspelt_key_of_a_source_is_not_told_as_missing_too() -> None:
    told = the_problem("[sources.cal]\nkind = 'calendar'\nadress = 'x'")
    assert told == (
        "sources.cal.adress (afterglow.toml, line 3): there is no such setting; did you mean sources.cal.address?"
    )


@for_each(
    "make, told",
    [
        (
            lambda: Settings(zone="x"),
            'zone (argument): "x" is not a time zone; give an IANA name, such as Europe/Berlin',
        ),
        (
            lambda: ServerSettings(port=70_000),
            "server.port (argument): 70_000 is not allowed; give a whole number from 0 to 65_535, or leave it out for the "
            "default, 8765",
        ),
        (
            lambda: SourceSettings(kind="http"),
            'sources.NAME.address (argument): it is missing; kind "http" needs it: give https://… or http://…',
        ),
        (
            lambda: Settings(nosuch=1, drift_days=-1),  # pyright: ignore[reportCallIssue]
            "drift_days (argument): -1 is not allowed; give a whole number from 0 to 36_600, or leave it out for the default, "
            "30\nnosuch (argument): there is no such setting; take it out, or look for its name in docs/settings.md",
        ),
    ],
)
def test_settings_that_a_program_makes_are_refused_in_the_same_sentences(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(BadSettings) as caught:
        make()
    assert str(caught.value) == told


def test_an_unknown_variable_is_an_error_that_names_the_nearest_one() -> None:
    assert the_problem(environ={"AFTERGLOW_SERVER_PORT": "9000"}) == (
        "AFTERGLOW_SERVER_PORT (environment): there is no such setting; did you mean AFTERGLOW_SERVER__PORT?"
    )


def test_an_unknown_argument_is_an_error() -> None:
    assert problems(overrides={"server.prot": 1}) == [
        "server.prot (argument): there is no such setting; did you mean server.port?"
    ]


@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("AFTERGLOW_AGENTS", "agents"),
        ("AFTERGLOW_SOURCES__CALENDAR_HAND__KIND", "sources"),
        ("AFTERGLOW_COMPACTION__CONTEXT_SOURCES", "compaction.context_sources"),
    ],
)
def test_tables_in_lists_and_by_name_cannot_be_given_in_the_environment(variable: str, key: str) -> None:
    assert the_problem(environ={variable: "kate"}) == (
        f"{key} (environment {variable}): {key.split('.')[-1]} stand in the settings file only; unset it"
    )


def test_a_value_that_is_not_allowed_is_named_with_its_place_and_what_is_allowed() -> None:
    assert the_problem("# a server\n[server]\n\nport = 70000") == (
        "server.port (afterglow.toml, line 4): 70_000 is not allowed; "
        "give a whole number from 0 to 65_535, or leave it out for the default, 8765"
    )
    assert the_problem(environ={"AFTERGLOW_SERVER__PORT": "many"}) == (
        'server.port (environment AFTERGLOW_SERVER__PORT): "many" is not allowed; '
        "give a whole number from 0 to 65_535, or leave it out for the default, 8765"
    )


def test_all_problems_are_told_at_once() -> None:
    told = problems(
        'zone = "Mars"\nnonsense = 1\n[server]\nport = -1\n[work]\nattempts_max = true\n[[agents]]\nid = ""',
        environ={"AFTERGLOW_LOG__TURN_BYTES_MAX": "1", "AFTERGLOW_NONSENSE": "1"},
        overrides={"search.results_max": 0},
    )
    assert sorted(line.split(" ")[0] for line in told) == [
        "AFTERGLOW_NONSENSE",
        "agents.id",
        "log.turn_bytes_max",
        "nonsense",
        "search.results_max",
        "server.port",
        "work.attempts_max",
        "zone",
    ]


def test_a_file_that_cannot_be_read_does_not_hide_problems_of_the_environment() -> None:
    assert len(problems("= = =", environ={"AFTERGLOW_SERVER__PORT": "many"})) == 2


WRONG: list[Any] = [
    None,
    True,
    -1,
    10**40,
    0.5,
    float("nan"),
    "",
    "a b",
    "~nobody/x",
    "a\0b",
    "\n",
    [],
    [1],
    {},
    {"id": 1},
]


@for_each("key", LEAVES)
def test_no_wrong_value_gives_jargon_or_another_kind_of_error(key: str) -> None:
    for wrong in WRONG:
        file = written(Path.cwd(), json.dumps(nested(key, wrong)), "afterglow.yaml")  # JSON is YAML
        try:
            load(file, environ={})
        except BadSettings as error:
            for line in str(error).split("\n"):
                assert not re.search(r"Input|valid (string|integer)|https?://errors|pydantic|\r|\0", line), error
                assert re.match(r"[\w.]+ \((/.*|default)\): .+", line), error
                assert key.split(".")[-1] in line or line.startswith("agents ("), error


def nested(key: str, value: Any) -> Any:
    *table, name = key.split(".")
    source = {"kind": "calendar", "address": "a.ics"}
    match table:
        case []:
            return {name: value}
        case ["agents"]:
            return {"agents": [{"id": "kate", name: value}]}
        case ["sources", _]:
            return {"sources": {"cal": {**source, name: value}}}
        case ["mcp_servers", _]:
            return {"mcp_servers": {"files": {"command": ["files"], name: value}}}
        case ["away_summary", inner]:
            return {"away_summary": {inner: [{"channel": "telegram", name: value}]}}
        case [section, inner]:
            return {"sources": {"cal": source}, section: {inner: [{"source": "cal", name: value}]}}
        case _:
            return {table[0]: {name: value}}


@for_each("key", [key for key, leaf in LEAVES.items() if "number" in leaf.kind])
def test_a_number_beyond_its_limits_or_of_another_kind_is_an_error(key: str) -> None:
    table, _, name = key.rpartition(".")
    rest = {
        "sources.NAME": '\n[sources.NAME]\nkind = "calendar"\naddress = "a.ics"\n',
        "compaction.context_sources": '\n[[compaction.context_sources]]\nsource = "a"\n',
        "away_summary.bindings": '\n[[away_summary.bindings]]\nchannel = "telegram"\n',
        "agents": '[[agents]]\nid = "kate"',
        "": "",
    }
    for wrong in ("-1", "1e30", "true", '"5"', "nan", "[5]", "0x" + "f" * 5000):
        text = f"{rest.get(table, f'[{table}]')}\n{name} = {wrong}"
        assert the_problem(text).startswith(f"{key} (afterglow.toml, line {text.count(chr(10)) + 1}): ")


def test_text_that_should_be_a_number_and_the_reverse_are_told_about_quotes() -> None:
    assert ", without quotes," in the_problem('[server]\nport = "9000"')
    assert ", in quotes," in the_problem("zone: no", "afterglow.yaml")


def test_a_section_that_is_no_table_is_an_error_that_lists_its_keys() -> None:
    assert the_problem("server: 5", "afterglow.yaml") == (
        "server (afterglow.yaml, line 1): 5 is not allowed; give a table with host, port, allowed_hosts, "
        "open_locally, requests_per_second, log_format, log_to"
    )


def test_an_unknown_zone_is_an_error_that_names_the_nearest_ones() -> None:
    assert "(nearest: Europe/Berlin" in the_problem('zone = "europe/berln"')
    for zone in ("Europe", "../UTC", "/etc/localtime", "CEST"):
        assert the_problem(f'zone = "{zone}"').startswith("zone (afterglow.toml, line 1): ")


@for_each("host", ["", "http://localhost", "localhost:80", "[::1]", "*", "a b", "256.1.1.1", "-a", "a" * 300, "u@h"])
def test_a_host_is_an_address_or_a_name_and_nothing_around_it(host: str) -> None:
    assert problems(f'[server]\nhost = "{host}"\nallowed_hosts = ["ok.example", "{host}"]')[1].startswith(
        "server.allowed_hosts (afterglow.toml, line 3): "
    )


@for_each(
    "database",
    ["sqlite://a.db", "sqlite:///", "sqlite:///:memory:", "sqlite:///a.db?mode=ro", "mysql://h/d", "a.db", ""],
)
def test_a_database_is_an_sqlite_file_or_a_postgresql_address(database: str) -> None:
    assert "sqlite:///path/to/file.db or postgresql://" in the_problem(f'database = "{database}"')


def test_a_lease_or_a_wait_over_its_maximum_is_an_error() -> None:
    assert the_problem("[work]\nlease_seconds = 4000") == (
        "work.lease_seconds (afterglow.toml, line 2): 4000 is over work.lease_max_seconds, which is 3600; "
        "lower the one or raise the other"
    )
    assert the_problem("[work]\nbackoff_max_seconds = 10").startswith("work.backoff_seconds (default): 30 is over")


def test_an_agent_needs_an_id_that_no_other_has() -> None:
    assert the_problem('[[agents]]\nid = "a"\n\n[[agents]]\ndrop_private = true').startswith(
        "agents.id (afterglow.toml, line 4): it is missing; give 1 to 200"
    )
    assert 'the id "a" stands there more than once' in the_problem('agents = [{id = "a"}, {id = "a"}]')
    assert "`- id: kate` in YAML" in the_problem("agents:\n  kate:\n    drop_private: true", "afterglow.yaml")


# Files that cannot be read


def test_a_file_that_does_not_exist_is_an_error_when_it_was_named() -> None:
    for path, environ, by in (
        (Path("none.toml"), {}, "argument"),
        (None, {"AFTERGLOW_SETTINGS": "none.toml"}, "environment AFTERGLOW_SETTINGS"),
    ):
        with pytest.raises(BadSettings, match=rf"none\.toml \({by}\): there is no such settings file"):
            load(path, environ=environ)


def test_two_files_in_one_folder_are_an_error_that_names_both() -> None:
    first, second = written(Path.cwd(), ""), written(Path.cwd(), "", "afterglow.yaml")
    with pytest.raises(BadSettings) as caught:
        load(environ={})
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    assert load(first, environ={}).file == first


@for_each(
    "name, text, place",
    [
        ("afterglow.toml", "[server]\nport = \n", "afterglow.toml, line 2, column 8: this is not valid TOML"),
        ("afterglow.toml", "zone = Europe/Berlin", "afterglow.toml, line 1, column 8: this is not valid TOML"),
        ("afterglow.toml", "x = [1,", "afterglow.toml, line 1, column 8: this is not valid TOML"),
        ("afterglow.toml", "[log]\n[log]", "afterglow.toml, line 2, column 5: this is not valid TOML"),
        ("afterglow.toml", "x = " + "[" * 9000, "afterglow.toml: it is nested too deeply"),
        ("afterglow.toml", "x = " + "9" * 9000, "afterglow.toml: this is not valid TOML"),
        ("afterglow.toml", "# " + "x" * 2_000_000, "afterglow.toml: a settings file has at most 1_048_576 bytes"),
        ("afterglow.yaml", "server:\n\tport: 1", "afterglow.yaml, line 2, column 1: this is not valid YAML"),
        ("afterglow.yaml", "zone: [", "afterglow.yaml, line 1, column 8: this is not valid YAML"),
        ("afterglow.yaml", "log:\nzone: UTC\nlog:", "afterglow.yaml, line 3: log already stands in line 1"),
        ("afterglow.yaml", "zone: 2024-13-45", "afterglow.yaml: this is not valid YAML"),
        ("afterglow.yaml", "zone: \0", "afterglow.yaml: this is not valid YAML"),
        ("afterglow.yaml", "x: !!python/object:os.system {}", "afterglow.yaml, line 1, column 4: this is not valid"),
        ("afterglow.yaml", "just words", "afterglow.yaml: it holds no settings"),
        ("afterglow.yaml", "[" * 9000, "afterglow.yaml: it is nested too deeply"),
        ("afterglow.json", "{}", "afterglow.json: a settings file ends in .toml, .yaml, .yml"),
    ],
)
def test_a_file_with_a_mistake_is_named_with_the_place(name: str, text: str, place: str) -> None:
    assert the_problem(text, name).startswith(place)


def test_a_file_that_is_not_utf_8_or_is_a_folder_is_an_error() -> None:
    Path("a.toml").write_bytes(b"\nzone = '\xff'")
    Path("b.toml").mkdir()
    with pytest.raises(BadSettings, match=r"a\.toml, line 2: this is not UTF-8 text"):
        load(Path("a.toml"), environ={})
    with pytest.raises(BadSettings, match=r"b\.toml: the settings file cannot be read"):
        load(Path("b.toml"), environ={})


@for_each(
    "name, text, lines",
    [
        ("afterglow.toml", 'a = """\n[server]\nb = 1\n"""\nb = 2\n\n[c]\nx = 1', {"a": 1, "b": 5, "c": 7}),
        ("afterglow.toml", "a = [\n  # [b]\n  1,\n]\r\nb = [[1]]\r\n", {"a": 1, "b": 5}),
        ("afterglow.toml", "server.b = 1\nlog = {\u0009c = 1}", {"server.b": 1, "log.c": 2}),
        ("afterglow.toml", '# \u2028\n"server".b = 1', {"server.b": 2}),
        (
            "afterglow.toml",
            '[[agents]]\nid = "x"\nb = 1\n[[agents]]\nid = "y"\n[agents.c]',
            {"agents.b": 3, "agents.c": 6},
        ),
        ("afterglow.yaml", "a: |\n  b: 1\nb: 2\nserver: {\n  c: 1}", {"a": 1, "b": 3, "server.c": 5}),
        ("afterglow.yaml", "agents:\n- id: x\n\n  b: 1\n- id: y\n  c: 1", {"agents.b": 4, "agents.c": 6}),
        ("afterglow.yaml", "a: &a {x: 1}\nb: *a\nc: &c [*c]", {"a": 1, "b": 2, "c": 3}),
    ],
)
def test_the_line_of_a_key_is_right_whatever_stands_around_it(name: str, text: str, lines: dict[str, int]) -> None:
    found = {line.split(" (")[0]: int(re.findall(r"line (\d+)\)", line)[0]) for line in problems(text, name)}
    assert found == lines


# The password of the database


URL = f"postgresql://kate:{PASSWORD}@db.example:5432/memory?sslmode=require"


@for_each(
    "url",
    [
        URL,
        f"postgresql://kate:a@b/{PASSWORD}@db.example/memory",
        f"postgresql://kate:{PASSWORD}/a?b#c@db.example/memory",
        f"postgresql://db.example/memory?user=kate&password={PASSWORD}",
        f"postgresql://db.example/memory?user=kate&p%61ssword={PASSWORD}&sslmode=require",
        f"postgresql://:{PASSWORD}@/memory",
    ],
)
def test_a_password_is_kept_but_not_shown_when_settings_are_printed(url: str) -> None:
    written(Path.cwd(), f'database = "{url}"')
    loaded = load(environ={})
    assert loaded.settings.database == url
    assert loaded.settings.sqlite_path is None
    printed = [
        loaded,
        loaded.settings,
        loaded.settings.model_dump(),
        loaded.settings.model_dump_json(),
        describe(loaded),
    ]
    for one in printed:
        assert "memory" in f"{one!r} {one!s}" or "***" in f"{one!r}"
        assert PASSWORD not in f"{one!r} {one!s}"


def test_what_is_no_secret_in_an_address_is_shown() -> None:
    shown = load(environ={"AFTERGLOW_DATABASE": URL}).settings.model_dump()["database"]
    assert shown == "postgresql://kate:***@db.example:5432/memory?sslmode=require"


@for_each(
    "name, text",
    [
        ("a.toml", 'database = "postgres://SECRET"'),
        ("a.toml", 'database = "SECRET"'),
        ("a.toml", 'database = "host=h password=SECRET"'),
        ("a.toml", 'database = ["postgresql://SECRET"]'),
        ("a.toml", 'databse = "postgresql://SECRET"'),
        ("a.toml", 'zone = "postgresql://SECRET"'),
        ("a.toml", '[server]\nhost = "postgresql://SECRET"'),
        ("a.toml", '"postgresql://SECRET" = 1'),
        ("a.toml", "database = postgresql://SECRET"),
        ("a.toml", 'database = "postgresql://SECRET'),
        ("a.yaml", "database: postgres://SECRET"),
        ("a.yaml", "database: {url: postgres://SECRET}"),
        ("a.yaml", "database:postgresql://SECRET"),
        ("a.yaml", "database:postgresql://SECRET\nzone: UTC"),
        ("a.yaml", 'database: "postgresql://SECRET'),
        ("a.yaml", "zone: x: postgresql://SECRET"),
    ],
)
def test_a_password_is_in_no_error(name: str, text: str) -> None:
    secret = f"kate:{PASSWORD}@h/d"
    told = problems(text.replace("SECRET", secret), name, {"AFTERGLOW_DATABSE": f"postgresql://{secret}"})
    assert len(told) == 2
    assert PASSWORD not in str(told)


def test_a_password_is_in_no_error_of_settings_that_a_program_makes() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"database": f"postgres://kate:{PASSWORD}@h/d", "databse": PASSWORD})
    assert PASSWORD not in str(caught.value)


# What is generated


def test_describe_gives_every_setting_with_its_value_source_and_meaning() -> None:
    file = written(Path.cwd(), '[server]\nport = 9000\n[[agents]]\nid = "kate"\ndrop_private = false')
    loaded = load(environ={"AFTERGLOW_ZONE": "Asia/Tokyo"})
    rows = {row.key: row for row in describe(loaded)}
    assert set(rows) == set(loaded.sources)
    assert rows["server.port"] == ("server.port", 9000, str(file), LEAVES["server.port"].meaning)
    assert rows["zone"][1:3] == ("Asia/Tokyo", "environment AFTERGLOW_ZONE")
    assert rows["agents"].value == ["kate"]
    assert rows["agents.kate.drop_private"][1:3] == (False, str(file))
    assert rows["database"].value == f"sqlite:///{loaded.settings.sqlite_path}"
    json.dumps(list(rows.values()))


def test_the_schema_has_descriptions_defaults_and_limits_and_allows_nothing_else() -> None:
    schema = json_schema()
    tables = [schema, *schema["$defs"].values()]
    assert all(table["additionalProperties"] is False for table in tables)
    assert all("description" in one or "$ref" in one for table in tables for one in table["properties"].values())
    port = schema["$defs"]["ServerSettings"]["properties"]["port"]
    assert (port["default"], port["minimum"], port["maximum"]) == (8765, 0, 65535)
    assert str(Path.home()) not in json.dumps(schema)


def test_the_reference_in_the_docs_is_up_to_date() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert with_generated(page, reference()) == page, f"docs/settings.md is out of date; run: {REGENERATE}"
    assert [key for key in LEAVES if f"| `{key}` |" not in page] == []


def test_the_errors_in_the_docs_are_the_ones_that_are_told() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    told = problems('zone = "UTC"\n\n[server]\nport = 70000\nprot = 1\n')
    shown = re.findall(r"^    (server\..*)$", page, re.MULTILINE)
    assert sorted(shown) == sorted(line.replace("(afterglow", "(/srv/afterglow") for line in told)


def test_the_files_in_the_docs_load_and_mean_the_same() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    loaded: dict[str, list[Settings]] = {}
    for kind in ("toml", "yaml"):
        for text in re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL):
            settings = load(written(Path.cwd(), text, f"docs.{kind}"), environ={}).settings
            loaded.setdefault(kind, []).append(settings)
    assert loaded["toml"] == loaded["yaml"]
    assert loaded["toml"][0].agent("kate").drop_private is False
    assert loaded["toml"][1].compaction_of("kate").interval == 10


def test_the_example_file_is_up_to_date() -> None:
    text = (ROOT / "afterglow.example.toml").read_text(encoding="utf-8")
    assert text == example(), f"afterglow.example.toml is out of date; run: {REGENERATE}"


def test_the_example_loads_as_the_defaults() -> None:
    assert load(written(Path.cwd(), example()), environ={}).settings == Settings()


def test_the_example_with_every_line_active_has_every_key_and_no_other_value_than_the_defaults() -> None:
    active = re.sub(r"^#(?=[\w\[])", "", example(), flags=re.MULTILINE)
    loaded = load(written(Path.cwd(), active), environ={})
    assert "default" not in loaded.sources.values()
    # These depend on the machine, or have no default that a file could say: the example shows some value.
    shown: dict[str, Any] = {"data_dir": True, "database": True, "zone": True, "agents": True, "sources": True}
    shown["compaction"] = {"base_url", "context_sources"}
    shown["search"] = {"base_url"}
    shown["mcp"] = {"owner"}
    shown["away_summary"] = {"daily_at", "awake_hours", "bindings"}
    shown["answering"] = {"base_url", "instructions", "mcp_servers"}
    shown["mcp_servers"] = True
    assert loaded.settings.model_dump(exclude=shown) == Settings().model_dump(exclude=shown)
    kate = AgentSettings(id="kate", timeout_summarize_seconds=1800, timeout_clear_seconds=3600)
    assert loaded.settings.agents == (kate,)
    assert loaded.settings.compaction.context_sources == (ContextSourceSettings(source="calendar-hand"),)
    assert loaded.settings.sources["calendar-hand"].kind == "calendar"


def test_importing_settings_reads_neither_kind_of_file() -> None:
    code = "import sys, afterglow.settings; sys.exit(bool({'yaml', 'tomllib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=without_coverage()).returncode == 0
