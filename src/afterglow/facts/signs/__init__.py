"""The signs by which the gate knows an order, a wish, a claim of authority, a link, an address, money, and pasted text.

Each is a list in a file of its own, one expression a line, matched on lower-case text as a reader sees it: the lists lose
their accents as the texts do. They are meant to find too much rather than too little: what they find in others' words
waits or is dropped, and the owner can still say it.
"""

from __future__ import annotations

import re
from importlib.resources import files

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.seen import bare


def _listed(name: str) -> list[str]:
    lines = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("# ")]


def _words(name: str) -> re.Pattern[str]:
    """One of these as whole words; of scripts that put no space between words, anywhere."""
    listed = _listed(name)
    spaced = [each for each in listed if not _is_unspaced(each)]
    unspaced = [each for each in listed if _is_unspaced(each)]
    return spoken("|".join([rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)", *unspaced]))


def _forms(name: str) -> re.Pattern[str]:
    return spoken("|".join(_listed(name)))


def spoken(expression: str) -> re.Pattern[str]:
    """The expression for texts as they are seen: its letters lose their accents as theirs do. Its signs are ASCII, and stay."""
    return lazily_compiled(_folded(expression))


def _folded(expression: str) -> str:
    return re.sub(r"[^\x00-\x7f]+", lambda letters: bare(letters[0]), expression)


def _is_unspaced(expression: str) -> bool:
    return any("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" for char in expression)


ORDER = _words("order")
"""An order, or what is to hold for all time to come."""
WISH = _words("wish")
"""What the owner wants, likes, or has agreed to."""
AUTHORITY = _words("authority")
"""Who somebody is to the owner, and what they may do."""
ABOUT_THE_OWNER = _words("owner")
LINK = _forms("link")
ADDRESS = _forms("address")
"""Of mail, post, a telephone, a bank account, a wallet."""
MONEY = _forms("money")
SECRET = _words("secret")
"""What opens doors, machines and accounts: codes, keys, passwords."""
ENCODED = _forms("encoded")
"""Text that only a machine reads: base64, hex, escapes, letters written as digits."""

WANTING = _words("wanting")
"""Anybody's wish."""
KEEP = _words("keep")
"""A call to remember something. Beside a link it is what a prepared prompt says, and nobody types."""
COMMAND = lazily_compiled(
    r"(?:^|[.;:!?…]\s|[–—\n(\"“„«]|\bthen\b)[^\w\n]*" + f"(?:{_folded('|'.join(_listed('command')))})" + r"(?!\w)"
)
"""A verb that a sentence begins with when it tells somebody what to do."""
_CODES = f"(?:{'|'.join(_listed('currencies'))})"
CURRENCY = lazily_compiled(rf"\d\s?{_CODES}(?!\w)|(?<!\w){_CODES}\s?\d")
"""An amount with the code of a currency, in capitals as it is written."""
PREPARED = lazily_compiled(
    r"^\W*(?:please )?(?:summari[sz]e|analy[sz]e|read|explain|review|translate|open|visit|fasse|lies|resume|stresc)\b"
)
"""How prompts begin that a link has brought along."""
OTHERS = lazily_compiled(r"^\W*(?:they|their|he|his|she|her|it|its|somebody|someone|people)\b")
OF_THE_USER = lazily_compiled(
    r"\b(?:the|this|your) (?:user|owner|assistant|human)\b|\b(?:user|owner) (?:preference|profile|setting)|assistants?:"
)
"""Who types speaks of "me"; "the user" is somebody else's word."""
OF_ONESELF = lazily_compiled(
    r"(?:\b(?:i am|i'm|im|i’m|my name is|my name's|call me|ich bin|ich heisse|soy|me llamo|je suis|je m'appelle|jestem)"
    r"|nazywam sie|меня зовут|我叫|我是|私は)\W*(?:\w+\W+){0,2}?(?P<name>\w+)"
)
