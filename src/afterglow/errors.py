"""Every error Afterglow raises, named by what the reader should do about it.

AfterglowError
├── BadInput            mend what you gave; nothing was changed
│   ├── BadSettings     mend the settings file or the environment variable it names
│   └── NotFound        name something that exists
├── NotAllowed          come through another door, or with a token that may
├── MissingPackage      install the extra it names
├── ClaimLost           drop the result: somebody else has the work, or it is done
├── ModelError          the model gave nothing that can be used
│   ├── ModelBusy         repeat later: network, rate limit, overload, too slow; it may say how long to wait
│   ├── ModelTooLong      give it less
│   ├── ModelBadOutput    ask once more, more strictly, then do without: empty, refused, malformed
│   └── ModelStopped      tell the operator: wrong key, unknown model, or the ceiling of spend is reached
├── SourceError         leave the source out, and ask it again next time
└── StoreError          the database did not do it
    ├── StoreUnavailable  repeat later, with the same key: it may or may not have been written
    ├── StoreFull         make room on the disk, then repeat; nothing was changed
    └── StoreUnusable     tell the operator: wrong version, unwritable folder, damaged file
"""

from __future__ import annotations


class AfterglowError(Exception):
    """Something a person or a program can act on; its text is a sentence that says how."""


class BadInput(AfterglowError):
    """What was given cannot be used. Nothing was changed."""


class BadSettings(BadInput):
    """A setting is unknown or has a value that is not allowed."""


class NotFound(BadInput):
    """The thing named does not exist, or belongs to somebody else: the two are not told apart."""


class NotAllowed(AfterglowError):
    """The caller may not do this."""


class MissingPackage(AfterglowError):
    """An optional package is needed and not installed."""


class ClaimLost(AfterglowError):
    """The claim is no longer held, or its watermark moved: the result is dropped, nothing was changed."""


class ModelError(AfterglowError):
    """The model gave nothing that can be used. Nothing was changed."""


class ModelBusy(ModelError):
    """The model cannot be had now. `wait_seconds` is how long it asks to be left alone, where it says so."""

    def __init__(self, message: str, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class ModelTooLong(ModelError):
    """What the model was given is longer than it can take."""


class ModelBadOutput(ModelError):
    """The model answered, and the answer cannot be used."""


class ModelStopped(ModelError):
    """The model must not or cannot be asked, and repeating will not help before somebody acts.

    `wait_seconds` is set where time alone helps, as when the day's ceiling is reached.
    """

    def __init__(self, message: str, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class SourceError(AfterglowError):
    """A source failed, was late, or said something that cannot be used."""


class StoreError(AfterglowError):
    """The database did not do what was asked."""


class StoreUnavailable(StoreError):
    """The database cannot be reached now. Repeating with the same key is safe."""


class StoreFull(StoreError):
    """The disk is full. Nothing was changed; what is stored can still be read."""


class StoreUnusable(StoreError):
    """The database cannot be used as it is, and repeating will not help."""
