"""Prior distributions of a partition."""

from sklearn_subanneal.partitions.priors import CRP, PitmanYor

__all__ = ["CRP", "PitmanYor"]
