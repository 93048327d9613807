"""Changes of the bytes, of the members and of the JSON of files, at random: what an attacker or a bad disk may do."""

from __future__ import annotations

import io
import zipfile

import numpy as np

from sklearn_subanneal.portable import model_file


def changed_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """With some bits flipped, and sometimes cut, repeated in part, or with bytes put in."""
    data = bytearray(content)
    for place in rng.integers(len(data), size=rng.integers(1, 4)):
        data[place] ^= 1 << rng.integers(8)
    kind, at = rng.random(), int(rng.integers(1, len(data)))
    if kind < 0.2:
        return bytes(data[:at])
    if kind < 0.3:
        part = data[at : at + int(rng.integers(1, 200))]
        return bytes(data[:at] + part * int(rng.integers(1, 4)) + data[at:])
    if kind < 0.4:
        return bytes(data[:at] + rng.bytes(int(rng.integers(1, 9))) + data[at:])
    return bytes(data)


OTHER_VALUES = [
    None, -1, 10**12, "os.system", [], {}, {"object": 0}, {"array": [0, 0, [2]]}, {"class": "os.system"}, 1e308, True,
    "", 2**63, [[0]], {"array": [0, -1, [1, 1]]}, {"tuple": []}, {"dict": {}}, {"float": "nan"}, {"float": "1e400"},
    {"bytes": "AA=="}, {"slice": [None, None, 0]}, {"dtype": "|O"}, {"csr": [], "shape": [1, 1], "matrix": True},
    {"array": [0, 0, [2**40, 2**40]]}, {"object": -1}, 0, 1, 0.5, "x" * 1000,
]  # fmt: skip


def mutated(value, rng: np.random.Generator):
    """A JSON value in which one place has another value."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[rng.integers(len(value))]
        if rng.random() < 0.03:
            return {own: item for own, item in value.items() if own != key}
        return value | {key: mutated(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.integers(len(value))
        return [*value[:place], mutated(value[place], rng), *value[place + 1 :]]
    if type(value) is int and rng.random() < 0.5:
        return value + int(rng.choice([-1, 1, 7, 1000, -1000]))
    return OTHER_VALUES[rng.integers(len(OTHER_VALUES))]


def members(content: bytes) -> dict[str, bytes]:
    """The members of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], signed: bool = True) -> bytes:
    """An archive of these members, with the digest that suits them: the work of somebody who knows the format."""
    parts = {name: own for name, own in parts.items() if name != model_file.DIGEST}
    if signed:
        parts[model_file.DIGEST] = model_file._digest(parts).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, own in parts.items():
            archive.writestr(name, own)
    return stream.getvalue()


def changed_array(content: bytes, rng: np.random.Generator) -> bytes:
    """A NumPy array of another content: a few of its numbers are others, as extreme as its dtype has them."""
    stream = io.BytesIO(content)
    array = np.load(stream, allow_pickle=False).copy()
    flat = array.reshape(-1)
    if array.dtype.kind in "iu":
        ends = np.iinfo(array.dtype)
        values = [ends.min, ends.max, 0, 1, -1 if ends.min < 0 else 2, 1000 % ends.max]
    elif array.dtype.kind == "f":
        values = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 5e-324]
    else:
        return changed_bytes(content, rng)
    for place in rng.integers(max(flat.size, 1), size=rng.integers(1, 4)) if flat.size else ():
        with np.errstate(all="ignore"):
            flat[place] = values[rng.integers(len(values))]
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()
