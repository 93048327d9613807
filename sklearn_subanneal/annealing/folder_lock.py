"""FolderLock: one fit at a time may write to a folder."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where folders can't be locked
    fcntl = None


class FolderLock:
    """A lock of a folder, which the operating system releases when the process ends, however it ends.

    No file is created. Where folders cannot be locked, as on some network file systems and on Windows, nothing is done.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    ValueError
        If another process, or another fit in this one, has locked the folder.
    """

    def __init__(self, folder: Path):
        self._descriptor = None
        if fcntl is None:
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise ValueError(
                f"Another fit is writing its checkpoints to {folder}. Wait until it has ended, or give each fit a "
                "folder of its own."
            ) from error
        except OSError:
            os.close(descriptor)
            return
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others lock the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
