"""SavedChain: the file of a saved chain, replaced atomically, and verified by a digest when it is read; no pickle."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from sklearn_subanneal.portable import model_file

HEADER = b"sklearn_subanneal checkpoint 2\n"
DIGEST_SIZE = sha256().digest_size


@dataclass(frozen=True)
class SavedChain:
    """A chain and the identity of its fit.

    Attributes
    ----------
    number : int
        Number of the chain in its fit.
    identity : dict
        Digests of the parameters and the table of the fit.
    result : object
        What the chain continues from, such as a ChainResult: made of arrays, numbers and objects of this package.
    ended_at : int or None
        The ``n_draws``, or most passes, of the fit in which the chain ended; None while it is running.
    """

    number: int
    identity: dict[str, str]
    result: Any
    ended_at: int | None

    def write(self, file: Path) -> None:
        """Put the file in place at once: a process that is killed here leaves the new file or the one before.

        Raises
        ------
        OSError
            If it cannot be written, for example on a full disk; the file before is kept.
        """
        content, part = io.BytesIO(), file.with_suffix(".part")
        # Compression would take longer than a sweep.
        model_file.write(self, content, compress=False)
        content = content.getvalue()
        try:
            with open(part, "wb") as stream:
                stream.write(HEADER + sha256(content).digest())
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(part, file)
            if os.name == "posix":
                folder = os.open(file.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    @classmethod
    def read(cls, file: Path) -> SavedChain:
        """The chain in a file.

        Raises
        ------
        ValueError
            If the file is not as :meth:`write` left it, or cannot be read.
        """
        data = file.read_bytes()
        start = len(HEADER) + DIGEST_SIZE
        content = memoryview(data)[start:]
        if not data.startswith(HEADER) or data[len(HEADER) : start] != sha256(content).digest():
            raise ValueError(
                f"{file} is damaged, or not a checkpoint of this version of sklearn_subanneal. Restore it from a copy, "
                "or delete it and its chain starts anew."
            )
        chain = model_file.read(io.BytesIO(content), str(file))
        if type(chain) is not cls:
            raise ValueError(f"{file} holds a {type(chain).__name__}, and no chain. Move it out of the folder.")
        return chain
