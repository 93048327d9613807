"""Reports on tables in files: CrossCat is fitted, and the results are written as a web page, CSV files and a model."""

from sklearn_subanneal.report.folder import write_report
from sklearn_subanneal.report.learning import LearnedModel, Plan, learn
from sklearn_subanneal.report.source import Source, read_source
from sklearn_subanneal.report.types_writer import write_types

__all__ = ["LearnedModel", "Plan", "Source", "learn", "read_source", "write_report", "write_types"]
