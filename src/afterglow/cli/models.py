"""Which models the settings choose, to fold sessions and for other work, and where that comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

from afterglow.errors import BadSettings, MissingPackage
from afterglow.model.choice import choose
from afterglow.model.offline import NAME as OFFLINE
from afterglow.model.providers import PROVIDERS, Provider
from afterglow.settings import Loaded


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The model that would be used: its name, or a sentence that says why there is none."""

    name: str | None
    come_by: str
    """Where it comes from, as part of a sentence."""
    use: str = "model"
    """`model` for the one that folds, or the setting that names one for something else."""
    agent: str | None = None
    """The agent whose own settings name it; None for all others."""
    base_url: str | None = None
    error: str | None = None


def chosen_models(loaded: Loaded, environ: Mapping[str, str]) -> Iterator[Chosen]:
    """The model of [compaction], then those of the agents that have one of their own."""
    yield _chosen(loaded, None, environ)
    for agent in loaded.settings.agents:
        if {"model", "base_url"} & agent.compaction.model_fields_set:
            yield _chosen(loaded, agent.id, environ)


def other_models(loaded: Loaded, environ: Mapping[str, str]) -> Iterator[Chosen]:
    """The models that summarise sessions and find facts, where the settings name such."""
    settings, seen = loaded.settings, set[tuple[str, str, str | None]]()
    for agent in (None, *(each.id for each in settings.agents)):
        compaction = settings.compaction if agent is None else settings.compaction_of(agent)
        facts = settings.facts if agent is None else settings.facts_of(agent)
        for use, model in (("summaries.model", settings.summaries.model), ("facts.model", facts.model)):
            key = (use, model, compaction.base_url)
            if model and key not in seen:
                seen.add(key)
                found = Chosen(name=None, come_by=_place(loaded, agent, use), use=use, agent=agent)
                yield _tried(found, model, compaction.base_url, environ)


def _tried(found: Chosen, model: str, base_url: str | None, environ: Mapping[str, str]) -> Chosen:
    try:
        return replace(found, name=choose(model, environ=environ, base_url=base_url).name, base_url=base_url)
    except (BadSettings, MissingPackage) as error:
        return replace(found, error=str(error))


def _chosen(loaded: Loaded, agent: str | None, environ: Mapping[str, str]) -> Chosen:
    compaction = loaded.settings.compaction if agent is None else loaded.settings.compaction_of(agent)
    try:
        name = choose(compaction.model, environ=environ, base_url=compaction.base_url).name
    except (BadSettings, MissingPackage) as error:
        return Chosen(name=None, come_by=_key(loaded, agent), agent=agent, error=str(error))
    given = compaction.model or compaction.base_url
    come_by = _key(loaded, agent) if given else _found_in(environ, name)
    return Chosen(name=name, come_by=come_by, agent=agent, base_url=compaction.base_url)


def _key(loaded: Loaded, agent: str | None) -> str:
    """The setting that names the model, and where it stands."""
    return _place(loaded, agent, "compaction.model", "compaction.base_url")


def _place(loaded: Loaded, agent: str | None, *keys: str) -> str:
    """The first of the settings that is given, the agent's own before that of all, and where it stands."""
    for key in (*(f"agents.{agent}.{each}" for each in keys), *keys):
        if loaded.sources.get(key, "default") != "default":
            return f"{key}, {loaded.sources[key]}"
    return keys[0]


def _found_in(environ: Mapping[str, str], name: str) -> str:
    """The environment variables that made the choice."""
    if name == OFFLINE:
        return "no key of a provider is in the environment"
    provider = PROVIDERS[name.partition(":")[0]]
    if provider.id == "ollama":
        return "OLLAMA_HOST and OLLAMA_MODEL in the environment"
    key = next((each for each in provider.keys if environ.get(each)), None)
    address = "OPENAI_BASE_URL" if provider.id == "openai" and environ.get("OPENAI_BASE_URL") else None
    return " and ".join(each for each in (address, key) if each) + " in the environment"


def keys_without_package(environ: Mapping[str, str]) -> Iterator[tuple[str, Provider]]:
    """The keys that are set for providers whose package is missing, so that they are passed over."""
    for provider in PROVIDERS.values():
        key = next((each for each in provider.keys if environ.get(each)), None)
        if key and not all(find_spec(package) for package in ("langchain", provider.package)):
            yield key, provider
