"""The signs by which a secret is known: its shape (`ghp_…`), or what stands before it (`password: …`).

Never by being random alone, because hashes and ids are random too. What stands before it proves little, so there the
value must also look like a secret: `token: 512` and `password=${DB_PASSWORD}` do not.

Texts may be large and hostile, so time must grow with length only. A pattern is tried only on a text that holds its
literal, and never scans a run twice: the run is bounded, or is consumed, or cannot hold another beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple


class Secret(NamedTuple):
    """Where a secret stands in a text, and of which kind it is."""

    start: int
    end: int
    kind: str


# --- Does a value look like a secret? -------------------------------------------------------------------------------

_MARKS = frozenset("!@#$%^&*?+=~|")

# Placeholders, references, addresses, dates, paths.
_HOLLOW = re.compile(
    r"(?<![a-z0-9])your|example|change.?me|placeholder|redacted|replace|insert|dummy|x{5}|\*{3}|\.{3}|…|://|\$\{|\{\{|%\(|^<|\s"
    r"|^![a-z]+$|^[{$%@:#][\w.]*[})%]?s?$|^[\w.+-]+@[\w-]+(?:\.[\w-]+){0,4}\.[a-z]{2,}$|^\d{4}-\d\d-\d\d"
    r"|^(?:~|\.{1,2}|[a-z]:)?(?:[/\\][\w.-]{1,24}){2,}$"
    r"|^(?:passw(?:or)?d|pass|pwd|pw|secret|string|required|none|null|true|false|x+|\*+|%s)$",
    re.IGNORECASE | re.ASCII,
)
_DIGIT = re.compile(r"\d", re.ASCII)
_HUMP = re.compile(r"[a-z][A-Z]")
_NAMESAKE = re.compile(r"passw|pwd|secret|token|key", re.IGNORECASE)
_CALL = re.compile(r"[&*!]?[A-Za-z_$][\w$.]*(?:\(|\[|::|->)", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*\??\.[A-Za-z_$]", re.ASCII)
_PIECE = r"(?:[A-Z]?[a-z]{2,15}(?:[A-Z][a-z]{1,15})*\d{0,2}|[A-Z]{1,16}\d{0,2}|[a-z]\d?|v?\d{1,4})"
_WORDS = re.compile(rf"{_PIECE}(?:[-_./:]{_PIECE})*", re.ASCII)
_JARGON = re.compile(
    r"(?<![a-z0-9])(?:base(?:32|64)|sha-?\d+|md5|utf-?\d+|aes-?\d+|argon2\w*|oauth2?|v\d+(?:\.\d+)*|ed25519|[rh]s256|2fa"
    r"|\d+(?:-[a-z]+|[a-z]{1,2}))(?![a-z0-9])",
    re.IGNORECASE | re.ASCII,
)


def _is_solid(value: str) -> bool:
    """Not a placeholder, nor a reference to a secret that is elsewhere."""
    return len(set(value)) >= 4 and not _HOLLOW.search(value)


def _is_random(value: str) -> bool:
    """Letters and digits, or capitals and small letters, mixed as chance does and people do not."""
    return bool(_DIGIT.search(value) or len(_HUMP.findall(value)) >= 3) and _is_solid(value)


def _is_random_address(value: str) -> bool:
    return _is_random(value.removeprefix("https://"))


def _is_token(value: str) -> bool:
    """What a program would accept, and no words joined together."""
    if len(value) < 16 or len(set(value)) < 8 or not value.isascii() or not _is_random(value):
        return False
    return not (_WORDS.fullmatch(value) or _JARGON.sub("", value).isalpha() or _is_namesake(value))


def _is_password(value: str) -> bool:
    """What a person would choose: at least two of letters, digits and marks, or many digits."""
    core = value.rstrip("!?.,")
    rest = _JARGON.sub("", core)
    kinds = any(c.isalpha() for c in core) + any(c.isdigit() for c in rest) + any(c in _MARKS for c in core)
    return len(value) >= 6 and _is_solid(value) and not _is_namesake(value) and (kinds >= 2 or core.isdecimal())


def _is_strong(value: str) -> bool:
    """All three of letters, digits and marks: enough where little speaks for a password."""
    core = value.rstrip("!?.,")
    return _is_password(value) and all(
        (any(c.isalpha() for c in core), any(c.isdigit() for c in core), not _MARKS.isdisjoint(core))
    )


def _is_word(value: str) -> bool:
    """Anything in one piece: enough where the place allows nothing but a password."""
    return len(value) >= 6 and value.isascii() and _is_solid(value) and not _is_namesake(value)


def _is_namesake(value: str) -> bool:
    """A short name with the word in it, such as `db_password_2`, means a secret and is none."""
    return len(value) < 24 and bool(_NAMESAKE.search(value)) and _MARKS.isdisjoint(value)


# --- Secrets known by their shape: kind, how they begin, how they go on ---------------------------------------------

_SHAPES = (
    ("Anthropic key", "sk-ant-", r"[\w-]{20,}"),
    ("OpenRouter key", "sk-or-", r"[\w-]{20,}"),
    ("OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{20,}"),
    ("OpenAI key", "sk-", r"[A-Za-z0-9]{20,}"),
    ("AWS key id", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}(?!\w)"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,}"),
    ("GitHub token", "github_pat_", r"\w{40,}"),
    ("GitLab token", "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glagent- gloas- glimt-", r"[\w.-]{19,}[\w-]"),
    ("Slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp- xapp-", r"[\w-]{20,}"),
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", r"[A-Za-z0-9+/=]{16,}"),
    ("Google API key", "AIza", r"[\w-]{35,}"),
    ("Google OAuth secret", "GOCSPX- ya29.", r"[\w.-]{20,}"),
    ("npm token", "npm_", r"[A-Za-z0-9]{36,}"),
    ("PyPI token", "pypi-AgE", r"[\w-]{50,}"),
    ("RubyGems key", "rubygems_", r"[0-9a-f]{40,}"),
    ("Docker Hub token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}"),
    ("Atlassian token", "ATATT3 ATCTT3 ATBB", r"[\w=-]{28,}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}"),
    ("Heroku key", "HRKU-", r"[\w-]{30,}"),
    ("Hugging Face token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    ("Groq key", "gsk_", r"[A-Za-z0-9]{40,}"),
    ("xAI key", "xai-", r"[A-Za-z0-9]{60,}"),
    ("Replicate token", "r8_", r"[A-Za-z0-9]{35,}"),
    ("model provider key", "pplx- nvapi- tvly- pcsk_ lsv2_pt_ lsv2_sk_ sk-lf- fw_", r"[\w-]{20,}"),
    ("Twilio key", "SK", r"[0-9a-f]{32}(?!\w)"),
    ("SendGrid key", "SG.", r"[\w-]{16,32}\.[\w-]{30,64}"),
    ("Mailgun key", "key-", r"[0-9a-f]{32}(?!\w)"),
    ("Square token", "sq0atp- sq0csp- sq0idp- EAAA", r"[\w-]{22,}"),
    ("PayPal token", "access_token$", r"\w{4,20}\$\w{8,32}\$\w{16,64}"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("Afterglow token", "ag_", r"[0-9a-hjkmnp-tv-z]{52}(?!\w)"),
    ("Notion token", "ntn_ secret_", r"[A-Za-z0-9]{40,}"),
    ("Linear key", "lin_api_", r"[A-Za-z0-9]{30,}"),
    ("Figma token", "figd_", r"[\w-]{30,}"),
    ("Postman key", "PMAK-", r"[0-9a-f-]{50,}"),
    ("Grafana token", "glsa_ glc_", r"[\w=+/]{30,}"),
    ("New Relic key", "NRAK-", r"[A-Z0-9]{27}"),
    ("Vault token", "hvs. hvb.", r"[\w-]{20,}"),
    ("Databricks token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?!\w)"),
    ("Tailscale key", "tskey-", r"[\w-]{20,}"),
    ("Supabase key", "sbp_ sb_secret_", r"[\w-]{20,}"),
    ("Sentry token", "sntrys_ sntryu_", r"[\w=+/]{30,}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct.", r"[\w.]{30,}"),
    ("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.-]{30,}"),
    ("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}"),
)

# Those that do not begin with a literal, or have a secret part (the group): kind, a literal inside, the pattern.
_PATTERNS: tuple[tuple[str, str, str, Callable[[str], bool]], ...] = (
    (
        "private key",
        "PRIVATE KEY",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?=[^-]{0,300}[A-Za-z0-9+/]{30})"
        r"(?:(?:[^-]|-(?!----)){0,30000}+-----END [A-Z0-9 ]{1,60}-----|(?:(?:\s|\\[nr]){1,4}[A-Za-z0-9+/=]{20,}){1,600})",
        bool,
    ),
    ("private key", "Private-Lines:", r"Private-Lines: ?\d+((?:\r?\n[A-Za-z0-9+/=]{20,}){1,600})", bool),
    ("Slack webhook", "hooks.slack.com", r"https://hooks\.slack\.com/\w{5,12}/[\w/-]{20,}", _is_random_address),
    ("Discord webhook", "/webhooks/", r"https://discord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}", _is_random_address),
    ("JWT", "eyJ", r"eyJ(?<![\w-]eyJ)[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{10,}", _is_random),
    ("Telegram bot token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])", _is_random),
    ("Discord bot token", ".", r"[MNO](?<![\w.-][MNO])[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w.-])", _is_random),
    ("AWS secret key", "AKIA", r"AKIA[A-Z2-7]{16}[^A-Za-z0-9+/]{1,5}([A-Za-z0-9+/]{40})(?![\w+/=])", _is_random),
    ("Azure client secret", "Q~", r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w~-])", _is_random),
    ("Mailchimp key", "-us", r"(?<![0-9a-zA-Z])[0-9a-f]{32}-us\d{1,2}(?!\w)", _is_random),
    ("signature in URL", "sig=", r"sig=(?<=[?&;]sig=)([\w%+/=-]{40,})", _is_random),
    ("password", ":5432:", r":5432:[\w*-]{1,64}:[\w*.@-]{1,64}:(\S{4,200})", _is_word),
    ("password in URL", "://", r"""://[^\s/:@"'<>\\]{0,100}:([^\s/"'<>\\]{1,300})@""", lambda v: not _HOLLOW.search(v)),
)

# --- Secrets known by what stands before them. The patterns read the text in lower case. ----------------------------

_SAYINGS: tuple[tuple[str, str, str, Callable[[str], bool]], ...] = (
    (
        "authorization header",
        "authorization",
        r"""authorization["'\]\\]{0,4}\s{0,2}[:=,]\s{0,3}["'\\]{0,2}(?:(?:bearer|basic|token|bot|apikey)\s{1,2})?"""
        r"""([^\s"'`<>,;\\]{8,})""",
        _is_random,
    ),
    ("bearer token", "bearer", r"""bearer\s{1,2}["'`]?([\w.~+/=-]{16,})""", _is_token),
    ("TOTP seed", "totp(", r"""totp\(["']([a-z2-7]{16,})""", _is_solid),
    ("TOTP seed", "otpauth:", r"""otpauth://\w{4}/[^\s"'<>/]{0,300}?[?&]secret=([a-z2-7]{16,})""", _is_solid),
    ("password", " -u", r""" -u ?["']?[\w.@+-]{1,80}:([^\s"'`]{4,200})""", _is_password),
    ("TOTP seed", "key:", r"key: ((?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})(?!\w)", lambda v: any(c.isdigit() for c in v)),
    ("password", "wifi:", r"wifi:(?:[tsh]:[^;\n]{0,64};){0,3}p:([^;\n]{4,64})", bool),
    ("password", "-securestring", r"""-securestring (?:-string )?["']([^"'\n]{4,200})""", _is_word),
    ("password", " -p", r"""mysql(?:dump|admin)?\s(?:[^\n|;]{0,60}?\s)?-p["']?([^\s"'`]{4,200})""", _is_password),
    ("password", "login:", r"login: [\w.@+-]{2,60} ?[/,|] ?([^\s/]{6,200})", _is_strong),
    ("password", "sshpass", r"""sshpass -p ?["']?([^\s"'`]{4,200})""", _is_password),
)
_COOKIES = (
    ("cookie", r"""cookies?["'\]\\]{0,4}\s{0,2}[:=(,]\s{0,3}([^\n]{16,4000})"""),
    (" -b ", r""" -b (["'][^\n]{16,4000})"""),
)
_COOKIE = re.compile(r"""[\w.-]["'\\]{0,2}\s?[=:]\s?["'\\]{0,2}([^\s;,"'\\&{}]{16,})""", re.ASCII)

# The word must end the name: a `token_type` is no token.
_QUALIFIERS = (
    "api access private client account auth signing encryption master shared deploy admin subscription app service"
)
_NAMES = (
    ("password", "passw", r"passw(?:or[dt]|d)"),
    ("password", "pass", r"pass(?<![a-z]pass)(?:phrase|code)?(?![a-z])"),
    ("password", "pw", r"(?:pwd|pw(?<![a-z]pw)(?![a-z]))"),
    ("password", "kennwort", r"kennwort"),
    ("password", "has", r"has[łl]o(?![a-ząćęłńóśźż])"),
    ("password", "contraseña", r"contraseña"),
    ("password", "mot de passe", r"mot\ de\ passe"),
    ("password", "senha", r"senha(?![a-z])"),
    ("password", "пароль", r"пароль"),
    ("password", "密", r"密[码碼]"),
    ("password", "パスワード", r"パスワード"),
    ("token", "auth", r"auth(?<![a-z]auth)"),
    ("secret", "secret", r"secret(?:[-_. ]?(?:access[-_. ]?)?key)?(?:_base)?"),
    ("token", "token", r"token(?<!page[-_ ]token)(?<!pagetoken)(?<!next[-_ ]token)(?<!nexttoken)"),
    ("key", "key", "key(?:" + "|".join(rf"(?<={q}key)|(?<={q}[-_. ]key)" for q in _QUALIFIERS.split()) + ")"),
)
_AFTER_NAME = r"""
    (?:[-_]?(?:\d{1,2}|prod|live|test|dev|staging|base64|b64|value|data))?
    (?:
        (?P<quote>\\?["'`\]]{0,3}) [ \t]{0,3}
        (?: (?:: \s? [a-z][\w\[\]. |]{0,30}?)? (?P<equals>=>|:=|={1,3}) [ \t]{0,4}
          | [:\uff1a] \s{0,4}
          | ,? \s{1,12} ["']? value ["']? \s? [:=] \s{0,2} )           # name: DB_PASSWORD, value: …
      | ["'] , \s{0,2} (?=["'])                                        # header("X-Api-Key", "…")
      | > | [ ]? \( (?=["']|[^\s()]{12})                               # <password>…, setPassword("…"), the token (…)
      | (?P<says>
            (?:\s(?:for|of|to|from|on|in|at|do|dla|für|zum|zur|vom|de|del|du|para|pour|от|к)\s[^\n.:;=?!,<>(){}\[\]"'`]{1,40}?)?
            (?: \s? [:\uff1a] \s{1,4}
              | \s (?:is|was|are|has[ ]been|to|ist|lautet|est|es|é|это)
                (?:\s(?:now|still|just|set[ ]to|changed[ ]to|reset[ ]to))? :? \s{1,2}
              | \s? [是为は—–] \s? ) )
      | (?P<space>[ \t]{1,2})
    )
    (?= \\["'](?P<escaped>[^"'\\\n]{4,200}) | "(?P<double>(?:[^"\\\n]|\\.){4,200}) | '(?P<single>(?:[^'\\\n]|\\.){4,200})
      | `(?P<tick>[^`\n]{4,200}) | (?P<bare>[^\s"'`<>\u2e80-\uffef]{4,200}) )
"""
_FLAG = re.compile(r"(?:^|\s)--?[a-z0-9-]*$", re.ASCII)
_TIGHT_END = re.compile(r"[,;&(){}\[\]\\|]")
_RUN = re.compile(r"""[^\s"'`<>\u2e80-\uffef]*""")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rule:
    """A text that holds `literal` may hold secrets of this kind where `pattern` is found and the judge agrees."""

    kind: str
    literal: str
    expression: str
    judge: Callable[[str], bool] = bool

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled at the first text that needs it: all of them together take longer than everything else at start."""
        return _compiled(self.expression)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.ASCII)


def _rule(kind: str, literal: str, expression: str, judge: Callable[[str], bool] = bool) -> _Rule:
    return _Rule(kind=kind, literal=literal, expression=expression, judge=judge)


def _beginning(literal: str) -> str:
    """The literal with no letter or digit before it: said in this order, because a leading literal is found fast."""
    return f"{re.escape(literal)}(?<![A-Za-z0-9]{re.escape(literal)})"


_SHAPE_RULES = tuple(
    _rule(kind, begin, _beginning(begin) + rest, _is_random)
    for kind, begins, rest in _SHAPES
    for begin in begins.split()
)
_PATTERN_RULES = tuple(_rule(*row) for row in _PATTERNS)
_SAYING_RULES = tuple(_rule(*row) for row in _SAYINGS)
_COOKIE_RULES = tuple(_rule("cookie", *row) for row in _COOKIES)
_NAME_RULES = tuple(_rule(kind, literal, f"(?x:(?P<name>{name}){_AFTER_NAME})") for kind, literal, name in _NAMES)

ANNOUNCING = frozenset(rule.literal for rule in (*_SAYING_RULES, *_COOKIE_RULES, *_NAME_RULES))
_LONG = re.compile(r"[\w.$+/=-]{16,}", re.ASCII)


def find_secrets(text: str) -> list[Secret]:
    """The secrets in a text, in order. Where signs overlap, all that they cover is one secret, named by the strongest."""
    lowered = text.replace("İ", "i").lower()  # "İ" alone would grow, and positions must stay
    long = " ".join(_LONG.findall(text))  # little of most texts, and each literal is looked for in it
    signs = (
        _judged((rule for rule in _SHAPE_RULES if rule.literal in long), text, text),
        _judged(_PATTERN_RULES, text, text),
        _judged(_SAYING_RULES, lowered, text),
        _cookies(lowered, text),
        _named(lowered, text),
    )
    found = sorted((start, rank, end, kind) for rank, sign in enumerate(signs) for start, end, kind in sign)
    kept: list[tuple[int, int, int, str]] = []
    for start, rank, end, kind in found:
        if kept and start < kept[-1][2]:
            start, last_rank, last_end, last_kind = kept.pop()
            (rank, kind), end = min((rank, kind), (last_rank, last_kind)), max(end, last_end)
        kept.append((start, rank, end, kind))
    return [Secret(start, end, kind) for start, _, end, kind in kept]


def _judged(rules: Iterable[_Rule], read: str, text: str) -> Iterator[Secret]:
    for rule in rules:
        if rule.literal in read:
            for match in rule.pattern.finditer(read):
                start, end = match.span(match.lastindex or 0)
                if rule.judge(text[start : min(end, start + 400)]):
                    yield Secret(start, end, rule.kind)


def _cookies(lowered: str, text: str) -> Iterator[Secret]:
    for start, end, kind in _judged(_COOKIE_RULES, lowered, text):
        for pair in _COOKIE.finditer(text, start, end):
            if _is_token(pair[1]):
                yield Secret(*pair.span(1), kind)


def _named(lowered: str, text: str) -> Iterator[Secret]:
    for rule in _NAME_RULES:
        done = 0
        for match in rule.pattern.finditer(lowered) if rule.literal in lowered else ():
            if match.start() >= done and (span := _value(rule.kind, match, lowered, text)):
                done = span[1]
                yield Secret(*span, rule.kind)


def _value(kind: str, match: re.Match[str], lowered: str, text: str) -> tuple[int, int] | None:
    """Where the secret is that a name announces, if what stands there looks like one."""
    assert match.lastgroup is not None
    start, end = match.span(match.lastgroup)
    value = text[start:end]
    if kind != "password" and not _DIGIT.search(value) and value == lowered[start:end]:
        return None  # small letters only: most of what follows a `token` in prose, told cheaply
    bare, said, quoted_name = match.lastgroup == "bare", match["says"] is not None, bool(match["quote"])
    spaced = text[start - 1].isspace()
    constant = match["equals"] == "=" and not spaced and text[slice(*match.span("name"))].isupper()
    if bare and not said:
        if _CALL.match(value) or (kind == "password" and not constant and _DOTTED.match(value)):
            return None
        if not (spaced or constant):  # f(token=abc,x=1) and ?token=abc&x=1
            value = _TIGHT_END.split(value, maxsplit=1)[0]
    if bare:
        value = value.rstrip(".,;:?)]}")
    if match["space"] and not _FLAG.search(lowered[max(0, match.start() - 40) : match.start()]):
        strong = _is_strong(value) if kind == "password" else len(value) >= 20 and _is_token(value)
        agreed = strong and bare and kind != "secret"
    elif kind == "password":
        agreed = _is_password(value) or ((constant or (quoted_name and not bare)) and _is_word(value))
    else:
        agreed = _is_token(value)
    if not agreed:
        return None
    end = start + len(value)
    rest = _RUN.match(text, end) if len(value) >= 200 else None  # the patterns look no further than that
    return start, rest.end() if rest else end
