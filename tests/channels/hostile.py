"""Texts that call people, lure them or pass for markup, and what each channel takes for a call."""

from __future__ import annotations

import re

from afterglow.channels import Channel, Part

CALLS = [
    "@everyone",
    "@here",
    "@channel",
    "<@U123>",
    "<@!123>",
    "<@&123>",
    "<!channel>",
    "<!here>",
    "<!everyone>",
    "<!subteam^S1>",
    "<#C123>",
    "<#123|general>",
    "@name",
    "(@name)",
    "x@everyone",
    "x@here.com",
    "#channel",
    "\\@everyone",
    "@**everyone**",
    "@_name_",
    "**@**name",
    "&#64;everyone",
    "&commat;here",
    "&lt;!channel&gt;",
    "\\<!channel>",
    "`<!channel>`",
    "```\n<!channel> @everyone\n```",
    "| a |\n|---|\n| <!here> @here |",
    "> @everyone",
    "- <@U1>",
    "# @everyone",
    "[@name](https://a.b)",
    "[x](https://a.b/@everyone)",
    "[x](mailto:@name)",
    "[x](mailto:a@everyone.b)",
    "https://a.b/@here",
    "![@here](https://a.b)",
    "@\u200beveryone",
    "@\u202eeveryone",
    "<@\u2060U123>",
    "<\u200b!channel>",
    "＠everyone",
    "@@everyone",
    "a" * 2995 + "@everyone",
    "b " * 2040 + "@name",
    "c" * 4090 + "@admin.example",
    "/start",
    "do /delete@bot now",
    "<!date^1392734382^{date}|x>",
]
LURES = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](data:text/html;base64,AAAA)",
    "[x](vbscript:a)",
    "[x](file:///etc/passwd)",
    "[x](tg://user?id=1)",
    "tg://resolve?domain=a",
    "[x](slack://open)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "[https://good.example](https://bad.example)",
    "https://good.example@bad.example/",
    "[x](https://good.example@bad.example)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "[x](https://аpple.example)",
    "<a href=https://bad.example>good</a>",
    "<https://bad.example|good>",
    "[x](//bad.example)",
    '[x](https://a.b" onclick="alert(1))',
    "[x](https://a.b 'onmouseover=alert(1)')",
    "[](https://bad.example)",
]
MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</p></body><h1>x",
    "<!-- x -->",
    "<![CDATA[x]]>",
    "&lt;script&gt;",
    "\\*x\\*",
    "\\_x\\_",
    "\\`x\\`",
    "\\~x\\~",
    "&#42;x&#42;",
    "a&#10;# b",
    "a&#10;> b",
    "``` ` ```",
    "`` ` ``",
    "~~~\n```\n~~~",
    "\\# x",
    "1\\. x",
    "\\- x",
    "\\> x",
    "\\|\\|x\\|\\|",
    "x\u202eevil\u202c",
    "x\u2066y\u2069",
    "x&#x202e;y",
    "x&#8203;y",
    "\0x\x1b[31my",
    "a\u2028# b",
    "\ud800",
    "x\udfffy",
    "\U000e0041\U000e0042",
    "a\u0300" * 3000,
    "👩‍👩‍👧" * 900,
    "🇵🇱" * 1500,
    "\r\n\r\n> x\r",
]
HOSTILE = [*CALLS, *LURES, *MARKUP]
# What each channel takes for a call, wherever it stands.
CALLING: dict[Channel, re.Pattern[str]] = {
    "slack": re.compile(r"@(?:channel|here|everyone)"),
    "discord": re.compile(r"@(?:everyone|here)|<[@#][!&]?\w", re.IGNORECASE),
    "whatsapp": re.compile(r"(?<!\w)@\w"),
    "telegram": re.compile(r"(?<!\w)@\w|(?<!\w)#[^\W\d]|(?<![\w/:.<>])/[a-z]+(?![\w/<>])|tg://"),
}


def uncoded(part: Part) -> str:
    """A Telegram part without its code, in which Telegram looks for nothing."""
    raw = part.text.encode("utf-16-le")
    for one in part.entities:
        if one.type in ("code", "pre"):
            begin, end = 2 * one.offset, 2 * (one.offset + one.length)
            raw = raw[:begin] + "·".encode("utf-16-le") * one.length + raw[end:]
    return raw.decode("utf-16-le")


def calls_in(part: Part, channel: Channel) -> list[str]:
    text = uncoded(part) if channel == "telegram" else part.text
    found = re.findall("<[!@#]", text) if channel == "slack" else []  # Slack obeys these in code too
    if channel in ("slack", "whatsapp"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    return [*found, *CALLING[channel].findall(text)]
