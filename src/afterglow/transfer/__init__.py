"""Export to JSONL, and import of it: a line for each owner, session, turn, session's blocks, summary, fact, goal event,
person who was seen, task, message that waits, and piece of work.

An import writes a session's turns a batch at a time, each batch whole, and goes on from where a broken one stopped; into an
empty store it gives an equal state.
"""

from afterglow.transfer.exporting import export_lines
from afterglow.transfer.importing import import_lines
from afterglow.transfer.lines import check_first_line

__all__ = ["check_first_line", "export_lines", "import_lines"]
