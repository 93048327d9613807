"""Files of fitted models without pickles: a zip archive of one JSON document and of NumPy arrays."""

from __future__ import annotations

import io
import json
import os
import tokenize
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sklearn_subanneal._core.version import __version__
from sklearn_subanneal.portable.decoding import Decoder
from sklearn_subanneal.portable.encoding import Encoder

FORMAT = 1
DOCUMENT, DIGEST, ARRAY = "model.json", "sha256", "array{}.npy"
# Errors of a document that was not made by an encoder, or of an archive that is damaged.
DAMAGE = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, StopIteration, RecursionError, OverflowError,
    EOFError, MemoryError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error,
    OSError, SyntaxError, tokenize.TokenError,
)  # fmt: skip
REMEDY = "take a copy, or save the model anew"
# A file may unfold to so many bytes.
MOST_BYTES = 2**34


def save(model: Any, path: str | os.PathLike) -> None:
    """Save a fitted model to a file that can be loaded without running code from it.

    The file is a zip archive, which ``numpy.load`` reads, of arrays and a JSON document; its structure is described in
    the documentation. Callbacks are not stored.

    Parameters
    ----------
    model : estimator of sklearn_subanneal
        Fitted or not.
    path : str or path-like
        A file of this name is replaced, at once and only if all was written.

    Raises
    ------
    TypeError
        If the model holds an object that the format does not know, for instance of another package.
    OSError
        If the file cannot be written.

    See Also
    --------
    load

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import sklearn_subanneal
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = sklearn_subanneal.SubsampleAnnealedDPMM(n_chains=1, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sklearn_subanneal.save(model, pathlib.Path(folder, "model.npz"))
    ...     same = sklearn_subanneal.load(pathlib.Path(folder, "model.npz"))
    >>> bool((same.score_samples(X) == model.score_samples(X)).all())
    True
    """
    path = Path(path)
    content, part = io.BytesIO(), path.with_name(path.name + ".part")
    write(model, content)
    try:
        part.write_bytes(content.getbuffer())
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike, max_bytes: int = MOST_BYTES) -> Any:
    """Load a model that :func:`save` wrote. Whatever is in the file, no code of it is run.

    Parameters
    ----------
    path : str or path-like
    max_bytes : int, default=2**34
        A file that unfolds to more is refused.

    Returns
    -------
    model : estimator

    Raises
    ------
    ValueError
        If the file is no model, damaged, too large, or written by a later version with another format.
    OSError
        If the file cannot be read.
    """
    with open(path, "rb") as file:
        return read(file, f"{os.fspath(path)}", max_bytes)


def write(value: Any, file: BinaryIO, compress: bool = True) -> None:
    """Write any object that the format knows to an open file."""
    encoder = Encoder()
    root = encoder.encode(value)
    document = {
        "format": FORMAT,
        "sklearn_subanneal": __version__,
        "root": root,
        "objects": encoder.objects,
    }
    members = {DOCUMENT: json.dumps(document, allow_nan=False, separators=(",", ":")).encode()}
    for number, parts in enumerate(encoder.columns.values()):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.concatenate(parts), allow_pickle=False)
        members[ARRAY.format(number)] = stream.getvalue()
    members[DIGEST] = _digest(members).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            # Without the time of day, equal models are equal files.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED)


def read(file: BinaryIO, name: str, max_bytes: int = MOST_BYTES) -> Any:
    """The object in an open file; ``name`` is that of an error message."""
    try:
        members = _members(file, max_bytes)
    except DAMAGE as error:
        raise ValueError(f"{name} is no model of sklearn_subanneal, or damaged ({error}): {REMEDY}") from error
    if members.pop(DIGEST, b"").decode(errors="replace") != _digest(members):
        raise ValueError(f"{name} is damaged, its content is not what was written: {REMEDY}")
    try:
        document = json.loads(members[DOCUMENT])
        version = document["format"]
    except DAMAGE as error:
        raise ValueError(f"{name} is no model of sklearn_subanneal, it has no readable {DOCUMENT}: {REMEDY}") from error
    if version != FORMAT:
        raise ValueError(
            f"{name} has the format {version!r}, written by sklearn_subanneal {document.get('sklearn_subanneal')!r}; "
            f"this is version {__version__}, which reads the format {FORMAT}: install a later one"
        )
    try:
        columns = [_array(members[ARRAY.format(number)]) for number in range(len(members) - 1)]
        return Decoder(document["objects"], columns).decode(document["root"])
    except DAMAGE as error:
        raise ValueError(f"{name} holds no model that this version can read ({error}): {REMEDY}") from error


def _members(file, max_bytes) -> dict[str, bytes]:
    """The content of the archive, at most so many bytes."""
    with zipfile.ZipFile(file) as archive:
        total = sum(info.file_size for info in archive.infolist())
        if total > max_bytes:
            raise ValueError(f"it unfolds to {total} bytes, more than max_bytes={max_bytes}")
        out = {}
        for info in archive.infolist():
            with archive.open(info) as member:
                out[info.filename] = member.read(info.file_size)
        return out


def _array(content: bytes) -> np.ndarray:
    """An array, whose header says no more than is there."""
    stream = io.BytesIO(content)
    first = np.lib.format.read_magic(stream) == (1, 0)
    read_header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    if dtype.hasobject or int(np.prod(shape, dtype=object)) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array has another size than its header says")
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape)


def _digest(members: dict[str, bytes]) -> str:
    """SHA-256 of all members, with their names and lengths."""
    total = sha256()
    for name, content in members.items():
        total.update(f"{name}\n{len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()
