"""The tools of real MCP servers, over stdio and HTTP: offered, called, lost and found again; and of servers that are none."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from afterglow.agent import ToolUsed, mcp_tools, open_agent
from afterglow.agent.mcp_tools import McpTools
from afterglow.agent.tools import Tool, use
from afterglow.model import ToolCall
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel, calls
from afterglow.settings import AnsweringSettings, McpServerSettings, Settings
from tests.kit.processes import ROOT, Process
from tests.kit.records import KATE
from tests.sources.conftest import free_port

SERVER = str(Path(__file__).with_name("mcp_server.py"))
COMMAND = (sys.executable, SERVER)
SMALL = (sys.executable, str(Path(__file__).with_name("small_mcp_server.py")))
"""A server that starts at once, where it does not matter which library answers."""
SCRIPT = "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
"""What a forked process does to be the server."""
NOWHERE: Any = None
"""Where such a tool is used does not matter to it."""

pytestmark = pytest.mark.spec("AGENT-8")


@contextmanager
def serving(port: int) -> Iterator[None]:
    """The server on this port, from when it takes connections until it is killed."""
    with Process(SERVER, str(port), script=SCRIPT, imports=("mcp.server", "uvicorn"), cwd=ROOT) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None, "it ended"
            time.sleep(0.02)
        yield


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(port := free_port()):
        yield f"http://127.0.0.1:{port}/mcp"


def over(door: str, address: str, **more: Any) -> McpServerSettings:
    if door == "stdio":
        return McpServerSettings(command=COMMAND, **more)
    return McpServerSettings(address=address, allow_private=True, **more)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has much to do is no server that is not there."""
    monkeypatch.setattr(mcp_tools, "_PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(mcp_tools, "_AGAIN_SECONDS", 0.05)


def started() -> set[int]:
    """The processes that this one has started, and theirs, but for the one that forks servers with all that it forked."""
    found: set[int] = set()
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            if "tests.kit.processes" not in child.cmdline():
                found |= {child.pid, *(each.pid for each in child.children(recursive=True))}
    return found


@pytest.fixture
async def opened() -> AsyncIterator[Any]:
    """Tools of servers, which are let go of in the end, and leave no process behind."""
    before = started()
    made: list[McpTools] = []

    def open_some(environ: dict[str, str] | None = None, **servers: McpServerSettings) -> McpTools:
        made.append(McpTools(servers, environ or {}))
        return made[-1]

    yield open_some
    for each in made:
        await each.close()
    assert started() <= before


async def called(tools: list[Tool], name: str, seconds_max: float = 60, **arguments: Any) -> tuple[str, bool]:
    call = ToolCall(id="c1", name=name, arguments=arguments)
    return await use(call, {each.name: each for each in tools}, NOWHERE, seconds_max)


@pytest.mark.parametrize("door", ["stdio", "http"])
async def test_a_server_s_tools_are_offered_and_called(door: str, address: str, opened: Any) -> None:
    tools = await opened(sky=over(door, address)).tools()
    names = [each.name for each in tools]
    assert names[:2] == ["sky_weather", "sky_parts"]
    assert names[-2:] == ["sky_odd_name_with_dots", "sky_odd_name_with_dots_2"]
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names)
    weather = tools[0].spec
    assert weather.description == "The weather in a city."
    assert weather.schema["required"] == ["city"] and list(weather.schema["properties"]) == ["city", "days"]
    assert await called(tools, "sky_weather", city="Oslo", days=2) == ("rain in Oslo for 2 days", False)
    assert await called(tools, "sky_parts") == ("one\ntwo", False)
    assert await called(tools, "sky_odd_name_with_dots_2") == ("odd too", False)


@pytest.mark.parametrize("door", ["stdio", "http"])
async def test_what_goes_wrong_is_told_to_the_model(door: str, address: str, opened: Any) -> None:
    tools = await opened(sky=over(door, address)).tools()
    said, failed = await called(tools, "sky_fails")
    assert failed and "the barometer is broken" in said
    said, failed = await called(tools, "sky_weather", town="Oslo")
    assert failed and "city" in said
    said, failed = await called(tools, "sky_hangs", seconds_max=0.5)
    assert failed and "gave nothing in 0.5 seconds" in said
    said, failed = await called(tools, "sky_huge", size=300_000)
    assert not failed and len(said) < 101_000
    assert await called(tools, "sky_weather", city="Oslo") == ("rain in Oslo for 1 days", False), "it goes on"


async def test_names_that_are_taken_are_not_used_and_names_are_not_too_long(address: str, opened: Any) -> None:
    servers = {"sky": over("http", address), "s" * 70: over("http", address)}
    tools = await opened(**servers).tools(taken=("sky_weather",))
    names = [each.name for each in tools]
    assert names[0] == "sky_weather_2"
    assert len(set(names)) == len(names) == 20
    assert all(len(name) <= 64 for name in names)


async def test_only_the_servers_that_are_wanted_are_started(address: str, opened: Any) -> None:
    some = opened(sky=over("http", address), other=McpServerSettings(command=("/no/such/program",)))
    assert {each.name.split("_")[0] for each in await some.tools(["sky"])} == {"sky"}
    assert await some.tools([]) == []
    assert [task.get_name() for task in asyncio.all_tasks() if "no/such" in repr(task)] == []


@pytest.mark.spec("SAFE-6")
async def test_a_server_sees_the_variables_it_is_given_and_no_others(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_SECRET", "s3cret")
    given = McpServerSettings(command=SMALL, environment=("TOKEN", "UNSET"), password_env="PASSWORD")
    some = opened({"TOKEN": "abc", "PASSWORD": "word", "OTHER_SECRET": "s3cret"}, sky=given)
    names = ["TOKEN", "UNSET", "PASSWORD", "OTHER_SECRET"]
    assert await called(await some.tools(), "sky_sees", names=names) == ("abc,nothing,word,nothing", False)


@pytest.mark.spec("SAFE-6")
async def test_a_private_address_is_not_reached_unless_allowed(
    address: str, opened: Any, caplog: pytest.LogCaptureFixture
) -> None:
    some = opened(sky=McpServerSettings(address=address.replace("http:", "https:")))
    assert await some.tools() == []
    assert "no address of the open internet" in caplog.text


async def test_a_server_that_dies_is_started_again(opened: Any, caplog: pytest.LogCaptureFixture) -> None:
    some = opened(sky=McpServerSettings(command=SMALL))
    first, _ = await called(await some.tools(), "sky_which")
    said, failed = await called(await some.tools(), "sky_dies")
    assert failed and "the server sky gave no answer" in said
    second, _ = await called(await there_again(some), "sky_which")
    os.kill(int(second), signal.SIGKILL)  # while nothing is asked
    await until_gone(some)
    third, failed = await called(await there_again(some), "sky_which")
    assert not failed and len({first, second, third}) == 3


async def there_again(some: McpTools) -> list[Tool]:
    async with asyncio.timeout(60):
        while not (tools := await some.tools()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return tools


async def until_gone(some: McpTools) -> None:
    async with asyncio.timeout(60):
        while await some.tools():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_server_on_the_web_that_is_restarted_is_connected_again(opened: Any) -> None:
    port = free_port()
    settings = McpServerSettings(address=f"http://127.0.0.1:{port}/mcp", allow_private=True)
    some = opened(sky=settings)
    with serving(port):
        tools = await some.tools()
        assert await called(tools, "sky_weather", city="Oslo") == ("rain in Oslo for 1 days", False)
    said, failed = await called(tools, "sky_weather", city="Oslo")
    assert failed and "the server sky" in said
    with serving(port):
        assert not (await called(await there_again(some), "sky_weather", city="Oslo"))[1]


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (McpServerSettings(command=("/no/such/program",)), "No such file"),
        (McpServerSettings(command=(sys.executable, "-c", "print('hello')")), "closed"),
        (McpServerSettings(address="http://127.0.0.1:1/mcp", allow_private=True), "."),
        (McpServerSettings(address="https://127.0.0.1:1/mcp"), "no address of the open internet"),
        (McpServerSettings(command=COMMAND, password_env="NOT_SET"), "variable NOT_SET, which should hold"),
    ],
)
async def test_a_server_that_is_none_is_told_of_once_and_has_no_tools(
    server: McpServerSettings, why: str, opened: Any, caplog: pytest.LogCaptureFixture, address: str
) -> None:
    some = opened(none=server, sky=over("http", address))
    for _ in range(3):
        tools = await some.tools()
        assert tools and all(each.name.startswith("sky_") for each in tools)
        await asyncio.sleep(0.1)  # in which it is tried again
    told = [each.getMessage() for each in caplog.records if each.name == mcp_tools.__name__ and each.levelno > 20]
    assert len(told) == 1
    assert re.search(rf"^the tools of the MCP server none are missing: .*{why}", told[0])


async def test_a_server_that_says_nothing_delays_no_answer_for_long(
    opened: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(mcp_tools, "_PATIENCE_SECONDS", 0.2)
    some = opened(mute=McpServerSettings(command=(sys.executable, "-c", "import time; time.sleep(1000)")))
    async with asyncio.timeout(60):
        assert await some.tools() == []
        assert await some.tools() == []
    assert "is waited for no longer" in caplog.text


async def test_without_the_package_there_are_no_tools_and_the_log_says_what_to_install(
    opened: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.client.stdio", None)
    assert await opened(sky=McpServerSettings(command=COMMAND)).tools() == []
    assert "pip install '.[sources]'" in caplog.text


async def test_nothing_is_started_before_it_is_asked_for(opened: Any) -> None:
    before = len(asyncio.all_tasks())
    some = opened(sky=McpServerSettings(command=COMMAND))
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == before
    await some.close()


@pytest.mark.spec("AGENT-8")
async def test_the_agent_uses_the_tools_of_the_servers_it_may_use(tmp_path: Path, address: str) -> None:
    servers = {
        "sky": McpServerSettings(command=SMALL),
        "web": over("http", address),
        "gone": McpServerSettings(command=("/no/x",)),
    }
    settings = Settings(
        data_dir=tmp_path,
        mcp_servers=servers,
        answering=AnsweringSettings(mcp_servers=("sky", "gone"), tools=("memory_search",)),
    )
    model = ScriptedModel([calls(("sky_weather", {"city": "Oslo"}), ("web_weather", {"city": "Bergen"})), "It rains."])
    before = started()
    async with open_agent(settings, model=model, binding=KATE) as agent:
        events = [each async for each in agent.stream("Weather?") if isinstance(each, ToolUsed)]
    assert started() <= before
    assert [(each.result, each.failed) for each in events if each.name == "sky_weather"] == [
        ("rain in Oslo for 1 days", False)
    ]
    assert all(each.failed for each in events if each.name == "web_weather"), "it may not use that one"
    offered = [each.name for each in model.requests[0].tools]
    assert offered[:2] == ["memory_search", "sky_weather"] and not [each for each in offered if "web" in each]


async def test_without_a_model_no_server_is_started(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, mcp_servers={"sky": McpServerSettings(command=COMMAND)})
    before = started()
    async with open_agent(settings, model=OfflineModel(), binding=KATE) as agent:
        assert "No model is set up" in await agent.invoke("Weather?")
        assert started() <= before


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, mcp_tools.__name__)
