"""What each channel gets for a digest and for a message with everything in it, word for word.

After a change that is meant, read the difference and write the files anew: `python -m tests.channels.test_golden`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from afterglow.channels import CHANNELS, Channel, render
from tests.channels.shown import golden
from tests.kit.loops import for_each

FOLDER = Path(__file__).parent / "golden"
SAMPLES = ("digest", "sample")

pytestmark = pytest.mark.spec("AWAY-9")


def rendered(sample: str, channel: Channel) -> str:
    return golden(render((FOLDER / f"{sample}.md").read_text(), channel))


@for_each("channel", CHANNELS)
@for_each("sample", SAMPLES)
def test_a_message_comes_out_as_it_should_in_every_channel(sample: str, channel: Channel) -> None:
    assert rendered(sample, channel) == (FOLDER / f"{sample}.{channel}.txt").read_text()


if __name__ == "__main__":
    for name in SAMPLES:
        for one in CHANNELS:
            (FOLDER / f"{name}.{one}.txt").write_text(rendered(name, one))
