"""The routes of what is remembered as a whole: search in all of it, the memory files, spend, sources, export and import."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from datetime import date
from typing import Annotated, get_args
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, Field
from starlette.requests import Request

from afterglow import recollection
from afterglow.errors import BadInput
from afterglow.facts import FactType
from afterglow.memory_files import Agreed, Listed
from afterglow.recollection import Recall
from afterglow.settings import Settings
from afterglow.sources.factory import label_of
from afterglow.spend import Spend, day_of
from afterglow.store.search import Kind
from afterglow.store.transaction import EVERYONE, Scope
from afterglow.transfer import export_lines, import_lines
from afterglow.web.problems import PROBLEM
from afterglow.web.reading import Asked, Page, Strict, Text
from afterglow.web.summaries import Moment
from afterglow.web.whose import Accessed, Opened, one_owner, operators_word, scope_of
from afterglow.web.writing import nothing_sent, read_body

router = APIRouter(prefix="/api/v1")
LINES = "application/x-ndjson"
KINDS: tuple[Kind, ...] = get_args(Kind)
IMPORT_BYTES_MAX = 64 * 1024 * 1024


class RecallAsked(Asked):
    q: Text = Field(description="What to look for, in any words")
    kinds: Text = Field(default=",".join(KINDS), description="What to look in, with commas between")
    type: FactType | None = Field(default=None, description="Of facts, only those of this type")
    since: Moment | None = None
    until: Moment | None = None
    limit: int = Field(default=10, ge=1, le=10_000)


class FilesAsked(Asked):
    path: str = Field(default="", max_length=500, description="A folder within the memory folder")


class FileAsked(Asked):
    path: Text = Field(description="A file within the memory folder, such as facts/index.json")


def _day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError("there is no such day; write one such as 2026-03-02") from None
    return text


class SpendAsked(Asked):
    day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$"), AfterValidator(_day)] | None = Field(
        default=None, description="Such as 2026-03-02; today, in the zone of the settings, without it"
    )


class FileText(BaseModel):
    """A memory file."""

    path: str
    text: str = Field(description="What is in it, marked as recalled memory")


class Spent(BaseModel):
    """How much it was."""

    calls: int
    tokens: int
    usd: float


class ModelSpent(Spent):
    """What one model has cost for one purpose."""

    model: str
    purpose: str


class DaySpent(BaseModel):
    """What a day has cost. Calls under way count with the most that they could cost."""

    day: str
    ceiling_usd: float
    ceiling_tokens: int
    total: Spent
    models: list[ModelSpent]
    left_alone: dict[str, float] = Field(
        description="For how many seconds the server does not call a model, because it failed again and again"
    )


class Imported(BaseModel):
    """What an import brought."""

    new_turns: int
    lines: int
    passed_over: dict[str, int] = Field(description="What was wrong in it and stopped nothing, by what it is")


class DeclaredSource(BaseModel):
    """A source that the settings declare."""

    name: str
    kind: str
    label: str
    agents: list[str] = Field(description="The agents whose sessions it is asked for; * is all others")


@router.get("/recall")
async def recall(memory: Opened, access: Accessed, asked: Annotated[RecallAsked, Query()]) -> Recall:
    """What fits best by words and meaning, of facts, blocks, summaries and turns."""
    owner = await one_owner(memory, access, asked.owner)
    types = [asked.type] if asked.type else []
    return await recollection.recall(
        memory,
        asked.q,
        owner=owner,
        kinds=_kinds(asked.kinds),
        types=types,
        since=asked.since,
        until=asked.until,
        limit=asked.limit,
    )


@router.get("/files")
async def files(memory: Opened, access: Accessed, asked: Annotated[FilesAsked, Query()]) -> Page[Listed]:
    """The files and folders in an owner's memory folder."""
    owner = await one_owner(memory, access, asked.owner)
    return Page(items=await recollection.file_list(memory, owner, asked.path), next=None)


@router.get("/files/text")
async def file(memory: Opened, access: Accessed, asked: Annotated[FileAsked, Query()]) -> FileText:
    """The text of a memory file, marked as recalled memory; of a very long one the beginning."""
    owner = await one_owner(memory, access, asked.owner)
    return FileText(path=asked.path, text=await recollection.file_read(memory, owner, asked.path))


@router.post("/files/rebuild", dependencies=[Depends(nothing_sent)])
async def rebuild(memory: Opened, access: Accessed, asked: Annotated[Asked, Query()]) -> Agreed:
    """Write all memory files of an owner anew. What was edited in them is taken in first, as pending facts."""
    return await memory.facts.rebuild(await one_owner(memory, access, asked.owner))


@router.get("/spend")
async def spend(memory: Opened, access: Accessed, asked: Annotated[SpendAsked, Query()]) -> DaySpent:
    """What a day has cost, by model and purpose: of all owners together, or of one."""
    narrowed = asked.owner is not None or access.owners is not None
    scope: Scope = scope_of(access, asked.owner) if narrowed else EVERYONE
    day = asked.day or day_of(memory.store.clock.now(), ZoneInfo(memory.settings.zone))
    models = await memory.store.spend_by_model(scope, day)
    total = await memory.store.spend_of_day(day) if scope is EVERYONE else _sum([each.spend for each in models])
    limits = memory.settings.spend
    return DaySpent(
        day=day,
        ceiling_usd=limits.day_ceiling_usd,
        ceiling_tokens=limits.day_ceiling_tokens,
        total=Spent(calls=total.calls, tokens=total.tokens, usd=total.usd),
        models=[
            ModelSpent(
                model=each.model,
                purpose=each.purpose,
                calls=each.spend.calls,
                tokens=each.spend.tokens,
                usd=each.spend.usd,
            )
            for each in models
        ],
        left_alone={model: seconds for model, seconds in memory.means_of.left_alone().items() if seconds > 0},
    )


@router.get("/sources")
async def sources(memory: Opened, asked: Annotated[Strict, Query()]) -> Page[DeclaredSource]:
    """The sources that are declared, and for which agents they are asked."""
    chosen = memory.settings
    found = [
        DeclaredSource(name=name, kind=declared.kind, label=label_of(name, declared), agents=_asking(chosen, name))
        for name, declared in chosen.sources.items()
    ]
    return Page(items=found, next=None)


@router.get("/export", response_class=StreamingResponse, responses={"default": PROBLEM})
async def export(memory: Opened, access: Accessed, asked: Annotated[Asked, Query()]) -> StreamingResponse:
    """All there is as lines of JSON, which `afterglow import` reads. It is read as it is taken, however much it is."""
    scope = scope_of(access, asked.owner)

    async def lines() -> AsyncIterator[str]:
        async for line in export_lines(memory, scope):
            yield line + "\n"

    return StreamingResponse(lines(), media_type=LINES)


@router.post(
    "/import",
    dependencies=[Depends(operators_word)],
    openapi_extra={"requestBody": {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}},
)
async def import_(request: Request, memory: Opened) -> Imported:
    """Read an export, sent as `application/x-ndjson`. What is there already is left alone, so it can be repeated."""
    body = await read_body(request, IMPORT_BYTES_MAX, "; `afterglow import` reads more")
    try:
        lines = body.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise BadInput("this is not UTF-8 text, and no export of Afterglow") from None
    passed_over: Counter[str] = Counter()
    new_turns = await import_lines(memory, lines, passed_over)
    return Imported(new_turns=new_turns, lines=len(lines), passed_over=passed_over)


def _kinds(given: str) -> list[Kind]:
    names = [name.strip() for name in given.split(",")]
    found: list[Kind] = [kind for kind in KINDS if kind in names]
    if len(found) != len(names):
        raise BadInput(f"kinds: choose of {', '.join(KINDS)}, each once, with commas between")
    return found


def _sum(spends: list[Spend]) -> Spend:
    return Spend(
        calls=sum(each.calls for each in spends),
        tokens=sum(each.tokens for each in spends),
        micro_usd=sum(each.micro_usd for each in spends),
    )


def _asking(chosen: Settings, name: str) -> list[str]:
    of_all = ["*"] if any(each.source == name for each in chosen.compaction.context_sources) else []
    own = [
        agent.id
        for agent in chosen.agents
        if any(each.source == name for each in chosen.compaction_of(agent.id).context_sources)
    ]
    return of_all + own
