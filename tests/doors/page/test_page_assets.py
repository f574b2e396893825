"""The files of the page, as they lie there and as they are served; no browser is needed for this."""

from __future__ import annotations

import posixpath
import re

import httpx
import pytest

from afterglow.web import page
from tests.kit.web import LOCAL, Door

pytestmark = pytest.mark.spec("DOOR-5", "SAFE-1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
TEXTS = {name: body.decode() for name, body in page.files().items()}
ALIVE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|DOMParser|cssText"
)
READS_MESSAGES = re.compile(r"message\.(startsWith|includes|match|endsWith)|\.test\(\w+\.message")


def test_the_document_has_no_script_or_style_of_its_own() -> None:
    document = TEXTS["index.html"]
    assert not re.search(r"<style|\sstyle=|\son\w+=", document)
    assert all(re.fullmatch(r"\s*", body) for body in re.findall(r"<script[^>]*>(.*?)</script>", document, re.DOTALL))


def test_no_file_turns_text_into_markup_or_names_another_host() -> None:
    hosts = {(name, host) for name, text in TEXTS.items() for host in re.findall(r"\w+://[^\"'\s`$]+", text)}
    assert not [name for name, text in TEXTS.items() if ALIVE.search(text)]
    assert not {(name, host) for name, host in hosts if host != "http://www.w3.org/2000/svg"}


def test_what_the_page_does_hangs_on_no_wording_of_an_error() -> None:
    """A sentence may be put better any day: what is told to programs is the status and the kind."""
    scripts = [name for name in TEXTS if name.endswith(".js")]
    assert len(scripts) > 20
    assert not [name for name in scripts if READS_MESSAGES.search(TEXTS[name])]


def test_every_file_that_another_asks_for_is_there() -> None:
    document = set(re.findall(r'"/assets/([^"]+)"', TEXTS["index.html"]))
    modules = {
        posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        for name, text in TEXTS.items()
        for path in re.findall(r'(?:from|import\()\s*"(\.[^"]+)"', text)
    }
    assert document | modules <= set(TEXTS)
    assert set(TEXTS) - document - modules == {"index.html"}, "and none lies there that no other file asks for"


def test_the_document_names_every_module_so_that_all_are_fetched_at_once() -> None:
    named = set(re.findall(r'"/assets/([^"]+[.]js)"', TEXTS["index.html"]))
    assert named == {name for name in TEXTS if name.endswith(".js")}


async def test_the_document_is_asked_for_each_time_and_is_not_sent_again_unchanged(door: Door) -> None:
    async with door.client() as client:
        answer = await client.get("/")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["cache-control"] == "no-cache"
        assert set(re.findall(r'"/assets/(\w+)/', answer.text)) == {page.tag()}
        again = await client.get("/", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_each_file_is_served_with_the_strict_policy_and_is_kept_for_good(
    door: Door, subtests: pytest.Subtests
) -> None:
    async with door.client() as client:
        for name in sorted(set(TEXTS) - {"index.html"}):
            with subtests.test(name=name):
                answer = await client.get(f"/assets/{page.tag()}/{name}")
                assert (answer.status_code, answer.text) == (200, TEXTS[name])
                assert answer.headers["content-type"] == page.KINDS[name[name.index(".") :]]
                assert answer.headers["content-security-policy"] == POLICY
                assert answer.headers["cache-control"] == page.FOR_GOOD


ELSEWHERE = [
    "/assets/main.js",
    "/assets/0123456789abcdef01234567/main.js",
    "/assets/{tag}/",
    "/assets/{tag}/index.html",
    "/assets/{tag}/nothing.js",
    "/assets/{tag}/../__init__.py",
    "/assets/{tag}/%2e%2e/__init__.py",
    "/assets/{tag}/..%2f__init__.py",
    "/assets/{tag}//etc/passwd",
]


async def test_nothing_but_the_files_of_this_version_is_served(door: Door, subtests: pytest.Subtests) -> None:
    async with door.client() as client:
        for path in ELSEWHERE:
            with subtests.test(path=path):
                raw = path.replace("{tag}", page.tag()).encode()
                answer = await client.send(client.build_request("GET", httpx.URL(LOCAL, raw_path=raw)))
                assert answer.status_code == 404
                assert "router" not in answer.text


TEXT_ON_GROUND = [
    (text, ground)
    for text in ("ink", "soft", "faint", "accent", "good", "warn", "bad")
    for ground in ("ground", "panel", "sunken")
] + [
    ("accent", "accent-wash"),
    ("ink", "accent-wash"),
    ("faint", "accent-wash"),
    ("accent-ink", "accent"),
    ("ground", "ink"),
    ("panel", "bad"),
    ("ink", "mark"),
]


def test_every_text_has_the_contrast_that_readers_need() -> None:
    faint = [
        (text, ground, "dark" if dark else "light")
        for text, ground in TEXT_ON_GROUND
        for dark in (False, True)
        if contrast(colour(text, dark), colour(ground, dark)) < 4.5
    ]
    assert not faint


def colour(name: str, dark: bool) -> str:
    found = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", TEXTS["style.css"])
    assert found, name
    return found.group(2 if dark else 1)


def contrast(one: str, other: str) -> float:
    """As WCAG 2 reckons it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(code: str) -> float:
    parts = [int(code[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
