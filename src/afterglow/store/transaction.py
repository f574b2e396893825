"""One transaction, and whose it is.

The SQL of the verbs is written once. Here, and only here, it is adapted to a database: `:name` becomes the driver's own
parameter, and the words in braces become what that database says. The owner's filter is one of them: a verb that reads
or changes an owner's rows writes `{mine}`, and gets exactly the owners of this transaction. There is no default: who
wants everyone's rows, as the operator and the worker do, must say EVERYONE.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Protocol

from afterglow.errors import BadInput
from afterglow.turns import check_text


class Everyone(Enum):
    """Said in place of an owner by the operator and the worker, who see all of them."""

    EVERYONE = "everyone"


EVERYONE: Final = Everyone.EVERYONE
Scope = str | Everyone


class Row(Protocol):
    """A row of a result, by column name."""

    def __getitem__(self, column: str, /) -> Any: ...


class Dialect:
    """What one database says for the words that differ. `parameter` is how a named one is written."""

    def __init__(self, name: str, parameter: str, words: Mapping[str, str]) -> None:
        self.name = name
        self.parameter = parameter
        self.words = dict(words)

    def ddl(self, sql: str) -> str:
        """A migration's SQL: it has no parameters, only words."""
        for word, meaning in self.words.items():
            sql = sql.replace("{" + word + "}", meaning)
        return sql

    def adapt(self, sql: str, mine: str = "") -> str:
        """The verb's SQL as this database wants it."""
        return _adapt(self, sql, mine)


_NOT_YET_INDEXED = """FROM search_terms WHERE id > (SELECT indexed_to FROM search_progress WHERE id = 1)
                        AND mark = asked.mark AND instr(' ' || terms || ' ', ' ' || asked.term || ' ') > 0"""
_WITHIN = """at >= :since AND at < :until
             AND (:labels = '' OR instr(',' || :labels || ',', ',' || label || ',') > 0)"""
_INDEXED = "mark || replace(terms, ' ', ' ' || mark)"

SQLITE = Dialect(
    "sqlite",
    r":\1",
    {
        "now": "now_us()",
        "lock": "",
        "skip_locked": "",
        "least": "min",
        "greatest": "max",
        "root": "coalesce((SELECT joined_to FROM aliases WHERE owner = :owner_0), :owner_0)",
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "bytes": "BLOB",
        "clustered": "WITHOUT ROWID",
        "lock_aliases": "SELECT 1",
        "matches": f"""SELECT id FROM (
              SELECT * FROM (SELECT search_terms.id FROM search_index CROSS JOIN search_terms
                             ON search_terms.id = search_index.rowid
                             WHERE search_index MATCH :mark || :term AND {_WITHIN}
                             ORDER BY search_index.rowid DESC LIMIT :most)
              UNION ALL SELECT id {_NOT_YET_INDEXED.replace("asked.", ":")} AND {_WITHIN}) ORDER BY id DESC LIMIT :most""",
        "matches_count": f"""coalesce((SELECT doc FROM search_vocab AS v WHERE v.term = asked.mark || asked.term), 0)
                             + (SELECT count(*) {_NOT_YET_INDEXED})""",
        "unindex": f"""INSERT INTO search_index (search_index, rowid, terms)
              SELECT 'delete', id, {_INDEXED} FROM search_terms
              WHERE id <= (SELECT indexed_to FROM search_progress WHERE id = 1) AND""",
    },
)
POSTGRES = Dialect(
    "postgres",
    r"%(\1)s",
    {
        "now": "afterglow_now()",
        "lock": "FOR UPDATE",
        "skip_locked": "FOR UPDATE SKIP LOCKED",
        "least": "least",
        "greatest": "greatest",
        "root": "(afterglow_owners())[1]",
        "id": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "bytes": "BYTEA",
        "clustered": "",
        "lock_aliases": "LOCK TABLE aliases IN SHARE ROW EXCLUSIVE MODE",
        "matches": "SELECT afterglow_matches(:mark || :term, :since, :until, :labels, :most)",
        "matches_count": "afterglow_matches_count(asked.mark || asked.term)",
        "unindex": "",  # its index is its own
    },
)

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")


@lru_cache(maxsize=1000)
def _adapt(dialect: Dialect, sql: str, mine: str) -> str:
    sql = dialect.ddl(sql).replace("{mine}", mine)
    if dialect.parameter.startswith("%"):
        sql = sql.replace("%", "%%")
    return _PARAMETER.sub(dialect.parameter, sql)


class Tx(ABC):
    """One open transaction of one owner (with those joined to it), or of everyone."""

    dialect: Dialect

    def __init__(self, owners: tuple[str, ...] | Everyone) -> None:
        self._owners = owners
        self._mine = mine(owners)
        self._own = {} if isinstance(owners, Everyone) else {f"owner_{n}": each for n, each in enumerate(owners)}

    @property
    def owner(self) -> str:
        """Whose transaction it is: what new rows are stamped with."""
        assert not isinstance(self._owners, Everyone), "this verb needs an owner"
        return self._owners[0]

    @property
    def is_everyones(self) -> bool:
        """Whether it is about all owners."""
        return isinstance(self._owners, Everyone)

    @property
    def owners(self) -> tuple[str, ...]:
        """The owner, and all that an alias has joined to it."""
        assert not isinstance(self._owners, Everyone), "this verb needs an owner"
        return self._owners

    def rows(self, sql: str, **values: Any) -> list[Row]:
        """Run one statement and give its rows."""
        check_values(values)
        try:
            return self._execute(self.dialect.adapt(sql, self._mine), {**self._own, **values})
        except UnicodeEncodeError as error:
            raise BadInput(
                f"half of a surrogate pair stands at position {error.start} of what was given; decode it with "
                "errors='replace' and send it again"
            ) from None

    def row(self, sql: str, **values: Any) -> Row | None:
        """Run one statement that gives one row at most."""
        found = self.rows(sql, **values)
        assert len(found) <= 1, f"{len(found)} rows where one was expected"
        return found[0] if found else None

    def run(self, sql: str, **values: Any) -> None:
        """Run one statement whose rows do not matter."""
        self.rows(sql, **values)

    def one(self, sql: str, **values: Any) -> Row:
        """Run one statement that must give one row."""
        found = self.row(sql, **values)
        assert found is not None, "no row where one was expected"
        return found

    @abstractmethod
    def _execute(self, sql: str, values: Mapping[str, Any]) -> list[Row]: ...

    @abstractmethod
    def words_written(self) -> None:
        """When this transaction commits, there are words that the index does not have yet."""

    @abstractmethod
    def wake_workers(self) -> None:
        """When this transaction commits, tell those who wait for work that some is due."""


def own_first(owner: str, joined: Iterable[str]) -> tuple[str, ...]:
    """The owner who asks, then the others it is joined with: new rows are its own, so that parting undoes a join."""
    return (owner, *(each for each in joined if each != owner))


def check_scope(owner: str) -> None:
    """An owner's name is text that both databases can hold, and there is one: no name would mean nobody."""
    check_text(owner, "the owner's name")
    if not owner:
        raise BadInput("the owner's name is empty; name one, such as kate/telegram/42")


def check_values(values: Mapping[str, Any]) -> None:
    """What one database would store and the other refuse is refused by both: a NUL, a number over 64 bits."""
    for name, value in values.items():
        if isinstance(value, str):
            if "\0" in value:
                raise BadInput(f"{name} holds a NUL character at position {value.find(chr(0))}; take it out")
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BadInput(f"{name} is {value}, a number of more than 64 bits; give a smaller one")


def mine(owners: tuple[str, ...] | Everyone) -> str:
    """The owner's filter: the one place where it is written."""
    if isinstance(owners, Everyone):
        return "TRUE"
    if len(owners) == 1:
        return "owner = :owner_0"
    return f"owner IN ({', '.join(f':owner_{n}' for n in range(len(owners)))})"
