"""Prior distributions of a partition: Dirichlet process, Pitman-Yor process, normalized random measures."""

from sklearn_subanneal.partitions.priors import CRP, NAMED, NGGP, NIG, Partition, PitmanYor, resolve_partition

__all__ = ["CRP", "NAMED", "NGGP", "NIG", "Partition", "PitmanYor", "resolve_partition"]
