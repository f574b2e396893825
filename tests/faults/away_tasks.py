"""What the nursery's children do at the door: write, be told, be killed; and what agents do meanwhile."""

from __future__ import annotations

from typing import Any

from afterglow.channels import Part
from afterglow.inbound import Inbound
from afterglow.memory import Memory
from afterglow.settings import Settings
from afterglow.turns import Binding
from tests.faults.nursery import Voice
from tests.faults.tasks import clock_of, open_store
from tests.kit.records import KATE


async def _memory(order: dict[str, Any]) -> Memory:
    away = {"enabled": True, "threshold_hours": 0, "deadline_seconds": 30, "max_events": 1000}
    chosen = Settings.model_validate({"data_dir": order["data_dir"], "zone": "UTC", "away_summary": away})
    return Memory(await open_store(order["address"], clock_of(order)), chosen, environ={}, folds=False)


async def write(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Come in with a message, be told, be answered."""
    memory = await _memory(order)

    async def deliver(to: Binding, part: Part) -> None:
        voice.say(["digest", part.text])

    async def process(message: Inbound) -> None:
        voice.say(["answer", message.text])

    voice.ready()
    for turn in range(order.get("times", 1)):
        name = f"{order['id']}" if order.get("same") else f"{order['id']}-{number}-{turn}"
        await memory.on_inbound(Inbound(binding=KATE, text=name, id=name), process, deliver=deliver)
    await memory.close()


async def act(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Do some steps of a goal."""
    memory = await _memory(order)
    voice.ready()
    for step in range(order["steps"]):
        await memory.record_goal(KATE, f"goal {number}", "done", step=step)
        voice.say(["step", step])
    await memory.close()


async def act_or_write(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Half of the children work, half of them write."""
    await (act if number % 2 else write)(voice, number, order)
