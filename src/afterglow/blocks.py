"""How a block is made: what turns or other blocks give a summariser to read, and what is kept of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from afterglow.compaction import HEADING_TOKENS, Block, Frame, block_tokens_max
from afterglow.fold import Material, Written, extract, requests_in, still_open, without_names
from afterglow.identifiers import identifiers
from afterglow.tokens import estimate
from afterglow.transcript import said_by_anybody, said_by_user, transcript
from afterglow.turns import Session, Turn

WINDOW = "window"
"""The reason of a block that was made on the spot, because the context would not have fit the model's window."""


def material_of(turns: Sequence[Turn], zone: tzinfo) -> Material:
    """Turns as a summariser gets them."""
    said, asked = said_by_anybody(turns), said_by_user(turns)
    return Material(
        text=transcript(turns, zone),
        said=said,
        identifiers=identifiers(said) + identifiers(asked),  # what the user named counts twice
        requests=requests_in(asked),
        replaced_tokens=sum(turn.tokens for turn in turns),
    )


def material_of_blocks(blocks: Sequence[Block]) -> Material:
    """Blocks as a summariser gets them. The names behind them are kept in mind, and not shown: they explain nothing."""
    texts = [without_names(block.text) for block in blocks]
    whole = "\n".join(block.text for block in blocks)
    return Material(
        text="\n\n".join(f"Part {number}:\n{text}" for number, text in enumerate(texts, 1)),
        said="\n".join(texts),
        identifiers=identifiers(whole),
        requests=still_open(texts),
        replaced_tokens=sum(block.tokens for block in blocks),
        whole=whole,
    )


def tokens_max_for(material: Material, block_tokens_max: int) -> int:
    """How large the text may be: with its heading as the budget allows, and smaller than what it replaces."""
    return max(20, min(block_tokens_max, material.replaced_tokens * 9 // 10) - HEADING_TOKENS)


def extracted(session: Session, turns: Sequence[Turn], frame: Frame, blocks: Sequence[Block]) -> Block:
    """A block made on the spot, without a model, because the context would not fit otherwise."""
    material = material_of(turns, frame.zone)
    tokens_max = tokens_max_for(material, block_tokens_max(blocks, 0, frame.limits))
    return block_of(session.id, 0, turns[0], turns[-1], material, extract(material, tokens_max), WINDOW)


def block_of(
    session: str, level: int, first: Turn | Block, last: Turn | Block, material: Material, written: Written, reason: str
) -> Block:
    return Block(
        session=session,
        level=level,
        first_seq=first.seq if isinstance(first, Turn) else first.first_seq,
        last_seq=last.seq if isinstance(last, Turn) else last.last_seq,
        first_at=first.at if isinstance(first, Turn) else first.first_at,
        last_at=last.at if isinstance(last, Turn) else last.last_at,
        text=written.text,
        tokens=estimate(written.text) + HEADING_TOKENS,
        span_tokens=material.replaced_tokens,
        input_hash=material.hash,
        prompt=written.prompt,
        model=written.model,
        reason=reason,
        input_tokens=written.input_tokens,
        output_tokens=written.output_tokens,
        cost_usd=written.cost_usd,
        extract=written.extract,
        lost=written.lost,
        lost_count=written.lost_count,
    )
