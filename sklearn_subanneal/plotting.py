"""Displays of fitted estimators and schedules, in scikit-learn's manner: made by `from_...`, drawn by `plot`."""

from sklearn_subanneal._components_display import ComponentsDisplay
from sklearn_subanneal._dependence_display import DependenceDisplay
from sklearn_subanneal._partition_displays import ClusterSizesDisplay, CoClusteringDisplay
from sklearn_subanneal._progress_displays import ScheduleDisplay, TraceDisplay
from sklearn_subanneal._temperature_display import TemperatureDisplay
from sklearn_subanneal._topics_display import TopicsDisplay
from sklearn_subanneal._tree_display import DendrogramDisplay
from sklearn_subanneal._view_displays import ViewsDisplay

__all__ = [
    "ClusterSizesDisplay",
    "CoClusteringDisplay",
    "ComponentsDisplay",
    "DendrogramDisplay",
    "DependenceDisplay",
    "ScheduleDisplay",
    "TemperatureDisplay",
    "TopicsDisplay",
    "TraceDisplay",
    "ViewsDisplay",
]
