"""PostgreSQL's tables and roles: made at the first start, brought up to date at every later one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import psycopg
from psycopg import errors as pg
from psycopg import sql as compose
from psycopg.rows import DictRow

from afterglow import failpoints
from afterglow.clock import Clock, to_us
from afterglow.errors import StoreUnusable
from afterglow.store import migrations
from afterglow.store.transaction import POSTGRES

Connection = psycopg.Connection[DictRow]

_MIGRATION_LOCK = 0x61667467
_ROLES = ("afterglow_owner", "afterglow_worker")


def migrate(connection: Connection, where: str, clock: Clock) -> None:
    """Take the steps that are still to take, all in one transaction; a database from the future is refused."""
    steps = migrations.load(POSTGRES)
    if not migrations.pending(steps, _version(connection), where):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        _make_roles(connection, where)
        connection.execute(migrations.VERSIONS_TABLE)
        for step in migrations.pending(steps, _version(connection), where):
            connection.execute(cast(Any, step.sql))
            connection.execute(
                "INSERT INTO schema_versions VALUES (%s, %s, %s)", (step.version, step.name, to_us(clock.now()))
            )
            failpoints.reach(f"migrate {step.name}:before")
    failpoints.reach("migrate:after")


def _make_roles(connection: Connection, where: str) -> None:
    """The two roles, which the connecting user must be able to take on."""
    name = _one(connection, "SELECT current_schema() AS it")
    if name is None:
        raise StoreUnusable(
            f"the database at {where} has no schema to put tables in: none that `search_path` names exists; "
            "let an administrator create it, or name another"
        )
    schema = compose.Identifier(name)
    for role in map(compose.Identifier, _ROLES):
        try:
            with connection.transaction():
                _make_role(connection, role)
        except pg.InsufficientPrivilege as error:
            raise StoreUnusable(
                f"the user of {where} may not set up the roles Afterglow works in; let an administrator run: "
                f"{_setup_of_roles(connection)} Then start again"
            ) from error
        connection.execute(compose.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, role))
    # The functions that run as the worker are handed to it, and their new owner must be able to have made them.
    connection.execute(compose.SQL("GRANT CREATE ON SCHEMA {} TO afterglow_worker").format(schema))


def _make_role(connection: Connection, role: compose.Identifier) -> None:
    if role in _missing_roles(connection):
        with suppress(pg.DuplicateObject, pg.UniqueViolation), connection.transaction():
            connection.execute(compose.SQL("CREATE ROLE {} NOLOGIN").format(role))
    if not _may_take_on(connection, role):
        connection.execute(compose.SQL("GRANT {} TO CURRENT_USER").format(role))


def _missing_roles(connection: Connection) -> list[compose.Identifier]:
    rows = connection.execute("SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)", (list(_ROLES),)).fetchall()
    return [compose.Identifier(name) for name in _ROLES if name not in {row["rolname"] for row in rows}]


def _setup_of_roles(connection: Connection) -> str:
    """What an administrator must run for this user."""
    user = compose.Identifier(_one(connection, "SELECT current_user AS it"))
    made = [compose.SQL("CREATE ROLE {} NOLOGIN;").format(role) for role in _missing_roles(connection)]
    granted = compose.SQL("GRANT afterglow_owner, afterglow_worker TO {};").format(user)
    return compose.SQL(" ").join([*made, granted]).as_string(connection)


def _version(connection: Connection) -> int:
    if not _one(connection, "SELECT to_regclass('schema_versions') IS NOT NULL AS it"):
        return 0
    return _one(connection, "SELECT coalesce(max(version), 0) AS it FROM schema_versions")


def _may_take_on(connection: Connection, role: compose.Identifier) -> bool:
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(compose.SQL("SET LOCAL ROLE {}").format(role))
    except pg.InsufficientPrivilege:
        return False
    return True


def _one(connection: Connection, sql: str, *values: object) -> Any:
    row = connection.execute(cast(Any, sql), values or None).fetchone()
    assert row is not None
    return row["it"]
