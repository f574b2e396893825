"""Summaries have settings at the top of the file, as the environment names them, and an agent may wait for its own time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadSettings
from afterglow.settings import (
    VARIABLES,
    AgentSettings,
    BootSettings,
    ContextSettings,
    QuietSettings,
    Settings,
    SummariesSettings,
    describe,
    json_schema,
    load,
)
from tests.kit.loops import for_each
from tests.kit.settings_files import (
    empty_working_folder,  # noqa: F401 — each test of this module runs in it
    loaded_from,
    problems,
    the_problem,
    written,
)

pytestmark = pytest.mark.spec("DOOR-8")

SEED = """\
context_limit_tokens: 8000       # input_tokens threshold to trigger mid-conversation summarization
timeout_summarize_seconds: 1800  # idle seconds before summarizing the full session
timeout_clear_seconds: 3600      # idle seconds after summarization before clearing history
"""


# What is declared


def test_without_a_file_summaries_have_the_defaults_of_the_spec() -> None:
    settings = load(environ={}).settings
    assert (settings.primary, settings.auto_summarize, settings.primary_lease_seconds) == ("auto", True, 30)
    assert (settings.sweep_interval_seconds, settings.sweep_sessions, settings.sweep_quiet_seconds) == (600, 10, 600)
    assert settings.drift_days == 30
    assert settings.sunset_marker == "[SUNSET HANDOVER]"
    assert settings.boot == BootSettings(summaries=3, tokens_max=600)
    assert settings.summaries == SummariesSettings(model="", tokens_max=800, results_max=1000)
    assert settings.quiet_of("kate") == QuietSettings(timeout_summarize_seconds=1800, timeout_clear_seconds=3600)


@pytest.mark.spec("AGENT-5")
@pytest.mark.parametrize(
    "given",
    [
        {"context_limit_tokens": 8000, "timeout_summarize_seconds": 1800, "timeout_clear_seconds": 3600},
        {"context_limit_tokens": 9000, "timeout_summarize_seconds": 60, "timeout_clear_seconds": 0},
    ],
)
def test_the_settings_yaml_of_the_seed_loads_as_it_is(given: dict[str, int]) -> None:
    text = SEED
    for old, new in zip(("8000", "1800", "3600"), given.values(), strict=True):
        text = text.replace(old, str(new))
    file = written(Path.cwd(), text, "settings.yaml")
    loaded = load(file, environ={})
    settings = loaded.settings
    assert settings.context.context_limit_tokens == given["context_limit_tokens"]
    assert settings.timeout_summarize_seconds == given["timeout_summarize_seconds"]
    assert settings.timeout_clear_seconds == given["timeout_clear_seconds"]
    assert {key for key, source in loaded.sources.items() if source == str(file)} == {
        "context.context_limit_tokens",
        "timeout_summarize_seconds",
        "timeout_clear_seconds",
    }


def test_the_environment_variables_are_those_of_the_spec() -> None:
    environ = {
        "AFTERGLOW_PRIMARY": "true",
        "AFTERGLOW_AUTO_SUMMARIZE": "false",
        "AFTERGLOW_SWEEP_INTERVAL_SECONDS": "0",
    }
    assert environ.keys() <= VARIABLES.keys()
    settings = loaded_from('primary = "false"\nauto_summarize = true\nsweep_interval_seconds = 5', **environ)
    assert (settings.primary, settings.auto_summarize, settings.sweep_interval_seconds) == ("true", False, 0)


# The primary


@for_each(
    "text, meant",
    [('"auto"', "auto"), ('"true"', "true"), ('"false"', "false"), ("true", "true"), ("false", "false")],
)
def test_primary_is_text_or_a_truth_value_in_toml_and_yaml(text: str, meant: str) -> None:
    assert loaded_from(f"primary = {text}").primary == meant
    assert loaded_from(f"primary: {text}", "afterglow.yaml").primary == meant


@for_each(
    "word, meant",
    [
        *((word, "true") for word in ("true", "TRUE", "on", "1", "yes", " Yes ")),
        *((word, "false") for word in ("false", "False", "off", "0", "no")),
        *((word, "auto") for word in ("auto", "AUTO", " auto")),
    ],
)
def test_primary_takes_the_words_of_the_environment(word: str, meant: str) -> None:
    loaded = load(environ={"AFTERGLOW_PRIMARY": word})
    assert loaded.settings.primary == meant
    assert loaded.sources["primary"] == "environment AFTERGLOW_PRIMARY"


@pytest.mark.parametrize(
    ("text", "given", "quotes"), [('"Maybe"', '"Maybe"', ""), ("1", "1", ", in quotes"), ('""', '""', "")]
)
def test_another_word_for_primary_is_an_error(text: str, given: str, quotes: str) -> None:
    assert the_problem(f"# who\nprimary = {text}") == (
        f"primary (afterglow.toml, line 2): {given} is not allowed; "
        f'give auto, true or false{quotes}, or leave it out for the default, "auto"'
    )


def test_who_asks_has_its_own_default_where_primary_is_not_given() -> None:
    assert loaded_from("").primary_or("false") == "false"
    assert loaded_from('primary = "auto"').primary_or("false") == "auto"
    assert loaded_from("", AFTERGLOW_PRIMARY="on").primary_or("false") == "true"


def test_the_lease_of_the_primary_has_limits() -> None:
    assert loaded_from("primary_lease_seconds = 0.1").primary_lease_seconds == 0.1
    for wrong in ("0", "3601"):
        assert the_problem(f"primary_lease_seconds = {wrong}") == (
            f"primary_lease_seconds (afterglow.toml, line 1): {wrong} is not allowed; "
            "give a number from 0.1 to 3600, or leave it out for the default, 30"
        )


# The marker


@for_each("marker", ["", "x", "[SUNSET HANDOVER]", "Gute Nacht, bis übermorgen", "x" * 200])
def test_a_marker_is_one_line_of_up_to_200_characters_and_an_empty_one_turns_it_off(marker: str) -> None:
    assert loaded_from(f"sunset_marker = {json.dumps(marker)}").sunset_marker == marker


@for_each(
    "marker, told",
    [
        ("x" * 201, f'"{"x" * 60}…" is not allowed; give up to 200 printable characters, or "" to turn it off'),
        ("a\nb", "it holds control characters; write it on one line, in printable ones"),
        (" a", "it begins or ends with a space, which nobody would see; take it away"),
        (" ", "it begins or ends with a space, which nobody would see; take it away"),
    ],
)
def test_a_marker_that_no_turn_could_begin_with_is_an_error(marker: str, told: str) -> None:
    text = f"sunset_marker = {json.dumps(marker)}"
    assert the_problem(text).startswith(f"sunset_marker (afterglow.toml, line 1): {told}")


# Quiet sessions


QUIET = """\
timeout_summarize_seconds = 100
timeout_clear_seconds = 200

[[agents]]
id = "bob"

[[agents]]
id = "kate"
timeout_summarize_seconds = 0

[[agents]]
id = "eve"
timeout_clear_seconds = 1.5
"""


@for_each("agent, summarize, clear", [("stranger", 100, 200), ("bob", 100, 200), ("kate", 0, 200), ("eve", 100, 1.5)])
def test_an_agent_waits_for_its_own_time_and_else_as_all_do(agent: str, summarize: float, clear: float) -> None:
    assert loaded_from(QUIET).quiet_of(agent) == QuietSettings(
        timeout_summarize_seconds=summarize, timeout_clear_seconds=clear
    )


def test_a_wrong_time_of_an_agent_is_told_with_its_line_and_what_it_has_otherwise() -> None:
    assert the_problem(QUIET.replace("seconds = 0", "seconds = -1")) == (
        "agents.timeout_summarize_seconds (afterglow.toml, line 9): -1 is not allowed; "
        "give a number from 0 to 31_622_400, or leave it out for the default, the one at the top of the file"
    )


def test_an_agents_time_that_is_left_out_is_not_told_again() -> None:
    file = written(Path.cwd(), QUIET)
    loaded = load(environ={})
    rows = {row.key: row for row in describe(loaded)}
    assert set(rows) == set(loaded.sources)
    assert rows["timeout_clear_seconds"][1:3] == (200, str(file))
    assert rows["agents.kate.timeout_summarize_seconds"][1:3] == (0, str(file))
    assert rows["agents.eve.timeout_clear_seconds"][1:3] == (1.5, str(file))
    assert [key for key in rows if key.startswith("agents.") and "timeout" in key] == [
        "agents.kate.timeout_summarize_seconds",
        "agents.eve.timeout_clear_seconds",
    ]


# What must fit


def test_what_a_session_begins_with_must_be_under_the_limit_of_the_context() -> None:
    assert the_problem("[boot]\ntokens_max = 8000") == (
        "boot.tokens_max (afterglow.toml, line 2): 8000 is not under context.context_limit_tokens, which is 8000; "
        "lower the one or raise the other"
    )
    small = "[context]\ncontext_limit_tokens = 600\n[compaction]\nblock_budget_tokens = 480\n[boot]\ntokens_max = "
    assert loaded_from(f"{small}599").boot_tokens_max == 599
    assert the_problem(f"{small}600").startswith("boot.tokens_max (afterglow.toml, line 6): 600 is not under")
    with pytest.raises(BadSettings, match="600 is not under"):
        Settings(context=ContextSettings(context_limit_tokens=2500), boot=BootSettings(tokens_max=2_600))


@for_each("limit, tokens", [(500, 250), (1000, 500), (1200, 600), (8000, 600)])
def test_what_a_session_begins_with_is_at_most_half_of_a_small_context_by_default(limit: int, tokens: int) -> None:
    text = f"context_limit_tokens = {limit}\n[compaction]\nblock_budget_tokens = 480"
    assert loaded_from(text).boot_tokens_max == tokens


@for_each(
    "text, told",
    [
        ("sweep_intervall_seconds = 5", "did you mean sweep_interval_seconds?"),
        ("auto_summarise = true", "did you mean auto_summarize?"),
        ("[summaries]\nmodels = 1", "did you mean summaries.model?"),
        ("[boot]\nsummary = 1", "did you mean boot.summaries?"),
        ("[summary]\nmodel = 1", "did you mean summaries?"),
    ],
)
def test_a_name_beside_the_right_one_is_told(text: str, told: str) -> None:
    assert the_problem(text).endswith(told)


def test_everything_wrong_with_summaries_is_told_at_once() -> None:
    text = (
        'primary = "x"\nauto_summarize = "x"\nsweep_sessions = 0\ndrift_days = 0.5\nsunset_marker = 5\n'
        '[boot]\nsummaries = 101\n[summaries]\nmodel = "a b"\ntokens_max = 0\nresults_max = 0'
    )
    told = problems(text)
    assert [line.split(":")[0] for line in told] == [
        "primary (afterglow.toml, line 1)",
        "auto_summarize (afterglow.toml, line 2)",
        "sweep_sessions (afterglow.toml, line 3)",
        "drift_days (afterglow.toml, line 4)",
        "sunset_marker (afterglow.toml, line 5)",
        "boot.summaries (afterglow.toml, line 7)",
        "summaries.model (afterglow.toml, line 9)",
        "summaries.tokens_max (afterglow.toml, line 10)",
        "summaries.results_max (afterglow.toml, line 11)",
    ]
    assert told[6].endswith(
        '"a b" is not allowed; give offline, provider:model, or the name of a well-known model, '
        "such as gemini-2.5-flash, or leave it out for the default, the model of compaction"
    )


@for_each(
    "key",
    [
        "sweep_interval_seconds",
        "sweep_quiet_seconds",
        "drift_days",
        "timeout_summarize_seconds",
        "timeout_clear_seconds",
    ],
)
def test_what_can_be_turned_off_is_off_with_0(key: str) -> None:
    assert getattr(loaded_from(f"{key} = 0"), key) == 0


# What is told of them


def test_the_schema_takes_primary_as_text_and_as_a_truth_value() -> None:
    schema = json_schema()
    primary: dict[str, Any] = schema["properties"]["primary"]
    assert primary["enum"] == ["auto", "true", "false", True, False]
    assert (primary["default"], "type" in primary, "description" in primary) == ("auto", False, True)
    own = schema["$defs"]["AgentSettings"]["properties"]["timeout_clear_seconds"]
    assert {"type": "number", "minimum": 0, "maximum": 31_622_400} in own["anyOf"]


def test_an_agent_that_a_program_makes_is_checked_too() -> None:
    with pytest.raises(BadSettings, match=r"^agents.timeout_clear_seconds \(argument\): -1 is not allowed; give"):
        AgentSettings(id="kate", timeout_clear_seconds=-1)
    agent = AgentSettings(id="kate", timeout_clear_seconds=5)
    assert Settings(agents=(agent,)).quiet_of("kate").timeout_clear_seconds == 5
