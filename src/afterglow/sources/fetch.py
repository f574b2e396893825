"""HTTP to places that others chose: only to addresses that were checked, without redirects, and never more than so much.

Everything that speaks HTTP for a source goes through `CheckedTransport`: it looks the host up once, refuses private
addresses (SAFE-6), connects to the address it checked while the certificate is still that of the name, and counts bytes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from afterglow.errors import MissingPackage, SourceError
from afterglow.sources.addresses import Access, resolve, site
from afterglow.sources.patience import seconds_left

try:
    import httpx2 as httpx
except ImportError:
    raise MissingPackage(
        "a source on the web needs the package httpx2; install it with: pip install '.[sources]' in Afterglow's folder"
    ) from None

BODY_BYTES_MAX = 16 * 1024 * 1024
_TRIED_MAX = 4
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """A whole answer."""

    status: int
    content_type: str
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests to checked addresses, and cuts off answers that are too long."""

    def __init__(self, *, allow_private: bool, bytes_max: int = BODY_BYTES_MAX) -> None:
        self._allow_private = allow_private
        self._bytes_max = bytes_max
        self._inner = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.scheme not in (("https", "http") if self._allow_private else ("https",)):
            raise SourceError(f"{site(str(url))} is not https; set allow_private = true if the way there is safe")
        host = url.raw_host.decode("ascii").strip("[]")
        addresses = await resolve(host, url.port or _PORTS[url.scheme], allow_private=self._allow_private)
        request.headers["Accept-Encoding"] = "identity"  # so that what is counted is what there is
        *firsts, last = addresses[:_TRIED_MAX]
        for address in firsts:
            with suppress(httpx.ConnectError):
                return self._counted(await self._inner.handle_async_request(_sent_to(address, host, request)))
        return self._counted(await self._inner.handle_async_request(_sent_to(last, host, request)))

    def _counted(self, response: httpx.Response) -> httpx.Response:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise SourceError("the answer is compressed although that was not asked for")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Counted(response.stream, self._bytes_max)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx.AsyncByteStream):
    """A body that ends in an error once it is too long."""

    def __init__(self, inner: httpx.AsyncByteStream, bytes_max: int) -> None:
        self._inner = inner
        self._left = self._max = bytes_max

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise SourceError(f"the answer has more than {self._max:,} bytes; ask for less")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _sent_to(address: str, host: str, request: httpx.Request) -> httpx.Request:
    """The same request to the checked address. Its Host header and its certificate's name stay those of the name."""
    extensions = {**request.extensions, "sni_hostname": host}
    url = request.url.copy_with(host=address)
    return httpx.Request(request.method, url, headers=request.headers.raw, stream=request.stream, extensions=extensions)


def client(access: Access, *, bytes_max: int = BODY_BYTES_MAX) -> httpx.AsyncClient:
    """A client that reaches only what may be reached. No proxy of the environment is used: it would look names up anew."""
    return httpx.AsyncClient(
        transport=CheckedTransport(allow_private=access.allow_private, bytes_max=bytes_max),
        auth=httpx.BasicAuth(access.username, access.password or "") if access.username else None,
        headers={"User-Agent": "afterglow", **_token(access)},
        timeout=seconds_left(),
        follow_redirects=False,
        trust_env=False,
    )


async def fetch(
    method: str,
    address: str,
    access: Access,
    *,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    bytes_max: int = BODY_BYTES_MAX,
) -> Fetched:
    """The whole answer to one request, or SourceError; an answer that is not 2xx is an error."""
    try:
        async with client(access, bytes_max=bytes_max) as web:
            response = await web.request(method, address, content=content, headers=dict(headers or {}))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        why = str(error) or type(error).__name__
        raise SourceError(f"{site(address)} gives no answer: {why}") from None
    _check(address, response)
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return Fetched(status=response.status_code, content_type=kind, body=response.content)


def _token(access: Access) -> dict[str, str]:
    """A password without a name is a token."""
    return {"Authorization": f"Bearer {access.password}"} if access.password and not access.username else {}


def _check(address: str, response: httpx.Response) -> None:
    if response.is_success:
        return
    if response.has_redirect_location:
        place = site(str(response.headers["Location"]))
        raise SourceError(
            f"{site(address)} sends on to {place}, and redirects are not followed; give the final address in the settings"
        )
    hint = {401: "; check username and password_env", 403: "; check username and password_env", 404: "; check the path"}
    raise SourceError(f"{site(address)} answers {response.status_code}{hint.get(response.status_code, '')}")
