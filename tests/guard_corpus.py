"""Made-up secrets and the things most easily taken for them, to measure what the guard finds.

Every secret is built from a seed and from parts, in the shape of the real thing; none ever opened anything. The
first set was written before the rules and the second after them; what the rules did on each is in docs/guard.md.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from uuid import UUID

CONTEXTS = ("prose", "env", "json", "shell", "code")

DIGITS = string.digits
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + DIGITS
UPPER = string.ascii_uppercase + DIGITS
LETTERS = string.ascii_letters
ALNUM = LETTERS + DIGITS
BASE32 = string.ascii_uppercase + "234567"
BASE64 = ALNUM + "+/"
URLSAFE = ALNUM + "-_"
CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """A text with one secret in it."""

    family: str
    context: str
    text: str
    secret: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """A kind of secret: how it is made, and how people write it down."""

    name: str
    make: Callable[[Random, int], str]
    carry: Callable[[str, Random, str], str]
    top: bool = False


def some(rng: Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def uuid(rng: Random) -> str:
    return str(UUID(int=rng.getrandbits(128), version=4))


def b64(rng: Random, length: int) -> str:
    return base64.b64encode(rng.randbytes(length)).decode()


def b64url(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def jwt(rng: Random, algorithm: str = "HS256", signature: int = 43) -> str:
    claims = {"sub": some(rng, DIGITS, 10), "name": "Ada", "iat": rng.randrange(1_700_000_000, 1_790_000_000)}
    return ".".join((b64url({"alg": algorithm, "typ": "JWT"}), b64url(claims), some(rng, URLSAFE, signature)))


def pem(rng: Random, label: str, lines: int, header: str = "") -> str:
    body = "\n".join(some(rng, BASE64, 64) for _ in range(lines)) + "\n" + some(rng, BASE64, 38) + "=="
    return "\n".join(("-----" + "BEGIN " + label + "-----", header + body, "-----" + "END " + label + "-----"))


def password(rng: Random) -> str:
    word = some(rng, string.ascii_lowercase, rng.randrange(4, 8))
    return word.capitalize() + some(rng, DIGITS, rng.randrange(1, 4)) + some(rng, "!#%*?", 1) + some(rng, LETTERS, 2)


def named(service: str, what: str, name: str) -> Callable[[str, Random, str], str]:
    """How people write down a token that has a name: `GITHUB_TOKEN` and the like."""
    snake = name.lower()
    first, *rest = snake.split("_")
    camel = first + "".join(word.capitalize() for word in rest)

    def carry(context: str, rng: Random, secret: str) -> str:
        return rng.choice(
            {
                "prose": [
                    f"Here is the {service} {what} for the staging box: {secret} - please do not share it.",
                    f"The {service} {what} is {secret}, it expires in May.",
                    f"I pasted the {service} {what} ({secret}) in the wiki by mistake, can you rotate it?",
                    f"use this {service} {what} from now on:\n\n{secret}\n\nthanks!",
                ],
                "env": [
                    f"LOG_LEVEL=info\n{name}={secret}\nPORT=8080\n",
                    f"export {name}='{secret}'",
                    f'# {service}\n{name}="{secret}"\nREGION=eu-central-1\n',
                ],
                "json": [
                    json.dumps({"service": service, snake: secret, "enabled": True}),
                    json.dumps({"env": {"PORT": 80, name: secret}}, indent=2),
                    json.dumps({camel: secret, "retries": 3}, separators=(",", ":")),
                ],
                "shell": [
                    f"curl -sS https://api.example.com/v1/me -H 'X-Auth-Token: {secret}' | jq .",
                    f"deploy login --token {secret} --quiet",
                    f"{name}={secret} ./deploy.sh --prod",
                ],
                "code": [
                    f'{snake} = "{secret}"  # TODO: move to the vault',
                    f'client = Client(base_url=URL, {snake}="{secret}", timeout=30)',
                    f"const {camel} = '{secret}';",
                ],
            }[context]
        )

    return carry


def written(**texts: str) -> Callable[[str, Random, str], str]:
    """The five contexts spelled out, with `¤` where the secret goes."""

    def carry(context: str, rng: Random, secret: str) -> str:
        return texts[context].replace("¤", json.dumps(secret)[1:-1] if context == "json" else secret)

    return carry


def _aws(rng: Random, n: int) -> str:
    return rng.choice(("AKIA", "ASIA")) + some(rng, BASE32, 16) if n % 2 else some(rng, BASE64, 40)


def _slack(rng: Random, n: int) -> str:
    team, bot = some(rng, DIGITS, 12), some(rng, DIGITS, 13)
    hook = "https://hooks.slack.com/services/T" + some(rng, UPPER, 10) + "/B" + some(rng, UPPER, 10)
    return (
        f"xoxb-{team}-{bot}-{some(rng, ALNUM, 24)}",
        f"xoxp-{team}-{bot}-{some(rng, DIGITS, 13)}-{some(rng, HEX, 32)}",
        f"xapp-1-A{some(rng, UPPER, 10)}-{bot}-{some(rng, HEX, 64)}",
        hook + "/" + some(rng, ALNUM, 24),
        f"xoxe.xoxp-1-{some(rng, ALNUM, 163)}",
    )[n]


def _discord(rng: Random, n: int) -> str:
    if n == 3:
        return "https://discord.com/api/webhooks/" + some(rng, DIGITS, 19) + "/" + some(rng, URLSAFE, 68)
    snowflake = base64.b64encode(("1" + some(rng, DIGITS, 18)).encode()).decode().rstrip("=")
    return f"{snowflake}.G{some(rng, URLSAFE, 5)}.{some(rng, URLSAFE, 38)}"


def _key_block(rng: Random, n: int) -> str:
    label = ("OPENSSH PRIVATE KEY", "RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "PGP PRIVATE KEY BLOCK")[n]
    return pem(rng, label, 6 + n, "Version: GnuPG v2\n\n" if n == 4 else "")


def _stripe(rng: Random, n: int) -> str:
    prefix = ("sk_live_", "rk_live_", "whsec_", "sk_live_51", "sk_test_51")[n]
    return prefix + some(rng, ALNUM, 32 if n < 3 else 97)


def _openai(rng: Random, n: int) -> str:
    mark = "T3Blbk" + "FJ"
    prefix, half = (("sk-", 20), ("sk-proj-", 74), ("sk-svcacct-", 74), ("sk-proj-", 58), ("sk-admin-", 58))[n]
    alphabet = ALNUM if n == 0 else URLSAFE
    return prefix + some(rng, alphabet, half) + mark + some(rng, alphabet, half)


def _basic(rng: Random) -> str:
    return base64.b64encode(f"{some(rng, LOWER, 7)}:{password(rng)}".encode()).decode()


FAMILIES = (
    Family(name="OpenAI", top=True, make=_openai, carry=named("OpenAI", "API key", "OPENAI_API_KEY")),
    Family(
        name="Anthropic",
        top=True,
        make=lambda r, n: ("sk-ant-" + ("admin01-" if n == 3 else "api03-")) + some(r, URLSAFE, 93) + "AA",
        carry=named("Claude", "key", "ANTHROPIC_API_KEY"),
    ),
    Family(
        name="AWS",
        top=True,
        make=_aws,
        carry=lambda c, r, s: (
            named("AWS", "secret access key", "AWS_SECRET_ACCESS_KEY")(c, r, s)
            if len(s) == 40
            else named("AWS", "access key id", "AWS_ACCESS_KEY_ID")(c, r, s)
        ),
    ),
    Family(
        name="GitHub",
        top=True,
        make=lambda r, n: (
            "github_pat_" + some(r, ALNUM, 22) + "_" + some(r, ALNUM, 59)
            if n == 4
            else ("ghp_", "gho_", "ghs_", "ghu_")[n] + some(r, ALNUM, 36)
        ),
        carry=named("GitHub", "token", "GH_TOKEN"),
    ),
    Family(
        name="GitLab",
        top=True,
        make=lambda r, n: ("glpat-", "gldt-", "glpat-", "glrt-", "glptt-")[n] + some(r, URLSAFE, 20 if n < 4 else 40),
        carry=named("GitLab", "personal access token", "GITLAB_PAT"),
    ),
    Family(name="Slack", top=True, make=_slack, carry=named("Slack", "thing", "SLACK")),
    Family(
        name="Telegram",
        top=True,
        make=lambda r, n: some(r, "123456789", 9 + n % 2) + ":AA" + some(r, URLSAFE, 33),
        carry=named("Telegram", "bot", "TELEGRAM_BOT"),
    ),
    Family(name="Discord", top=True, make=_discord, carry=named("Discord", "bot", "DISCORD")),
    Family(name="Stripe", top=True, make=_stripe, carry=named("Stripe", "thing", "STRIPE")),
    Family(
        name="Google API key",
        top=True,
        make=lambda r, n: "AI" + "za" + some(r, URLSAFE, 35),
        carry=named("Gemini", "key", "GOOGLE_MAPS"),
    ),
    Family(
        name="JWT",
        top=True,
        make=lambda r, n: jwt(r, "RS256" if n % 2 else "HS256", 342 if n % 2 else 43),
        carry=named("Supabase", "service role", "SUPABASE_ROLE"),
    ),
    Family(
        name="private key",
        top=True,
        make=_key_block,
        carry=written(
            prose="Here is my key, paste it into the box:\n\n¤\n\nand restart the daemon.",
            env='HOST=a.example.com\nSSH_KEY="¤"\nPORT=22\n',
            json='{"type": "service_account", "private_key": "¤\\n", "client_email": "a@b.example"}',
            shell="cat > ~/.ssh/id_ed25519 <<'EOF'\n¤\nEOF\nchmod 600 ~/.ssh/id_ed25519",
            code='KEY = """¤"""\nsigner = Signer(KEY)',
        ),
    ),
    Family(
        name="database URL",
        top=True,
        make=lambda r, n: (password(r).replace("#", "!").replace("?", "!"), some(r, LOWER, 14))[n % 2],
        carry=written(
            prose="the staging database is postgres://app:¤@db.example.com:5432/shop and it is slow",
            env="DATABASE_URL=mysql://root:¤@127.0.0.1:3306/shop?charset=utf8mb4\nDEBUG=0\n",
            json='{"uri": "mongodb+srv://svc:¤@cluster0.ab1cd.mongodb.net/?retryWrites=true"}',
            shell="redis-cli -u redis://:¤@cache.example.com:6379/0 ping",
            code='conn = pika.connect("amqp://guest1:¤@mq.example.com/%2F")',
        ),
    ),
    Family(
        name="bearer header",
        top=True,
        make=lambda r, n: (some(r, HEX, 40), some(r, URLSAFE, 43), uuid(r), some(r, ALNUM, 64), some(r, LOWER, 32))[n],
        carry=written(
            prose="it only works with the header Authorization: Bearer ¤ set by the proxy",
            env='AUTH_HEADER="Authorization: Bearer ¤"\n',
            json='{"headers": {"Accept": "*/*", "Authorization": "Bearer ¤"}}',
            shell='curl -H "authorization: bearer ¤" https://api.example.com/v1/orders',
            code='headers = {"Authorization": "Bearer ¤", "Accept": "application/json"}',
        ),
    ),
    Family(
        name="PyPI and npm",
        top=True,
        make=lambda r, n: (
            "npm_" + some(r, ALNUM, 36) if n % 2 else "pypi-" + "AgEIcHlwaS5vcmc" + "CJ" + some(r, URLSAFE, 150)
        ),
        carry=named("registry", "upload thing", "UPLOAD"),
    ),
    Family(
        name="GCP service account",
        make=lambda r, n: pem(r, "PRIVATE KEY", 24).replace("\n", "\\n"),
        carry=lambda c, r, s: (
            {
                "prose": "my service account file says ",
                "env": "GOOGLE_CREDENTIALS=",
                "json": "",
                "shell": "echo ",
                "code": "INFO = ",
            }[c]
            + ("'" if c in ("env", "shell") else "")
            + f'{{"type": "service_account", "private_key": "{s}\\n", "client_email": "x@y.iam.gserviceaccount.com"}}'
            + ("'" if c in ("env", "shell") else "")
        ),
    ),
    Family(
        name="Azure storage",
        make=lambda r, n: b64(r, 64),
        carry=written(
            prose="the connection string is DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=¤;"
            "EndpointSuffix=core.windows.net I think",
            env="AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=a1;AccountKey=¤\n",
            json='{"ConnectionStrings": {"Blob": "AccountName=shop;AccountKey=¤;EndpointSuffix=a.example"}}',
            shell='az storage blob list --account-name shop --account-key "¤"',
            code='var c = new StorageSharedKeyCredential("shop", accountKey: "¤");',
        ),
    ),
    Family(
        name="Azure client secret",
        make=lambda r, n: some(r, ALNUM, 3) + "8Q~" + some(r, ALNUM + "_.~", 33) + some(r, ALNUM, 1),
        carry=named("Entra", "client secret", "AZURE_CLIENT_SECRET"),
    ),
    Family(
        name="DigitalOcean",
        make=lambda r, n: "dop_v1_" + some(r, HEX, 64),
        carry=named("DigitalOcean", "thing", "DO_PAT"),
    ),
    Family(
        name="Heroku",
        make=lambda r, n: "HRKU-AA" + some(r, URLSAFE, 58) if n % 2 else uuid(r),
        carry=named("Heroku", "API key", "HEROKU_API_KEY"),
    ),
    Family(
        name="Cloudflare",
        make=lambda r, n: some(r, URLSAFE, 40) if n % 2 else some(r, HEX, 37),
        carry=named("Cloudflare", "API token", "CLOUDFLARE_API_TOKEN"),
    ),
    Family(
        name="Bitbucket",
        make=lambda r, n: "ATBB" + some(r, ALNUM, 32) if n % 2 else "ATCTT3" + some(r, URLSAFE, 180),
        carry=named("Bitbucket", "app password", "BITBUCKET_APP"),
    ),
    Family(
        name="RubyGems and Docker Hub",
        make=lambda r, n: "rubygems_" + some(r, HEX, 48) if n % 2 else "dckr_pat_" + some(r, URLSAFE, 27),
        carry=named("hub", "thing", "HUB_PUSH"),
    ),
    Family(
        name="Hugging Face",
        make=lambda r, n: "hf_" + some(r, LETTERS, 34),
        carry=named("Hugging Face", "thing", "HF"),
    ),
    Family(
        name="Groq and xAI",
        make=lambda r, n: "gsk_" + some(r, ALNUM, 52) if n % 2 else "xai-" + some(r, ALNUM, 80),
        carry=named("Groq", "thing", "INFERENCE"),
    ),
    Family(
        name="Replicate and OpenRouter",
        make=lambda r, n: "r8_" + some(r, ALNUM, 37) if n % 2 else "sk-or-v1-" + some(r, HEX, 64),
        carry=named("Replicate", "thing", "INFERENCE"),
    ),
    Family(
        name="Mistral",
        make=lambda r, n: some(r, ALNUM, 32),
        carry=named("Mistral", "API key", "MISTRAL_API_KEY"),
    ),
    Family(
        name="Twilio",
        make=lambda r, n: some(r, HEX, 32) if n % 2 else "SK" + some(r, HEX, 32),
        carry=named("Twilio", "auth token", "TWILIO_AUTH_TOKEN"),
    ),
    Family(
        name="SendGrid",
        make=lambda r, n: "SG." + some(r, URLSAFE, 22) + "." + some(r, URLSAFE, 43),
        carry=named("SendGrid", "thing", "MAIL"),
    ),
    Family(
        name="Mailgun and Mailchimp",
        make=lambda r, n: "key-" + some(r, HEX, 32) if n % 2 else some(r, HEX, 32) + "-us" + some(r, "123456789", 2),
        carry=named("mailing", "thing", "MAIL"),
    ),
    Family(
        name="Square",
        make=lambda r, n: (
            "sq0csp-" + some(r, URLSAFE, 43),
            "EAAA" + some(r, URLSAFE, 60),
            "sq0atp-" + some(r, URLSAFE, 22),
        )[n % 3],
        carry=named("Square", "thing", "SQUARE"),
    ),
    Family(
        name="PayPal",
        make=lambda r, n: (
            "access_token$production$" + some(r, LOWER, 16) + "$" + some(r, HEX, 32)
            if n % 2
            else "E" + some(r, URLSAFE, 79)
        ),
        carry=named("PayPal", "client secret", "PAYPAL_CLIENT_SECRET"),
    ),
    Family(
        name="Shopify",
        make=lambda r, n: ("shpat_", "shpca_", "shppa_", "shpss_", "shpat_")[n] + some(r, HEX, 32),
        carry=named("Shopify", "thing", "SHOP"),
    ),
    Family(
        name="basic-auth URL",
        make=lambda r, n: (password(r).replace("#", "!").replace("?", "!"), some(r, ALNUM, 20))[n % 2],
        carry=written(
            prose="you can see it at https://preview:¤@staging.example.com/shop until Friday",
            env="PIP_INDEX_URL=https://ci:¤@pypi.example.com/simple\n",
            json='{"proxy": "http://alice:¤@proxy.example.com:3128", "timeout": 5}',
            shell="git clone https://bob:¤@git.example.com/team/shop.git /srv/shop",
            code='fetch("https://kiosk:¤@cam.example.com/live.m3u8").then(show)',
        ),
    ),
    Family(
        name="basic header",
        make=lambda r, n: _basic(r),
        carry=written(
            prose="when I add Authorization: Basic ¤ to the request it works",
            env="UPSTREAM_HEADERS=Authorization: Basic ¤\n",
            json='{"headers": [["accept", "*/*"], ["authorization", "Basic ¤"]]}',
            shell="curl -X POST -H 'Authorization: Basic ¤' https://jira.example.com/rest/api/2/issue",
            code='req.setRequestHeader("Authorization", "Basic ¤");',
        ),
    ),
    Family(
        name="cookie",
        make=lambda r, n: (
            some(r, LOWER, 32),
            some(r, URLSAFE, 60),
            "s%3A" + some(r, ALNUM, 32) + "." + some(r, ALNUM, 43),
            some(r, HEX, 64),
            some(r, ALNUM, 40),
        )[n],
        carry=written(
            prose="the browser sends Cookie: theme=dark; session=¤; lang=pl on every call",
            env='CURL_HEADERS="Cookie: sessionid=¤"\n',
            json='{"headers": {"Cookie": "lang=en; connect.sid=¤"}}',
            shell="curl -b 'PHPSESSID=¤; lang=en' https://shop.example.com/cart",
            code='r = requests.get(url, cookies={"session": "¤"})',
        ),
    ),
    Family(
        name="named in settings",
        make=lambda r, n: (password(r), some(r, ALNUM, 24), password(r), some(r, HEX, 48), some(r, URLSAFE, 50))[n],
        carry=written(
            prose="My .env has\n\n    SMTP_PASSWORD=¤\n\nand still the mail does not go out.",
            env="DB_HOST=10.0.0.5\nDB_PASSWORD=¤\nDB_PORT=5432\n",
            json='{"db": {"user": "shop", "password": "¤", "pool": 5}}',
            shell="docker run -e SECRET_KEY_BASE=¤ -e RAILS_ENV=production shop:latest",
            code="app.config['SECRET_KEY'] = '¤'",
        ),
    ),
    Family(
        name="TOTP seed",
        make=lambda r, n: some(r, BASE32, 32 if n % 2 else 16),
        carry=written(
            prose="scan otpauth://totp/Example:ada@example.com?secret=¤&issuer=Example with your phone",
            env="OTP_URI=otpauth://totp/shop?digits=6&secret=¤\n",
            json='{"uri": "otpauth://totp/GitHub:ada?secret=¤&issuer=GitHub", "digits": 6}',
            shell="oathtool --totp -b --secret ¤",
            code='totp = pyotp.TOTP("¤")',
        ),
    ),
    Family(
        name="Afterglow token",
        make=lambda r, n: "ag_" + some(r, CROCKFORD, 52),
        carry=named("Afterglow", "thing", "GLOW"),
    ),
    Family(
        name="stated password",
        make=lambda r, n: password(r),
        carry=written(
            prose="You can log in as ada, the password is ¤ and the door code is on the note.",
            env="# wifi guest, password: ¤\nSSID=guest\n",
            json='{"role": "user", "text": "my bank password: ¤, remember it for me"}',
            shell="echo 'root password for the NAS is ¤' >> notes.txt",
            code="# log in with admin / password: ¤\nlogin()",
        ),
    ),
)


def planted() -> list[Planted]:
    """The first set: 40 families in 5 contexts."""
    samples: list[Planted] = []
    for family in FAMILIES:
        for number, context in enumerate(CONTEXTS):
            rng = Random(f"{family.name} {context}")
            secret = family.make(rng, number)
            text = family.carry(context, rng, secret)
            shown = secret if secret in text else json.dumps(secret)[1:-1]
            assert text.count(shown) == 1, (family.name, context)
            samples.append(Planted(family=family.name, context=context, text=text, secret=shown))
    return samples


def harmless() -> list[str]:
    """The first set: 200 texts without a secret."""
    rng = Random("harmless")
    return [*_generated(rng), *_WRITTEN]


def _generated(rng: Random) -> Iterator[str]:
    """Random things that are public: hashes, names, pictures, numbers; five of each."""
    for n in range(5):
        sha, sha256 = some(rng, HEX, 40), some(rng, HEX, 64)
        yield (f"commit {sha}", f"fixed in {sha[:12]}", f"git revert {sha}", f"HEAD is now at {sha[:7]}", sha)[n]
        yield f"{sha256}  afterglow-0.{n}.tar.gz"
        yield (f"id: {uuid(rng)}", f"/orders/{uuid(rng)}", f'"key": "{uuid(rng)}"', uuid(rng), f"run={uuid(rng)}")[n]
        ulid = "01J" + some(rng, CROCKFORD, 23).upper()
        yield (f"session {ulid}", f"session={ulid}", f"turn {ulid.lower()} of 7", f'{{"id":"{ulid}"}}', ulid)[n]
        yield f"![dot](data:image/png;base64,iVBORw0KGgo{b64(rng, 300)})"
        yield f'      "integrity": "sha512-{b64(rng, 64)}"'
        yield f"sqlalchemy==2.0.{n} --hash=sha256:{sha256}"
        yield f"image: registry.example.com/shop/web@sha256:{some(rng, HEX, 64)}"
        yield f"ISBN 978-83-{some(rng, DIGITS, 4)}-{some(rng, DIGITS, 3)}-{n}, page {some(rng, DIGITS, 3)}"
        yield f"call me at +48 {some(rng, DIGITS, 3)} {some(rng, DIGITS, 3)} {some(rng, DIGITS, 3)} after 17:00"
        yield f"order PL{some(rng, DIGITS, 26)} was paid"
        yield f"Message-ID: <{some(rng, UPPER, 12)}.{some(rng, HEX, 16)}@mail.example.com>"
        yield f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(rng, BASE64, 43)} ada@laptop"
        yield pem(rng, "CERTIFICATE" if n % 2 else "PUBLIC KEY", 5)
        words = " ".join(some(rng, HEX, 4) for _ in range(8))
        yield f"000000{n}0: {words}  ................"
        yield f'<link href="https://cdn.example.com/a.css" integrity="sha384-{b64(rng, 48)}" crossorigin>'
        yield f"https://example.com/watch?v={some(rng, URLSAFE, 11)}&list=PL{some(rng, URLSAFE, 32)}"
        yield f'etag: W/"{some(rng, HEX, 32)}"'
        yield f"arn:aws:iam::{some(rng, DIGITS, 12)}:role/deploy-{some(rng, LOWER, 8)}"
        yield f"trace_id={some(rng, HEX, 32)} span_id={some(rng, HEX, 16)} level=info"


_WRITTEN = (
    # People talk about passwords and tokens without telling them.
    "my password is too weak, what should I do?",
    "the token count is 512",
    "Password must be at least 12 characters and contain 1 digit.",
    "I forgot my password again; the reset link expired after 24h.",
    "The secret is out: we ship on 2026-03-01.",
    "Your API key is stored in 1Password, ask Ewa.",
    "moje hasło jest za krótkie",
    "The password is base64-encoded before it is sent.",
    "each token is 4 characters on average",
    "the access token is refreshed every 3600 seconds",
    "A secret of 256 bits that a program shows to be let in.",
    "pass the salt, pass: optional",
    "The auth token is valid until 2026-11-30T23:59:59Z.",
    "Use a bearer token; Bearer authentication is described in RFC 6750.",
    "Basic authentication is disabled since v2.14.0",
    "What is the difference between a session cookie and a JWT?",
    "the password is sha256-hashed with a per-user salt",
    "secret: none, token: n/a, password: *****",
    "Passwort vergessen? Klicken Sie hier.",
    "The key to success is consistency2go, they say.",
    # Placeholders and references.
    "API_KEY=YOUR_API_KEY",
    "OPENAI_API_KEY=sk-...",
    'OPENAI_API_KEY="sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    'curl -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/user',
    "password=<your-password-here>",
    'password: "{{ vault_db_password_2 }}"',
    "DB_PASSWORD=${DB_PASSWORD:-}",
    "SECRET_KEY=changeme",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    'api_key = os.environ["SHOP_API_KEY_V2"]',
    "const token = process.env.API_TOKEN_V2;",
    "password = getpass.getpass('Password 2: ')",
    'token = request.headers["X-Token-V2"]',
    "password: str | None = None",
    "secret_key: SecretStr = Field(min_length=32)",
    "aws_access_key_id = AKIAIOSFODNN7" + "EXAMPLE",
    "DB_PASSWORD_FILE=/run/secrets/db_password_1",
    "api_key=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    '"password": "********"',
    "TOKEN=[redacted: GitHub token]",
    "password=%(password1)s host=%(host)s",
    "client_secret: REPLACE_ME_WITH_SECRET_123",
    'login(user, password="")',
    # Names with secret words in them that hold no secret.
    "max_tokens: 4096, tokenizer: cl100k_base, token_limit_v2=128000",
    "token_type=bearer&expires_in=3600",
    '"nextPageToken": "CAUQAA1234567890abcdef"',
    "password_hash_algorithm: argon2id-m65536-t3-p4",
    "secretName: web-tls-cert-2026",
    "tokenUrl: https://login.example.com/oauth2/v2.0/token",
    "primary_key: order_id_2024_partition_7",
    "cache_key = 'user:81230:profile:v2:eu-central-1'",
    "public_key: 04bfcab8722991ae774db48f934ca79cfb7dd991229153b9f732ba5334aafcd8e7",
    "keyboard_layout=pl2-programmer-105keys",
    "<label for=password1>Password</label><input id=password1 type=password autocomplete=current-password>",
    "passwordField2.setPlaceholder('Enter your password')",
    "the secretary: Anna.Kowalska2@example.com",
    "tokens_per_second: 81.25, tokens: 18234991",
    "assert token == expected_token_2, 'token mismatch'",
    # Addresses.
    "https://user@example.com/path",
    "https://user:@example.com/path",
    "postgres://localhost:5432/shop",
    "postgresql://${DB_USER}:${DB_PASS}@db:5432/shop",
    "redis://cache.example.com:6379/0",
    "mysql://user:password@localhost/db is the format",
    "git@github.com:team/shop.git",
    "https://example.com/a:b@c/d",
    "mailto:ada@example.com?subject=token",
    "see http://localhost:8080/@fs/src/main.ts?t=1717171717171",
    # Long and strange, but public.
    "the class sk-toggleable__label-arrow and sk-container-id-1-text-repr-fallback",
    "hf_hub_download_with_retries_and_progress",
    "task-0a1b2c3d4e5f60718293a4b5c6d7e8f9 finished",
    "thisIsAVeryLongCamelCaseIdentifierNameForATestOfTheGuard",
    "MAXIMUM_NUMBER_OF_CONCURRENT_CONNECTIONS_PER_WORKER_V2",
    "color: #1a2b3c; background: rgba(10, 20, 30, .5)",
    "eyJust.a.word and eyJetters.are.not.JWTs",
    'cursor="eyJpZCI6MTIzNDU2Nzg5LCJkaXIiOiJuZXh0In0="',
    r"\frac{\partial \mathcal{L}}{\partial \theta_{i,j}^{(k+1)}} = 0",
    '!function(e,t){"object"==typeof exports?t(exports):t(e.a1={})}(this,function(e){e.token=t.b2,e.password=n.c3});',
    '  File "/home/ada/shop/auth/token.py", line 214, in verify_token_v2',
    "java.lang.IllegalStateException: token 0x7f3a9c at com.example.auth.TokenStore2.load(TokenStore2.java:81)",
    "/usr/lib/python3.11/site-packages/google/auth/_default_async.py",
    "C:\\Users\\Ada\\AppData\\Roaming\\Secrets2\\token.cache",
    "I have 12345678:30 minutes left and the ratio is 1234567890:1",
    "Set-Cookie: theme=dark; Path=/; Max-Age=31536000; SameSite=Lax",
    "The BEGIN RSA PRIVATE KEY line must come first: -----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    "lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore",
    "0x52908400098527886E0F7030069857D2E4169EE7 is the address",
    "SELECT token, password FROM users WHERE id = 81234567 AND secret IS NOT NULL",
    "key=value&sort=created_at&order=desc&limit=100",
    "xoxo, see you at 10:30 in room SG.4.12",
    "AC/DC played Back in Black; AKIAKO is a village",
    "npm_config_registry=https://registry.npmjs.org/ npm_lifecycle_event=postinstall",
    "github_pat_ tokens begin with that prefix and have 82 characters after it",
    "otpauth://totp/Example:ada@example.com?issuer=Example&digits=6",
    "Zażółć gęślą jaźń 2024, hasło konkursu: „Zima”",
    "密码太短了,请输入至少12个字符",
    "the pass phrase of the day: never gonna give you up",
    "The Wi-Fi password is on the fridge; the PIN is in the drawer.",
)


# --- The second set, in another style ---------------------------------------------------------------------------------


def planted_later() -> list[Planted]:
    """40 secrets as they stand in files, logs and talk that the first set does not have."""
    samples: list[Planted] = []
    for number, (family, make, text) in enumerate(_LATER):
        rng = Random(f"later {number}")
        secret = make(rng)
        assert text.count("¤") == 1, text
        samples.append(Planted(family=family, context="later", text=text.replace("¤", secret), secret=secret))
    return samples


_LATER: tuple[tuple[str, Callable[[Random], str], str], ...] = (
    ("YAML", password, "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_PASSWORD: ¤\n"),
    ("Kubernetes", password, "        env:\n        - name: DB_PASSWORD\n          value: ¤\n        - name: PORT\n"),
    ("Terraform", lambda r: some(r, BASE64, 40), 'provider "aws" {\n  region = "eu-west-1"\n  secret_key = "¤"\n}'),
    ("AWS file", lambda r: some(r, BASE64, 40), "[default]\naws_secret_access_key = ¤\nregion = eu-west-1\n"),
    (".npmrc", lambda r: "npm_" + some(r, ALNUM, 36), "//registry.npmjs.org/:_authToken=¤\n"),
    (".npmrc old", uuid, "//npm.example.com/:_authToken=¤\nalways-auth=true\n"),
    (".netrc", password, "machine api.example.com\n  login ada\n  password ¤\n"),
    (".pgpass", password, "db.example.com:5432:shop:ada:¤\n"),
    (
        ".pypirc",
        lambda r: "pypi-" + "AgEIcHlwaS5vcmcC" + some(r, URLSAFE, 160),
        "[pypi]\nusername = __token__\npassword = ¤",
    ),
    ("Docker config", _basic, '{"auths": {"https://index.docker.io/v1/": {"auth": "¤"}}}'),
    ("Laravel", lambda r: b64(r, 32), "APP_NAME=Shop\nAPP_KEY=base64:¤\nAPP_DEBUG=false\n"),
    ("WireGuard", lambda r: b64(r, 32), "[Interface]\nPrivateKey = ¤\nAddress = 10.0.0.2/24\n"),
    ("kubeconfig", lambda r: b64(r, 600), "users:\n- name: admin\n  user:\n    client-key-data: ¤\n"),
    ("Java", password, 'DriverManager.getConnection("jdbc:postgresql://db/shop?user=ada&password=¤");'),
    ("C#", password, "Server=sql.example.com;Database=Shop;User Id=sa;Password=¤;Encrypt=True"),
    ("PHP", password, "$cfg = ['host' => 'localhost', 'user' => 'root', 'password' => '¤'];"),
    ("Go", lambda r: some(r, ALNUM, 40), 'cfg := Config{Endpoint: "https://api.example.com", APIKey: "¤"}'),
    (
        "Rust",
        lambda r: "gh" + "p_" + some(r, ALNUM, 36),
        'let octo = Octocrab::builder().personal_token("¤".to_string());',
    ),
    ("PowerShell", password, '$pw = ConvertTo-SecureString "¤" -AsPlainText -Force'),
    ("XML", password, "<server><id>nexus</id><username>ci</username><password>¤</password></server>"),
    ("INI", password, "[smtp]\nhost=mail.example.com\nuser=ada\npass=¤\n"),
    ("diff", lambda r: "sk_" + "live_" + some(r, ALNUM, 24), "-  stripe: null\n+  stripe: ¤\n"),
    ("log", lambda r: some(r, HEX, 40), "2026-05-01T10:00:00Z GET /v1/items?page=2&access_token=¤&lang=pl 200 12ms"),
    (
        "HTTP",
        lambda r: some(r, URLSAFE, 43),
        "GET /me HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer ¤\r\n\r\n",
    ),
    ("Set-Cookie", lambda r: some(r, URLSAFE, 48), "< set-cookie: __Secure-sid=¤; Path=/; HttpOnly; Secure"),
    ("JSON in JSON", lambda r: some(r, ALNUM, 32), '{"body": "{\\"user\\": \\"ada\\", \\"client_secret\\": \\"¤\\"}"}'),
    (
        "Markdown table",
        lambda r: "glpat-" + some(r, URLSAFE, 20),
        "| service | login | token |\n|---|---|---|\n| git | ci | `¤` |",
    ),
    ("chat Polish", password, "hej, hasło do wifi w biurze to ¤ a drukarka jest na drugim piętrze"),
    ("chat German", password, "Das Passwort für den Server lautet ¤ und bitte nicht weitergeben."),
    ("chat French", password, "le mot de passe du wifi est ¤ merci !"),
    ("chat Spanish", password, "la contraseña del servidor es ¤, no la compartas"),
    ("chat Russian", password, "пароль от почты: ¤ не забудь"),
    ("chat Chinese", password, "服务器的密码是¤,请不要告诉别人"),
    ("chat short", password, "user: ada\npw: ¤"),
    ("chat changed", password, "fyi I changed the admin password to ¤ this morning"),
    ("chat credentials", password, "login: ada@example.com / ¤"),
    ("2FA setup key", lambda r: " ".join(some(r, BASE32, 4).lower() for _ in range(8)), "2FA setup key: ¤ (GitHub)"),
    ("WIFI code", password, "WIFI:T:WPA;S:Guest;P:¤;;"),
    (
        "Telegram in URL",
        lambda r: some(r, "123456789", 10) + ":AA" + some(r, URLSAFE, 33),
        "https://api.telegram.org/bot¤/getMe",
    ),
    ("mysql", password, "mysqldump -h db.example.com -u root -p¤ shop > shop.sql"),
)


def harmless_later() -> list[str]:
    """60 more texts without a secret."""
    rng = Random("harmless later")
    return [
        f"Merge: {some(rng, HEX, 7)} {some(rng, HEX, 7)}\nAuthor: Ada <ada@example.com>",
        f"h1:{b64(rng, 32)} github.com/example/token v1.2.3/go.mod",
        f'checksum = "{some(rng, HEX, 64)}"',
        f"resolved https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#{some(rng, HEX, 40)}",
        f'"nonce": "{b64(rng, 16)}", "kid": "{some(rng, HEX, 40)}"',
        f"build-{some(rng, LOWER, 12)}-{some(rng, LOWER, 5)}   1/1   Running   0   3d",
        f"docker pull ghcr.io/example/auth-token@sha256:{some(rng, HEX, 64)}",
        f"Request ID: req_{some(rng, ALNUM, 24)}",
        f"customer cus_{some(rng, ALNUM, 14)} paid invoice in_{some(rng, ALNUM, 24)}",
        f"pk_live_{some(rng, ALNUM, 24)} is the publishable one, it may be public",
        f"X-Amzn-Trace-Id: Root=1-{some(rng, HEX, 8)}-{some(rng, HEX, 24)}",
        f"session_id={some(rng, HEX, 32)} user=ada action=login",
        f"file id 1{some(rng, URLSAFE, 32)} in Drive",
        f"https://docs.google.com/document/d/1{some(rng, URLSAFE, 43)}/edit#heading=h.{some(rng, LOWER, 12)}",
        f"tx 0x{some(rng, HEX, 64)} mined in block 19283746",
        f"bc1q{some(rng, CROCKFORD, 38)} is my donation address",
        f"ipfs://bafybei{some(rng, BASE32.lower(), 52)}",
        f"<svg><path d='M{some(rng, DIGITS, 3)}.5 12.3C4 5 6 7 8 9zM10 20h{some(rng, DIGITS, 2)}v-4'/></svg>",
        f'<div class="css-{some(rng, LOWER, 6)} MuiBox-root jss{some(rng, DIGITS, 3)}" data-testid="token-input-v2">',
        f"src/static/js/main.{some(rng, HEX, 8)}.chunk.js  121.4 kB",
        f"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{b64(rng, 200)}\n-----END PGP PUBLIC KEY BLOCK-----",
        f"-----BEGIN CERTIFICATE REQUEST-----\n{b64(rng, 300)}\n-----END CERTIFICATE REQUEST-----",
        f"SHA256:{b64(rng, 32)[:-1]} ada@laptop (ED25519)",
        f"gpg: key {some(rng, HEX, 16).upper()}: public key imported",
        f"v=DKIM1; k=rsa; p={b64(rng, 162)}",
        f"google-site-verification={some(rng, URLSAFE, 43)}",
        f'"etag": "{some(rng, HEX, 32)}-12", "versionId": "{some(rng, ALNUM, 32)}"',
        f"pod/secret-rotator-{some(rng, HEX, 10)}-{some(rng, LOWER, 5)} created",
        f"kubectl get secret db-credentials-{some(rng, HEX, 8)} -o yaml",
        f"the key {uuid(rng)} of the cache was evicted",
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
        "tokens = tokenizer.encode('hello world 123', add_special_tokens=True)",
        "token = jwt.encode(payload, key2, algorithm='HS256')",
        "password = hashlib.pbkdf2_hmac('sha256', pw.encode(), salt16, 600000)",
        "if (password !== confirmPassword2) { setError('Passwords differ') }",
        "const { password, ...rest2 } = user1;",
        "password: z.string().min(12).max(128),",
        '"password": {"type": "string", "minLength": 12}',
        "secret: !Ref DatabaseSecret2",
        "valueFrom: {secretKeyRef: {name: db-secret-v2, key: password}}",
        "password: !vault |",
        "api_key: str = Depends(api_key_header_v2)",
        "--token-file /var/run/secrets/tokens/vault-token-1",
        "--password-stdin < ~/.docker/password2.txt",
        "token_budget_2026: 1_500_000",
        "The token was 3x longer than expected.",
        "password is incorrect (attempt 3/5)",
        "Please set a password of 8-64 characters.",
        "Your password was changed on 2026-05-01 at 10:14.",
        "Your password was last changed 90-days ago",
        "secret santa: Ada draws Bob2, Bob draws Eve",
        "the secret is C-reactive-protein levels over 10mg/L",
        "Token: Ring1 Token: Ring2 (board game pieces)",
        "API key: required, see https://docs.example.com/keys/v2",
        "Authorization: required for all /v2/* endpoints",
        "authorization: RBAC,Node (since 1.28)",
        "Cookie policy: we use cookies=necessary and cookies=analytics_storage_denied",
        "das Passwort ist zu kurz, mindestens 10 Zeichen",
        "hasło to podstawa bezpieczeństwa w 2026 roku",
        "le mot de passe est obligatoire (12 caractères)",
    ]


# --- The third set, written when the rules were done; they were not changed for it ------------------------------------


def planted_last() -> list[Planted]:
    """30 secrets in yet other places."""
    samples: list[Planted] = []
    for number, (family, make, text) in enumerate(_LAST):
        secret = make(Random(f"last {number}"))
        assert text.count("¤") == 1, text
        samples.append(Planted(family=family, context="last", text=text.replace("¤", secret), secret=secret))
    return samples


_LAST: tuple[tuple[str, Callable[[Random], str], str], ...] = (
    ("OpenAI", lambda r: _openai(r, 1), "openai.AuthenticationError: Incorrect API key provided: ¤. You can find"),
    (
        "Anthropic",
        lambda r: "sk-ant-" + "api03-" + some(r, URLSAFE, 93) + "AA",
        "x-api-key:¤\nanthropic-version: 2023-06-01",
    ),
    ("GitHub", lambda r: "gh" + "p_" + some(r, ALNUM, 36), "git remote add up https://¤@github.com/team/shop"),
    ("GitHub user", lambda r: "gh" + "s_" + some(r, ALNUM, 36), "url = https://x-access-token:¤@github.com/team/shop"),
    ("Google API key", lambda r: "AI" + "za" + some(r, URLSAFE, 35), "https://maps.example.com/js?key=¤&callback=init"),
    ("AWS pair", lambda r: some(r, BASE64, 40), "Access key ID,Secret access key\nAKIA" + "QWERTYUIOPASDFGH" + ",¤\n"),
    ("JWT", jwt, "localStorage.setItem('session', '¤')"),
    (
        "Telegram",
        lambda r: some(r, "123456789", 10) + ":AA" + some(r, URLSAFE, 33),
        "Use this token to access the HTTP API:\n¤\nKeep",
    ),
    ("Slack", lambda r: _slack(r, 0), "SlackApiError {ok: False, error: invalid_auth} with ¤"),
    ("Stripe", lambda r: _stripe(r, 0), "Stripe.api_key = ENV.fetch('STRIPE', '¤')"),
    ("Discord", lambda r: _discord(r, 0), "await bot.start('¤')"),
    ("private key cut", lambda r: pem(r, "RSA PRIVATE KEY", 8).rsplit("\n", 2)[0], "$ cat id_rsa | head\n¤\n"),
    ("bearer", lambda r: some(r, ALNUM, 48), "httpx.get(url, headers=dict(Authorization=f'Bearer ¤'))"),
    ("database URL", lambda r: some(r, ALNUM, 16), "sqlalchemy.url = postgresql+psycopg://ada:¤@/shop?host=/tmp"),
    ("FTP URL", lambda r: some(r, ALNUM, 10), "lftp ftp://ada:¤@files.example.com"),
    ("Ansible", password, "ansible_become_pass: ¤\nansible_user: deploy\n"),
    ("Spring", password, "spring.datasource.password=¤\nspring.datasource.username=ada\n"),
    ("TOML", lambda r: some(r, ALNUM, 43), "[auth]\nsecret = '¤'\nttl = 3600\n"),
    ("Fish", lambda r: some(r, HEX, 32), "set -gx DATADOG_API_KEY ¤"),
    ("Heroku CLI", lambda r: some(r, HEX, 64), "heroku config:set SECRET_KEY_BASE=¤ -a shop"),
    ("GitHub Actions", lambda r: some(r, ALNUM, 36), "      env:\n        SONAR_TOKEN: ¤\n"),
    ("curl -u", password, "curl -u ada:¤ https://jira.example.com/rest/api/2/myself"),
    ("Django", lambda r: some(r, LOWER + "!@#$%^&*(-_=+)", 50), "SECRET_KEY = 'django-insecure-¤'"),
    ("chat", password, "sure! the login for the cms is admin and the pw is ¤ :)"),
    ("chat quoted", password, 'The router\'s default password is "¤", change it.'),
    ("chat reset", password, "We have reset your account. Temporary password: ¤"),
    ("chat Italian", password, "la password del wifi è ¤, scrivimi se non va"),
    ("chat Polish", password, "Zapamiętaj proszę: hasło do Netflixa - ¤"),
    ("chat words", lambda r: "correct-horse-" + some(r, LOWER, 6), "my master password is ¤ and I use it everywhere"),
    (
        "form",
        lambda r: password(r).replace("#", "!").replace("%", "!").replace("?", "!"),
        "grant_type=password&username=ada&password=¤&scope=read",
    ),
)


def harmless_last() -> list[str]:
    """40 more texts without a secret."""
    rng = Random("harmless last")
    return [
        f"see {some(rng, HEX, 40)}...{some(rng, HEX, 40)} for the diff",
        f"Last-Event-ID: {some(rng, ALNUM, 26)}",
        f"plate WX {some(rng, DIGITS, 5)}, VIN WVWZZZ{some(rng, UPPER, 11)}",
        f"sku: AB-{some(rng, UPPER, 6)}-{some(rng, UPPER, 6)}-{some(rng, UPPER, 6)}",
        f"serial number {some(rng, UPPER, 12)} of the printer",
        f"tracking {some(rng, DIGITS, 20)} with InPost",
        f"zoom.example.com/j/{some(rng, DIGITS, 11)} starts at 10",
        f"youtu.be/{some(rng, URLSAFE, 11)}?t=42",
        f"photo_{some(rng, DIGITS, 8)}_{some(rng, DIGITS, 6)}_{some(rng, HEX, 8)}.jpg",
        f"GUID {{{uuid(rng).upper()}}} in the registry",
        f"msgid {some(rng, URLSAFE, 36)} was delivered",
        f"memory at 0x{some(rng, HEX, 12)}, fault 0x{some(rng, HEX, 8)}",
        f"model claude-{some(rng, DIGITS, 1)}-{some(rng, DIGITS, 8)} used 1234 tokens: 1000 in, 234 out",
        f"fingerprint: {':'.join(some(rng, HEX, 2) for _ in range(20))}",
        f"MAC {':'.join(some(rng, HEX, 2) for _ in range(6))} has 10.0.0.{some(rng, DIGITS, 2)}",
        f"2001:db8:{some(rng, HEX, 4)}::{some(rng, HEX, 4)}:{some(rng, HEX, 4)}",
        f"font-face: url(data:font/woff2;base64,{b64(rng, 240)})",
        f"git tree {some(rng, HEX, 40)} parent {some(rng, HEX, 40)}",
        f"the idempotency key was order-{some(rng, DIGITS, 8)}-retry-2",
        f"S3 object key: exports/2026/05/{uuid(rng)}/part-00001.parquet",
        "The password field has id=password_confirmation_2 in the form.",
        "I keep every password in KeePassXC2 and sync it.",
        "Can you explain OAuth2 tokens? token = credential, roughly.",
        "a password like P… is weak; use 4 random words",
        "password (at least 8 characters)",
        "Enter password: \nRe-enter password: \nPasswords do not match, try again (2 of 3)",
        "sudo: a password is required",
        'password authentication failed for user "shop_1"',
        "token expired at 1717171717, now 1717171999",
        "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
        "Unexpected token: punc ()) at line 81 column 12",
        "[parser] token: IDENT(foo_bar2) at 3:14",
        "secrets.token_urlsafe(32) makes a good one",
        "def check(password: str, salt16: bytes) -> bool:",
        "type Props2 = { token?: string; password?: string }",
        "password: process.env.DB_PASS2 || undefined,",
        "api_key=settings.llm.providers[0].api_key,",
        'private_key_path = "~/.ssh/id_ed25519_work2"',
        "auth: { strategy: 'oauth2-pkce', provider: 'github-enterprise-3' }",
        "auth = HTTPBasicAuth(user1, pass1)",
    ]
