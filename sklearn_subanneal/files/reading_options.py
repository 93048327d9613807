"""ReadingOptions: what a user says about a file, where it is not to be found out."""

from __future__ import annotations

from dataclasses import dataclass

#: A file may unfold to so many bytes.
MOST_BYTES = 2**32
DECIMALS = (".", ",")


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is to be read; what is None is found out.

    Attributes
    ----------
    encoding : str or None
        Of a file of text, as Python names it.
    decimal : {".", ","} or None
        The mark before decimals in text.
    sheet : str or None
        Name or number, from 1, of the sheet of a spreadsheet.
    header : bool or None
        Whether the first line has the names of the columns.
    day_first : bool or None
        Whether the first number of 04/03/2021 is the day.
    skip_bad_lines : bool
        Whether lines of text with too many cells, or between spaces too few, are left out, and not refused.
    missing : tuple of str
        Texts that mean a missing cell, in addition to the usual ones.
    keep : tuple of str
        Texts and numbers that would be taken for missing, and are values.
    max_bytes : int
        A file that unfolds to more is refused.

    Raises
    ------
    ValueError
        If an option has no such value.
    """

    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    header: bool | None = None
    day_first: bool | None = None
    skip_bad_lines: bool = False
    missing: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    max_bytes: int = MOST_BYTES

    def __post_init__(self):
        for name in ("missing", "keep"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.decimal not in (None, *DECIMALS):
            raise ValueError(f"--decimal must be a point or a comma, got {self.decimal!r}.")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise ValueError(
                    f"--encoding must be an encoding of Python, such as utf-8, cp1252 or cp1251, got {self.encoding!r}."
                ) from None
