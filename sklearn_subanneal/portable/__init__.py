"""Fitted models in files of arrays and JSON, from which no code is run."""

from sklearn_subanneal.portable.model_file import load, save

__all__ = ["load", "save"]
