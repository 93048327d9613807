"""Types of columns: reading of their cells, likelihood and prior, and kernels that score all clusters at once."""

from sklearn_subanneal.columns.atoms import find_atoms
from sklearn_subanneal.columns.bag_of_words import BagOfWords
from sklearn_subanneal.columns.binding import KINDS, bind_bags, bind_columns
from sklearn_subanneal.columns.categorical import Boolean, Categorical
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.count import Count
from sklearn_subanneal.columns.cyclic import Cyclic
from sklearn_subanneal.columns.gaussian import Gaussian
from sklearn_subanneal.columns.ordinal import Ordinal
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.semicontinuous import Semicontinuous
from sklearn_subanneal.columns.skewed import Skewed
from sklearn_subanneal.columns.transform_choice import choose_transform, transform_evidence
from sklearn_subanneal.columns.transforms import Logarithm, Transform, YeoJohnson
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.columns.type_evidence import TypeEvidence

__all__ = [
    "KINDS",
    "BagOfWords",
    "Boolean",
    "Categorical",
    "ColumnModel",
    "Count",
    "Cyclic",
    "Gaussian",
    "Hyperparameter",
    "Logarithm",
    "Ordinal",
    "Real",
    "Semicontinuous",
    "Skewed",
    "Transform",
    "TypeEvidence",
    "YeoJohnson",
    "bind_bags",
    "bind_columns",
    "choose_transform",
    "choose_type",
    "find_atoms",
    "transform_evidence",
]
