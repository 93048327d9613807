"""Objects from a tree of JSON values and the arrays to which it refers: no code of the file's choice is run."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_subanneal.portable.classes import class_of
from sklearn_subanneal.portable.encoding import BIT_GENERATORS, REQUESTS


class Decoder:
    """Decodes what an :class:`Encoder` made.

    Parameters
    ----------
    objects : list of dict
    columns : sequence of ndarray
        Flat arrays, in the order of the encoder's dtypes.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError, AttributeError
        By ``decode``, if the values are not as an encoder makes them.
    """

    def __init__(self, objects: list[dict], columns: Sequence[np.ndarray]):
        self._objects = objects
        self._columns = columns
        self._made: dict[int, Any] = {}

    def decode(self, value: Any) -> Any:
        """The object that a JSON value stands for."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = next(iter(value))
        return getattr(self, f"_{KINDS[kind]}")(value)

    def _float(self, value):
        return float(value["float"])

    def _class(self, value):
        return class_of(value["class"])

    def _object(self, value):
        place = value["object"]
        if place not in self._made:
            stored = self._objects[place]
            cls = class_of(stored["class"])
            if issubclass(cls, tuple):
                self._made[place] = tuple.__new__(cls, [self.decode(item) for item in stored["items"]])
            else:
                # Before its attributes, which may refer to it.
                made = self._made[place] = cls.__new__(cls)
                state = {key: self.decode(own) for key, own in stored["state"].items()}
                if REQUESTS in state:
                    state[REQUESTS] = requests_of(made, state[REQUESTS])
                vars(made).update(state)
        return self._made[place]

    def _tuple(self, value):
        return tuple(self.decode(value["tuple"]))

    def _dict(self, value):
        return {key: self.decode(item) for key, item in value["dict"].items()}

    def _pairs(self, value):
        return {self.decode(key): self.decode(item) for key, item in value["pairs"]}

    def _set(self, value):
        return set(self.decode(value["set"]))

    def _frozenset(self, value):
        return frozenset(self.decode(value["frozenset"]))

    def _array(self, value):
        # One array for all references to it.
        key = tuple(map(str, value["array"]))
        if key not in self._made:
            column, start, shape = value["array"]
            size = int(np.prod(shape, dtype=np.int64))
            flat = self._columns[column][start : start + size]
            self._made[key] = flat.reshape(shape, order=value.get("order", "C")).copy(order="K")
        return self._made[key]

    def _objects_of_array(self, value):
        out = np.empty(len(value["objects"]), object)
        for i, item in enumerate(self.decode(value["objects"])):
            out[i] = item
        return out.reshape(value["shape"])

    def _scalar(self, value):
        return self._array(value["scalar"])[()]

    def _csr(self, value):
        parts = tuple(self.decode(value["csr"]))
        kind = sparse.csr_matrix if value["matrix"] else sparse.csr_array
        out = kind(parts, shape=tuple(value["shape"]))
        # Kernels of sparse matrices do not check indices.
        out.check_format(full_check=True)
        return out

    def _dtype(self, value):
        return np.lib.format.descr_to_dtype(value["dtype"])

    def _bit_generator(self, value):
        if value["bit_generator"] not in BIT_GENERATORS:
            raise ValueError(f"there is no bit generator {value['bit_generator']!r}")
        made = getattr(np.random, value["bit_generator"])(0)
        made.state = self.decode(value["state"])
        return made

    def _generator(self, value):
        return np.random.Generator(self.decode(value["generator"]))

    def _random_state(self, value):
        made = np.random.RandomState()
        made.set_state(self.decode(value["random_state"]))
        return made

    def _bytes(self, value):
        return base64.b64decode(value["bytes"], validate=True)

    def _slice(self, value):
        return slice(*value["slice"])


def requests_of(owner: Any, methods: Mapping[str, Mapping]) -> MetadataRequest:
    """The object of scikit-learn that says which metadata a model requests, from plain names for each method."""
    out = MetadataRequest(owner=owner)
    for method, requests in methods.items():
        for param, alias in requests.items():
            vars(out)[method].add_request(param=param, alias=alias)
    return out


KINDS = {
    name: name
    for name in (
        "float class object tuple dict pairs set frozenset array scalar csr dtype bit_generator generator random_state "
        "bytes slice"
    ).split()
} | {"objects": "objects_of_array"}
