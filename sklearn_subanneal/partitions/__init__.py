"""Prior distributions of a partition."""

from sklearn_subanneal.partitions.priors import CRP, NGGP, NIG, PitmanYor

__all__ = ["CRP", "NGGP", "NIG", "PitmanYor"]
