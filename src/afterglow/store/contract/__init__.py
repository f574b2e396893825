"""What a store promises. Each method is a verb: one transaction that happens whole or not at all.

The verbs are plain functions over a transaction (log.py, queue.py, search.py), written once; a store is a way to run
them. Because a verb is a function of a transaction, none can be held open across a call to a model.

Every verb says whose data it is about: an owner, which takes in the owners joined to it, or EVERYONE. A verb that
changes something is durable when it returns, and passes a fail-point named after it just before and after its commit. One
that changes memory also writes into the audit, in the same transaction, who did it.
"""

from __future__ import annotations

from afterglow.store.contract.accounts import AccountVerbs
from afterglow.store.contract.agent import AgentVerbs
from afterglow.store.contract.away import AwayVerbs
from afterglow.store.contract.blocks import BlockVerbs
from afterglow.store.contract.facts import FactVerbs
from afterglow.store.contract.forgetting import ForgettingVerbs
from afterglow.store.contract.log import LogVerbs
from afterglow.store.contract.quiet import QuietVerbs
from afterglow.store.contract.search import SearchVerbs
from afterglow.store.contract.sessions import SessionVerbs
from afterglow.store.contract.tasks import TaskVerbs
from afterglow.store.contract.work import WorkVerbs


class Store(
    LogVerbs,
    SearchVerbs,
    BlockVerbs,
    QuietVerbs,
    FactVerbs,
    ForgettingVerbs,
    AwayVerbs,
    AgentVerbs,
    TaskVerbs,
    SessionVerbs,
    WorkVerbs,
    AccountVerbs,
):
    """The log and everything made from it, on one database."""
