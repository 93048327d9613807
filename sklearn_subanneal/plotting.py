"""Displays of fitted estimators and schedules, in scikit-learn's manner: made by `from_...`, drawn by `plot`."""

from sklearn_subanneal._partition_displays import ClusterSizesDisplay, CoClusteringDisplay
from sklearn_subanneal._progress_displays import ScheduleDisplay, TraceDisplay

__all__ = ["ClusterSizesDisplay", "CoClusteringDisplay", "ScheduleDisplay", "TraceDisplay"]
