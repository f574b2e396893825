"""What a reader sees of a part: its text without the signs and the hidden characters of its channel."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

from telegram import Chat, Message, MessageEntity

from afterglow.channels import Channel, Part, render
from tests.kit.records import NOON

ALIKE = str.maketrans({"∗": "*", "ˍ": "_", "∼": "~", "ˋ": "`", "\u2060": ""})
FENCE = re.compile(r"[> ]*(`{3,})[\w+#.-]*")


def golden(parts: list[Part]) -> str:
    """Parts as a file: hidden characters are shown, entities stand below the text."""
    pages: list[str] = []
    for part in parts:
        found = message(part).parse_entities()
        marks = [f"{one.type}{f'({one.language})' if one.language else ''}: {text!r}" for one, text in found.items()]
        pages.append("\n".join((part.text.replace("\u2060", "⟂"), *(["--- entities", *marks] if marks else []))))
    return "\n=== part\n".join(pages) + "\n"


def message(part: Part) -> Message:
    """The part as python-telegram-bot has it, which counts in UTF-16 units by itself."""
    entities = [
        MessageEntity(type=one.type, offset=one.offset, length=one.length, url=one.url, language=one.language)
        for one in part.entities
    ]
    return Message(message_id=1, date=NOON, chat=Chat(id=1, type="private"), text=part.text, entities=entities)


def letters(parts: list[Part], channel: Channel) -> str:
    """The letters and digits that are seen, in order: no signs, no spaces, no languages of code."""
    text = "\n".join(part.text for part in parts).translate(ALIKE)
    if channel not in ("plain", "html", "telegram"):
        text = _without_fences(text)
    if channel == "html":
        text = re.sub(r"<[^>]*>", "", text)
    if channel in ("html", "slack"):
        text = html.unescape(text)
    return "".join(char for char in unquote(text).translate(ALIKE) if char.isalnum())


def _without_fences(text: str) -> str:
    """Without the lines that begin and end code; what looks like one within it is part of it."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = FENCE.fullmatch(line)
        if found and not fence:
            fence = found[1]
        elif found and line.lstrip("> ") == fence:
            fence = ""
        else:
            kept.append(line)
    return "\n".join(kept)


def seen(markdown: str) -> str:
    """The same of plain text."""
    return letters(render(markdown, "plain"), "plain")


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
