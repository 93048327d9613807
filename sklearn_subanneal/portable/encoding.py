"""Objects as a tree of JSON values, and the arrays to which it refers."""

from __future__ import annotations

import base64
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_subanneal.portable.classes import class_name

# Attributes that belong to a process, not to a model, and a version that scikit-learn adds to the state of its own.
LEFT_OUT = ("_skl_callbacks", "_sklearn_version")
# The attribute in which scikit-learn keeps which metadata a model requests.
REQUESTS = "_metadata_request"
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class NotPortable(TypeError):
    """An object that a portable file cannot hold."""


@dataclass
class Encoder:
    """Encodes one object; equal objects and arrays that are one object are stored once.

    Attributes
    ----------
    objects : list of dict
        The class and the attributes of each object of the package.
    columns : dict of str to list of ndarray
        Flat arrays by their dtypes, to be concatenated.
    """

    objects: list[dict] = field(default_factory=list)
    columns: defaultdict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    _places: dict[int, Any] = field(default_factory=dict)
    _lengths: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    # Identities are those of living objects only.
    _kept: list = field(default_factory=list)

    def encode(self, value: Any, path: str = "model") -> Any:
        """A JSON value for an object; ``path`` says in an error where it was found.

        Raises
        ------
        NotPortable
            If it, or something in it, is of a type that files do not hold.
        """
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, type):
            return {"class": self._class_name(value, path)}
        for types, encode in self._plain:
            if isinstance(value, types):
                return encode(self, value, path)
        return self._object(value, path)

    def _class_name(self, cls, path):
        name = class_name(cls)
        if name is None:
            remedy = (
                "Convert the column to strings before fit, by astype(str),"
                if ".categories" in path
                else "Set it to a number, a name, or an object of sklearn_subanneal,"
            )
            raise NotPortable(
                f"{path} is or holds a {cls.__module__}.{cls.__qualname__}, which a portable file cannot hold. "
                f"{remedy} or save the model by joblib.dump"
            )
        return name

    def _object(self, value, path):
        if id(value) not in self._places:
            name = self._class_name(type(value), f"{path} ({type(value).__name__})")
            self._kept.append(value)
            self._places[id(value)] = len(self.objects)
            stored: dict = {"class": name}
            self.objects.append(stored)
            if isinstance(value, tuple):
                stored["items"] = [self.encode(item, f"{path}.{i}") for i, item in enumerate(value)]
            else:
                attributes = self._attributes(value, path)
                stored["state"] = {
                    key: self.encode(own, f"{path}.{key}") for key, own in attributes.items() if key not in LEFT_OUT
                }
        return {"object": self._places[id(value)]}

    def _attributes(self, value, path):
        """Those of a pickle: some classes leave out what is computed anew, or room for further rows."""
        state = value.__getstate__()
        if not isinstance(state, dict | None):
            raise NotPortable(
                f"{path} is a {type(value).__name__}, whose state is not a dict of attributes; a portable file cannot "
                "hold it. Save the model by joblib.dump"
            )
        state = dict(state or {})
        if isinstance(state.get(REQUESTS), MetadataRequest):
            methods = {name: own for name, own in vars(state[REQUESTS]).items() if name != "owner"}
            state[REQUESTS] = {name: own.requests for name, own in methods.items() if own.requests}
        return state

    def _tuple(self, value, path):
        if type(value) is not tuple:
            return self._object(value, path)
        return {"tuple": [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value)]}

    def _dict(self, value, path):
        if all(type(key) is str for key in value):
            return {"dict": {key: self.encode(item, f"{path}[{key!r}]") for key, item in value.items()}}
        pairs = [[self.encode(key, path), self.encode(item, f"{path}[{key!r}]")] for key, item in value.items()]
        return {"pairs": pairs}

    def _set(self, value, path):
        kind = "frozenset" if isinstance(value, frozenset) else "set"
        return {kind: [self.encode(item, path) for item in sorted(value, key=repr)]}

    def _array(self, value, path):
        if value.dtype.hasobject:
            items = [self.encode(item, path) for item in value.ravel().tolist()]
            return {"objects": items, "shape": list(value.shape)}
        if id(value) not in self._places:
            self._kept.append(value)
            is_fortran = value.flags.f_contiguous and not value.flags.c_contiguous
            name = np.lib.format.dtype_to_descr(value.dtype)
            key = name if isinstance(name, str) else repr(name)
            start = self._lengths[key]
            self.columns[key].append(value.ravel(order="F" if is_fortran else "C"))
            self._lengths[key] += value.size
            place = {"array": [list(self.columns).index(key), start, list(value.shape)]}
            self._places[id(value)] = place | ({"order": "F"} if is_fortran else {})
        return self._places[id(value)]

    def _scalar(self, value, path):
        return {"scalar": self._array(np.array(value), path)}

    def _sparse(self, value, path):
        rows = value.tocsr()
        parts = [self._array(own, path) for own in (rows.data, rows.indices, rows.indptr)]
        return {"csr": parts, "shape": list(rows.shape), "matrix": sparse.isspmatrix(value)}

    def _bit_generator(self, value, path):
        name = type(value).__name__
        if name not in BIT_GENERATORS:
            return self._object(value, path)
        return {"bit_generator": name, "state": self.encode(value.state, path)}

    def _plain_bytes(self, value, path):
        return {"bytes": base64.b64encode(value).decode()}

    _plain = (
        (tuple, _tuple),
        (dict, _dict),
        (set | frozenset, _set),
        (np.ndarray, _array),
        (np.generic, _scalar),
        (np.dtype, lambda self, value, path: {"dtype": np.lib.format.dtype_to_descr(value)}),
        (sparse.csr_array | sparse.csr_matrix, _sparse),
        (np.random.BitGenerator, _bit_generator),
        (np.random.Generator, lambda self, value, path: {"generator": self.encode(value.bit_generator, path)}),
        (np.random.RandomState, lambda self, value, path: {"random_state": self.encode(value.get_state(False), path)}),
        (bytes, _plain_bytes),
        (slice, lambda self, value, path: {"slice": [value.start, value.stop, value.step]}),
    )
