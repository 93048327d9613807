"""Presentation, how a fitted model is shown: its main picture by ``plot``, and with some facts in notebooks."""

from __future__ import annotations

import base64
import html
import io
import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.estimators._model_facts import facts_of

# What a notebook shows is made anew each time, and must take less than a second. Of more labels in all draws the spread
# of the sizes is left out; a matrix with more columns, or weights of more words, are not drawn.
MOST_LABELS, MOST_COLUMNS, MOST_WEIGHTS = 2_000_000, 400, 4_000_000
# A notebook keeps the picture in its file.
MOST_BYTES = 100_000
PIXELS_PER_INCH = 80
# Inches of pictures, and how many topics are shown in a notebook.
INCHES = {"DependenceDisplay": (6.4, 5.6), "TopicsDisplay": (8.0, 4.4)}
USUAL_INCHES, MOST_TOPICS = (6.4, 3.6), 8


class Presentation:
    """The main picture of a model: a mixin, to the left of ``BaseEstimator``.

    A subclass has ``_main_display``, the name of a class of :mod:`sklearn_subanneal.plotting`, or ``_presented``.
    """

    _main_display: str

    @property
    def _presented(self):
        """The fitted model that is shown: of an estimator that adds another interface to a model, that model."""
        return self

    def plot(self, **kwargs: Any) -> Any:
        """Draw the main picture of the fitted model.

        Sizes of the clusters (:class:`~sklearn_subanneal.plotting.ClusterSizesDisplay`) of a mixture; dependence of the
        columns (:class:`~sklearn_subanneal.plotting.DependenceDisplay`) of a cross-categorization; words of the topics
        (:class:`~sklearn_subanneal.plotting.TopicsDisplay`); components of a factorial mixture
        (:class:`~sklearn_subanneal.plotting.ComponentsDisplay`); the log joint density of the draws
        (:class:`~sklearn_subanneal.plotting.TraceDisplay`) of a Gaussian process. An estimator that adds another
        interface to one of these models draws the picture of that model.

        Parameters
        ----------
        **kwargs
            Those of ``from_estimator`` of the display, such as ``ax``.

        Returns
        -------
        display : object
            The display, whose ``figure_`` and ``ax_`` are matplotlib's.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import SubsampleAnnealedDPMM
        >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 8 * (np.arange(60) % 3)[:, None]
        >>> display = SubsampleAnnealedDPMM(n_chains=1, random_state=0).fit(X).plot()
        >>> display.sizes
        array([20, 20, 20])
        """
        check_is_fitted(self)
        model = self._presented
        if model is not self:
            return model.plot(**kwargs)
        from sklearn_subanneal import plotting

        return getattr(plotting, self._main_display).from_estimator(self, **kwargs)

    def _html_repr(self) -> str:
        """The diagram of scikit-learn, and below it facts of the fit and the main picture."""
        diagram = super()._html_repr()
        # A notebook shows an estimator in whatever state it is: nothing of what is added may stand in the way.
        try:
            check_is_fitted(self)
            return diagram + _summary(self._presented)
        except Exception:
            return diagram


def _summary(model: Presentation) -> str:
    """Facts and picture of a fitted model as HTML."""
    lines = "<br>".join(html.escape(line) for line in facts_of(model))
    try:
        image = _png(model)
    except Exception:
        # Such as fonts of the user's style that are not there: the facts are still worth showing.
        image = b""
    picture = ""
    if image and len(image) <= MOST_BYTES:
        source = f"data:image/png;base64,{base64.b64encode(image).decode()}"
        picture = f'<br><img alt="the main picture of the model" src="{source}">'
    return f'<div class="subanneal-summary" style="font-family: sans-serif; margin-top: 0.5em">{lines}{picture}</div>'


def _png(model: Presentation) -> bytes:
    """The picture, or nothing if matplotlib is not installed or the model is too large."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return b""
    # Names from data are no formulas. Figures of pyplot would be shown a second time at the end of the cell.
    style = {"text.usetex": False, "text.parse_math": False}
    with rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = Figure(INCHES.get(model._main_display, USUAL_INCHES), dpi=PIXELS_PER_INCH, layout="constrained")
        FigureCanvasAgg(figure)
        if not _drawn(model, figure.add_subplot()):
            return b""
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=PIXELS_PER_INCH)
    return out.getvalue()


def _drawn(model: Presentation, ax) -> bool:
    """Draw the main picture, if that is quick."""
    from sklearn_subanneal.plotting import ClusterSizesDisplay

    name, options = model._main_display, {}
    if name == "ClusterSizesDisplay" and model.posterior_labels_.size > MOST_LABELS:
        ClusterSizesDisplay(np.sort(np.bincount(model.labels_))[::-1]).plot(ax)
        return True
    if name == "DependenceDisplay" and model.n_features_in_ > MOST_COLUMNS:
        return False
    if name in ("TopicsDisplay", "ComponentsDisplay") and model.components_.size > MOST_WEIGHTS:
        return False
    if name == "TopicsDisplay":
        options = {"max_topics": MOST_TOPICS}
    model.plot(ax=ax, **options)
    return True
