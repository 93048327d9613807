"""Topic models by variational inference, and what fitted topics are, in arrays and DataFrames, for any topic model.

The models themselves are estimators, such as :class:`~sklearn_subanneal.VariationalTemperingLDA`.
"""

import importlib

# Imported where they are first used: the kernels of this package import none of what these need.
_MODULES = {
    "Prevalence": "prevalence",
    "document_shares": "topic_frames",
    "relevance": "word_relevance",
    "to_pyldavis": "pyldavis",
    "topic_prevalence": "prevalence",
    "topic_summary": "topic_frames",
    "topics_to_frame": "topic_frames",
}

__all__ = list(_MODULES)


def __getattr__(name):
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
