"""Displays of fitted estimators, traces and schedules with matplotlib, in the style of scikit-learn's displays."""

from sklearn_subanneal.plotting.calibration_display import CalibrationDisplay
from sklearn_subanneal.plotting.cluster_sizes import ClusterSizesDisplay
from sklearn_subanneal.plotting.co_clustering import CoClusteringDisplay
from sklearn_subanneal.plotting.components import ComponentsDisplay
from sklearn_subanneal.plotting.dendrogram import DendrogramDisplay
from sklearn_subanneal.plotting.dependence import DependenceDisplay
from sklearn_subanneal.plotting.schedule import ScheduleDisplay
from sklearn_subanneal.plotting.temperature import TemperatureDisplay
from sklearn_subanneal.plotting.topics import TopicsDisplay
from sklearn_subanneal.plotting.trace import TraceDisplay
from sklearn_subanneal.plotting.views import ViewsDisplay

__all__ = [
    "CalibrationDisplay",
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
