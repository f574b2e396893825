"""What `afterglow doctor` looks at beyond the data folder: models, the embedder and sources. None of them is asked."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from afterglow.cli.findings import FAULT, FINE, WARNING, Finding
from afterglow.cli.models import Chosen, chosen_models, keys_without_package, other_models
from afterglow.clock import SystemClock
from afterglow.errors import BadSettings, MissingPackage, SourceError
from afterglow.model.offline import NAME as OFFLINE
from afterglow.search.embedders import AUTO, NONE, WITHOUT, chosen, has_local
from afterglow.settings import Loaded, Settings, SourceSettings
from afterglow.settings.sources import path_in
from afterglow.settings.values import base_url

_ADDRESS = "OPENAI_BASE_URL"


def models(loaded: Loaded, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Each model that the settings name, and whether it can be had: its package, its key, its address."""
    found = [*chosen_models(loaded, environ), *other_models(loaded, environ)]
    yield from map(_model, found)
    if any((each.name or "").startswith("openai:") and not each.base_url for each in found):
        yield from _address(environ)
    passed_over = () if loaded.settings.compaction.model else keys_without_package(environ)
    for key, provider in passed_over:
        text = f"{key} is set, but the package {provider.package.replace('_', '-')} is missing, so it is not used"
        yield Finding(mark=WARNING, name="model", text=text, mend=f"pip install '{provider.installation}'")


def _model(found: Chosen) -> Finding:
    name = found.use if found.agent is None else f"{found.use} of {found.agent}"
    if found.error is not None:
        otherwise = (
            "take what the environment has a key for" if found.use == "model" else "have the model of compaction"
        )
        mend = f"mend it ({found.come_by}), or leave it out to {otherwise}"
        return Finding(mark=FAULT, name=name, text=found.error, mend=mend)
    what = ": it chooses sentences and needs no key" if found.name == OFFLINE else ""
    at = f" at {found.base_url}" if found.base_url and found.name != OFFLINE else ""
    return Finding(mark=FINE, name=name, text=f"{found.name}{at}{what} ({found.come_by})")


def _address(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The address that the environment gives, which no check of the settings has seen."""
    try:
        base_url(environ.get(_ADDRESS) or None)
    except ValueError:
        mend = "give it as http://host:port/v1 or https://…, without a password, or unset it"
        yield Finding(mark=FAULT, name="model", text=f"{_ADDRESS} in the environment is no such address", mend=mend)


def embedder(settings: Settings, environ: Mapping[str, str]) -> Finding:
    """What searches by meaning, and whether it can be had."""
    name, search = "search.embedder", settings.search
    if search.embedder == NONE:
        return Finding(mark=FINE, name=name, text="none: search is by words alone")
    if search.embedder == AUTO:
        text = "auto: the one that needs no key" if has_local() else f"auto: {WITHOUT}"
        return Finding(mark=FINE, name=name, text=text)
    try:
        found = chosen(search.embedder, environ=environ, base_url=search.base_url, clock=SystemClock())
    except (BadSettings, MissingPackage) as error:
        mend = "do what it says, or choose auto or none"
        return Finding(mark=FAULT, name=name, text=str(error), mend=mend)
    return Finding(mark=FINE, name=name, text=found.name if found else NONE)


def sources(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether each source has the packages, the password, the file or the program that it needs."""
    if not settings.sources:
        return
    from afterglow.sources.factory import make_now

    mend = "do what it says; until then it is left out of every compaction"
    for name, declared in settings.sources.items():
        try:
            make_now(name, declared, environ=environ)
            missing = _missing(declared, environ)
        except (MissingPackage, SourceError) as error:
            missing = str(error)
        if missing:
            yield Finding(mark=WARNING, name="source", text=f"{name}: {missing}", mend=mend)
        else:
            yield Finding(mark=FINE, name="source", text=f"{name} has what it needs; `afterglow sources check` asks it")


def _missing(declared: SourceSettings, environ: Mapping[str, str]) -> str:
    """What a source needs on this machine and is not there, in a sentence."""
    address = declared.address or ""
    if (found := path_in(declared.kind, address)) and not Path(found[1]).exists():
        return f"there is nothing at {found[1]}; mend its address, or put it there"
    if declared.kind == "agent" and not find_spec(address.partition(":")[0].partition(".")[0]):
        return f"the package of {address} is not installed; install it, or mend its address"
    starts = declared.command or (shlex.split(address) if declared.kind == "mcp" and "://" not in address else ())
    if starts and not shutil.which(starts[0], path=environ.get("PATH")):
        return f"there is no program {starts[0]}; install it, or mend its command"
    return ""
