"""Prior distributions of a partition."""

from sklearn_subanneal.partitions.priors import CRP, NAMED, NGGP, NIG, Partition, PitmanYor, resolve

__all__ = ["CRP", "NAMED", "NGGP", "NIG", "Partition", "PitmanYor", "resolve"]
