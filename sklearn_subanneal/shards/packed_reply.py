"""PackedReply, the reply of a block as two vectors, which are added at once however many arrays a reply has."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

import numpy as np


@dataclass(slots=True)
class _Form:
    """What is in a tuple, list or dict of a reply: the places of integers, of reals, and of further forms.

    Attributes
    ----------
    kind : type
        Tuple, list or dict.
    places : list
        All, in their order.
    integers, reals : dict
        By the place, the shape of an array, or None for a number.
    forms : dict
        By the place.
    """

    kind: type
    places: list
    integers: dict = field(default_factory=dict)
    reals: dict = field(default_factory=dict)
    forms: dict = field(default_factory=dict)

    @classmethod
    def of(cls, reply: tuple | list | dict) -> _Form:
        form = cls(type(reply), list(reply if isinstance(reply, dict) else range(len(reply))))
        for place in form.places:
            own = reply[place]
            if isinstance(own, tuple | list | dict):
                form.forms[place] = cls.of(own)
            else:
                leaves = form.reals if np.asarray(own).dtype.kind == "f" else form.integers
                leaves[place] = own.shape if isinstance(own, np.ndarray) else None
        return form

    def collect(self, reply, integers: list, reals: list) -> None:
        """Append what a reply of this form has."""
        integers += [reply[place] for place in self.integers]
        reals += [reply[place] for place in self.reals]
        for place, form in self.forms.items():
            form.collect(reply[place], integers, reals)

    def restored(self, integers: _Taken, reals: _Taken):
        """The reply of which vectors have been made."""
        found = {place: integers.take(shape) for place, shape in self.integers.items()}
        found |= {place: reals.take(shape) for place, shape in self.reals.items()}
        found |= {place: form.restored(integers, reals) for place, form in self.forms.items()}
        if self.kind is dict:
            return {place: found[place] for place in self.places}
        return self.kind(found[place] for place in self.places)


class _Taken:
    """A vector from which arrays are taken, one after the other."""

    def __init__(self, vector: np.ndarray):
        self._vector, self._used = vector, 0

    def take(self, shape: tuple | None):
        start = self._used
        self._used += 1 if shape is None else prod(shape)
        own = self._vector[start : self._used]
        return own[0].item() if shape is None else own.reshape(shape)


class PackedReply(NamedTuple):
    """A reply of numbers and arrays in tuples, lists and dicts, packed.

    Attributes
    ----------
    form : _Form
        Of the reply in a list.
    integers : ndarray of int64
    reals : ndarray of float64

    Examples
    --------
    >>> (pack([1, {"a": 0.5}]) + pack([2, {"a": 0.25}])).unpacked()
    [3, {'a': 0.75}]
    """

    form: _Form
    integers: np.ndarray
    reals: np.ndarray

    def __add__(self, other: PackedReply) -> PackedReply:
        """The sum of two replies of the same form, place by place."""
        return PackedReply(self.form, self.integers + other.integers, self.reals + other.reals)

    def unpacked(self):
        """The reply; integers are int64."""
        return self.form.restored(_Taken(self.integers), _Taken(self.reals))[0]


def pack(reply, like: PackedReply | None = None) -> PackedReply:
    """Pack a reply; that of another block, which has the same form, saves finding it."""
    form = _Form.of([reply]) if like is None else like.form
    pieces: tuple[list, list] = [], []
    form.collect([reply], *pieces)
    vectors = (
        np.concatenate(own, axis=None, dtype=dtype) if own else np.zeros(0, dtype)
        for own, dtype in zip(pieces, (np.int64, np.float64), strict=True)
    )
    return PackedReply(form, *vectors)
