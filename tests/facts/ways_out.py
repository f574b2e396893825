"""Paths that try to leave the memory folder. Whoever reads one of them as a file must get an error.

The test lays out a folder of memory (`{folder}` is its absolute path, `{name}` its last part) with `facts/index.json` in
it; beside it `secret.txt` (`{outside}`), and another owner's folder, which has the same name with `-2` after it and holds
a `secret.txt` too. A way with a `link` wants a symbolic link made first, in the folder, at `at` or else at the path.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath

OUTSIDE = "{outside}"


@dataclass(frozen=True, kw_only=True, slots=True)
class WayOut:
    """A path to be asked for, and the symbolic link that makes it one, where there is one."""

    name: str
    path: str
    link: str | None = None
    at: str | None = None

    def filled(self, folder: str, outside: str) -> WayOut:
        """The same with the real places in it."""

        def real(text: str) -> str:
            name = PurePath(folder).name
            return text.replace("{folder}", folder).replace("{name}", name).replace(OUTSIDE, outside)

        return replace(self, path=real(self.path), link=self.link and real(self.link))


UPWARDS = {
    "parent": "../secret.txt",
    "parent of a folder inside": "facts/../../secret.txt",
    "many parents": "../" * 40 + "etc/passwd",
    "parent after dots": "./././../secret.txt",
    "parent after double slashes": "facts//..//..//secret.txt",
    "parent alone": "..",
    "parent with a slash": "../",
    "parent from a file": "facts/index.json/../../../secret.txt",
    "parent from what does not exist": "nowhere/../../secret.txt",
    "down and up again": "facts/../facts/../../secret.txt",
    "out and in again": "../{name}/../secret.txt",
    "the neighbour whose name begins alike": "../{name}-2/secret.txt",
    "the neighbour by the parent": "facts/../../{name}-2/secret.txt",
    "parent at the end": "facts/../..",
    "four dots": "..../secret.txt",
    "parent that survives one cleaning": "....//secret.txt",
    "parent that survives another cleaning": "..././secret.txt",
    "parent before a space": ".. /secret.txt",
    "parent after a space": " ../secret.txt",
    "parent after a line's end": "\n../secret.txt",
    "parent after a tab": "\t../secret.txt",
}

ABSOLUTE = {
    "absolute": "/etc/passwd",
    "absolute, the secret": "{outside}",
    "absolute, two slashes": "//etc/passwd",
    "absolute, three slashes": "///etc/passwd",
    "absolute through the folder": "{folder}/../secret.txt",
    "absolute, the neighbour": "{folder}-2/secret.txt",
    "root": "/",
    "home": "~/.bashrc",
    "home of root": "~root/.profile",
    "home inside": "facts/~/../../../secret.txt",
    "variable": "$HOME/.bashrc",
    "variable in braces": "${HOME}/.bashrc",
    "file address": "file:///etc/passwd",
    "root of the process": "/proc/self/root/etc/passwd",
    "environment of the process": "/proc/self/environ",
    "folder of the process": "/proc/self/cwd/../secret.txt",
    "standard input": "/dev/stdin",
    "open file of the process": "/dev/fd/0",
    "endless device": "/dev/zero",
}

ENCODED = {
    "percent dots": "%2e%2e/secret.txt",
    "percent slash": "..%2fsecret.txt",
    "percent all": "%2e%2e%2fsecret.txt",
    "percent capitals": "%2E%2E%2Fsecret.txt",
    "percent twice": "%252e%252e%252fsecret.txt",
    "percent backslash": "..%5csecret.txt",
    "percent NUL": "facts/index.json%00../../secret.txt",
    "overlong slash": "..%c0%afsecret.txt",
    "overlong dots": "%c0%ae%c0%ae/secret.txt",
    "IIS slash": "..%u2215secret.txt",
    "HTML slash": "..&#47;secret.txt",
    "NUL before the end": "../secret.txt\0.json",
    "NUL alone": "\0",
    "NUL inside": "facts/\0/../../secret.txt",
}

WINDOWS = {
    "backslash": "..\\secret.txt",
    "backslashes": "facts\\..\\..\\secret.txt",
    "mixed slashes": "facts/..\\../secret.txt",
    "drive": "C:\\Windows\\win.ini",
    "drive, slashes": "C:/Windows/win.ini",
    "drive, relative": "C:secret.txt",
    "UNC": "\\\\server\\share\\secret.txt",
    "UNC, slashes": "//server/share/secret.txt",
    "long UNC": "\\\\?\\C:\\Windows\\win.ini",
    "device path": "\\\\.\\PhysicalDrive0",
    "device name": "CON",
    "device name with an ending": "facts/nul.json",
    "printer": "LPT1:",
    "trailing dot": "../secret.txt.",
    "trailing space": "../secret.txt ",
    "other stream": "../secret.txt::$DATA",
    "stream of the index": "facts/index.json:secret",
}

UNICODE = {
    "two-dot leader": "\u2025/secret.txt",
    "one-dot leaders": "\u2024\u2024/secret.txt",
    "wide dots": "\uff0e\uff0e/secret.txt",
    "wide slash": "..\uff0fsecret.txt",
    "division slash": "..\u2215secret.txt",
    "fraction slash": "..\u2044secret.txt",
    "wide backslash": "..\uff3csecret.txt",
    "zero width between the dots": ".\u200b./secret.txt",
    "joiner between the dots": ".\u2060./secret.txt",
    "soft hyphen between the dots": ".\u00ad./secret.txt",
    "order of writing turned": "\u202etxt.terces/..",
    "combining dot": ".\u0307./secret.txt",
    "half of a surrogate pair": "\udc2e\udc2e/secret.txt",
}

LONG = {
    "very long name": "a" * 5000,
    "very long path": "a/" * 3000 + "../" * 3001 + "secret.txt",
    "very many dots": "./" * 5000 + "../secret.txt",
    "very deep": "facts/" * 2000 + "index.json",
    "empty": "",
    "a space": " ",
}

LINKS = (
    WayOut(name="link to the secret", path="notes.json", link=OUTSIDE),
    WayOut(name="link upwards", path="notes.json", link="../secret.txt"),
    WayOut(name="link among the facts", path="facts/2026-03-02.json", link="../../secret.txt"),
    WayOut(name="link to the root", path="root/etc/passwd", link="/", at="root"),
    WayOut(name="link to the parent", path="up/secret.txt", link="..", at="up"),
    WayOut(name="link to a folder outside, then up", path="etc/../secret.txt", link="/etc", at="etc"),
    WayOut(name="link to the neighbour", path="friend/secret.txt", link="{folder}-2", at="friend"),
    WayOut(name="link to a file of the system", path="facts/passwd.json", link="/etc/passwd"),
    WayOut(name="link to the process", path="self/environ", link="/proc/self", at="self"),
    WayOut(name="link to an open file", path="facts/in.json", link="/dev/stdin"),
    WayOut(name="link to an endless device", path="facts/zero.json", link="/dev/zero"),
    WayOut(name="link to itself", path="loop", link="loop"),
    WayOut(name="link through itself", path="loop/secret.txt", link="loop", at="loop"),
    WayOut(name="link to nothing", path="facts/gone.json", link="../../not-yet-there.txt"),
    WayOut(name="link out and in again", path="round/{name}/facts/index.json", link="..", at="round"),
    WayOut(name="link under an innocent name", path="facts/index.json.bak", link=OUTSIDE),
    WayOut(name="link with a space at its end", path="facts/index.json ", link=OUTSIDE),
    WayOut(name="link with an unseen letter", path="facts/index\u200b.json", link=OUTSIDE),
)

_LISTS = (UPWARDS, ABSOLUTE, ENCODED, WINDOWS, UNICODE, LONG)
WAYS_OUT = (*(WayOut(name=name, path=path) for list in _LISTS for name, path in list.items()), *LINKS)
