"""From settings to means: for each agent its limits, its model behind the meter, and its sources. Made when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import iscoroutinefunction
from typing import Any
from zoneinfo import ZoneInfo

from afterglow.compaction import Boot, Frame, Limits, Quiet
from afterglow.contexts import Means
from afterglow.errors import BadInput, BadSettings, MissingPackage
from afterglow.model import Model
from afterglow.model.choice import choose
from afterglow.model.metered import Metered
from afterglow.search.embedders import AUTO, Embedder
from afterglow.search.embedders import chosen as chosen_embedder
from afterglow.search.metered import MeteredEmbedder
from afterglow.search.metered import Priced as PricedEmbedder
from afterglow.settings import CompactionSettings, ContextSourceSettings, Settings
from afterglow.sources import Source
from afterglow.sources.asking import Wanted
from afterglow.spend import SpendLimits
from afterglow.store.contract import Store
from afterglow.work import doing

_CLAIMED_MAX = 1_000
"""More than are ever under way for one owner, whose work is looked through."""


class SettingsMeans:
    """The means that the settings name. A model or sources that are handed in take the place of theirs."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        environ: Mapping[str, str],
        *,
        model: Model | None = None,
        sources: Mapping[str, Source] | None = None,
    ) -> None:
        _check_model(model)
        _check_sources(sources or {})
        self._settings = settings
        self._store = store
        self._environ = environ
        self._model = model
        self._sources = dict(sources or {})
        self._zone = ZoneInfo(settings.zone)
        self._metered: dict[tuple[str, str | None], Metered] = {}
        self._means: dict[str, Means] = {}

    def __call__(self, agent: str) -> Means:
        """What the contexts of this agent's sessions are made with."""
        if agent not in self._means:
            chosen, facts = self._settings.compaction_of(agent), self._settings.facts_of(agent)
            model = self._model_of(chosen)
            self._means[agent] = Means(
                frame=frame_of(self._settings, agent),
                model=model,
                summarising=self._model_of(chosen, self._settings.summaries.model),
                summary_tokens_max=self._settings.summaries.tokens_max,
                extracting=self._model_of(chosen, facts.model),
                part_tokens=facts.part_tokens,
                answer_tokens_max=facts.answer_tokens_max,
                extracts=facts.enabled,
                sources=self._all_wanted(chosen, model),
                deadline_seconds=chosen.deadline_seconds,
                gap_seconds=chosen.gap_seconds,
            )
        return self._means[agent]

    def answering(self, agent: str) -> Metered:
        """The model that answers for this agent."""
        chosen = self._settings.answering_of(agent)
        return self._model_of(self._settings.compaction_of(agent), chosen.model, chosen.base_url)

    def left_alone(self) -> dict[str, float]:
        """For each model that this process has used, for how many seconds it is left alone; 0 where calls go through."""
        return {each.name: each.left_alone_seconds for each in self._metered.values()}

    def metered(self, model: Model) -> Metered:
        """A model of somebody's own, behind the meter."""
        _check_model(model)
        return Metered(
            model,
            self._store,
            limits=self._spend_limits,
            zone=self._zone,
            clock=self._store.clock,
            is_wished=self._is_wished,
        )

    def _model_of(self, chosen: CompactionSettings, name: str = "", base_url: str | None = None) -> Metered:
        """One meter, and so one breaker, for each model, whoever uses it."""
        key = (name or chosen.model, base_url or chosen.base_url)
        if key not in self._metered:
            model = self._model or choose(key[0], environ=self._environ, base_url=key[1], clock=self._store.clock)
            self._metered[key] = self.metered(model)
        return self._metered[key]

    async def _is_wished(self) -> bool:
        """Whether somebody had the work of this moment tried again: its failed tries are forgotten, its last error is not."""
        claim = doing.get()
        if claim is None or claim.attempt > 1:
            return False
        held = await self._store.work_list(claim.owner, "claimed", _CLAIMED_MAX, kind=claim.kind)
        return any(each.subject == claim.subject and each.last_error is not None for each in held)

    def embedder(self) -> Embedder | None:
        """What searches by meaning, as the settings name it; None where they or the packages leave it out."""
        return self._embedder(self._settings.search.embedder)

    def earlier_embedder(self, name: str) -> Embedder | None:
        """The embedder of this name, which was in use before; None where it cannot be had any more."""
        try:
            found = self._embedder(name if ":" in name else AUTO)
        except (BadSettings, MissingPackage):
            return None
        return found if found is not None and found.name == name else None

    def _embedder(self, named: str) -> Embedder | None:
        base_url = self._settings.search.base_url
        found = chosen_embedder(named, environ=self._environ, base_url=base_url, clock=self._store.clock)
        if not isinstance(found, PricedEmbedder):
            return found
        return MeteredEmbedder(found, self._store, limits=self._spend_limits, zone=self._zone, clock=self._store.clock)

    @property
    def _spend_limits(self) -> SpendLimits:
        return SpendLimits(**{name: getattr(self._settings.spend, name) for name in SpendLimits.__slots__})

    def _all_wanted(self, chosen: CompactionSettings, model: Model) -> list[Wanted]:
        """The sources that the settings name, and those that were handed in without being named there."""
        named = {each.source for each in chosen.context_sources}
        given = [
            Wanted(name=name, label=name.capitalize(), source=source, prompt="", deadline_seconds=20, tokens_max=300)
            for name, source in self._sources.items()
            if name not in named
        ]
        return [*(self._wanted(each, model) for each in chosen.context_sources), *given]

    def _wanted(self, asked: ContextSourceSettings, model: Model) -> Wanted:
        # Only where sources are asked are the kinds of them loaded.
        from afterglow.sources.factory import label_of, make

        declared = self._settings.sources[asked.source]
        source = self._sources.get(asked.source) or make(asked.source, declared, environ=self._environ, model=model)
        return Wanted(
            name=asked.source,
            label=label_of(asked.source, declared),
            source=source,
            prompt=asked.prompt,
            deadline_seconds=asked.deadline_seconds,
            tokens_max=asked.tokens_max,
        )


def _check_model(model: Any) -> None:
    missing = [name for name in ("name", "window_tokens", "complete") if model is not None and not hasattr(model, name)]
    if missing:
        raise BadInput(
            f"a model has name, window_tokens and complete(request); this {type(model).__name__} lacks {', '.join(missing)}. A "
            "model of a provider is named in the settings, as compaction.model"
        )


def _check_sources(sources: Any) -> None:
    if not isinstance(sources, Mapping):
        raise BadInput(f"sources are a mapping from names to sources; this is a {type(sources).__name__}")
    for name, source in sources.items():  # pyright: ignore[reportUnknownVariableType]
        if not iscoroutinefunction(getattr(source, "report", None)):  # pyright: ignore[reportUnknownArgumentType]
            raise BadInput(
                f"the source {name!r} needs an async method report(window, prompt, *, tokens_max) that gives a text"
            )


def frame_of(settings: Settings, agent: str) -> Frame:
    """What the settings say of how this agent's contexts are shown. It needs no model and no source."""
    chosen = settings.compaction_of(agent)
    limits = Limits(
        interval=chosen.interval,
        keep_recent=chosen.keep_recent,
        context_limit_tokens=settings.context.context_limit_tokens,
        window_tokens=settings.context.whole_window_tokens,
        fanout=chosen.fanout,
        block_budget_tokens=chosen.block_budget_tokens,
    )
    timeouts = settings.quiet_of(agent)
    quiet = Quiet(
        timeout_summarize_seconds=timeouts.timeout_summarize_seconds,
        timeout_clear_seconds=timeouts.timeout_clear_seconds,
        sunset_marker=settings.sunset_marker,
    )
    boot = Boot(summaries=settings.boot.summaries, tokens_max=settings.boot_tokens_max)
    return Frame(limits=limits, zone=ZoneInfo(settings.zone), quiet=quiet, boot=boot)
