"""What tokens cost, from the list of prices that `genai-prices` ships. Nothing is fetched."""

from __future__ import annotations

from afterglow.spend import Usage

_FREE = {"ollama"}
_NAMES = {"google_genai": "google", "mistralai": "mistral"}


def price_usd(provider: str, model: str, usage: Usage, base_url: str | None = None) -> float | None:
    """What the call costs in US dollars; None where the price is not known. The first call reads the list of prices."""
    if provider in _FREE:
        return 0.0
    try:
        import genai_prices
    except ImportError:
        return None
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
    )
    try:
        price = (
            genai_prices.calc_price(tokens, model, provider_api_url=base_url)
            if base_url
            else genai_prices.calc_price(tokens, model, provider_id=_NAMES.get(provider, provider))
        )
        return float(price.total_price)
    except (LookupError, ValueError):
        return None
