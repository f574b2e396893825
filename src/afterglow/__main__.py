"""`python -m afterglow` is the command line."""

from afterglow.cli import main

main()
