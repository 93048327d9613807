"""Displays of fitted estimators and schedules, in scikit-learn's manner: made by `from_...`, drawn by `plot`."""

from sklearn_subanneal.plotting.components import ComponentsDisplay
from sklearn_subanneal.plotting.dependence import DependenceDisplay
from sklearn_subanneal.plotting.partition import ClusterSizesDisplay, CoClusteringDisplay
from sklearn_subanneal.plotting.progress import ScheduleDisplay, TraceDisplay
from sklearn_subanneal.plotting.temperature import TemperatureDisplay
from sklearn_subanneal.plotting.topics import TopicsDisplay
from sklearn_subanneal.plotting.tree import DendrogramDisplay
from sklearn_subanneal.plotting.views import ViewsDisplay

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
