"""Data sets: an included table of hospital regions, and generators of tables from known mixtures."""

from sklearn_subanneal.datasets._generators import make_gaussian_mixture, make_planted_views
from sklearn_subanneal.datasets._hospitals import load_hospitals

__all__ = ["load_hospitals", "make_gaussian_mixture", "make_planted_views"]
