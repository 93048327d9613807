"""ProgressReporter: progress of a fit for callbacks of scikit-learn; callbacks of estimators within estimators."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps

from sklearn.base import BaseEstimator
from sklearn.callback import AutoPropagatedCallback, CallbackContext, CallbackSupportMixin


def callbacks_of(estimator: BaseEstimator) -> list:
    """The callbacks set on an estimator, those forwarded by a meta-estimator included.

    Scikit-learn keeps them in ``_skl_callbacks`` and has no public way to read them; this is the only place that does.
    """
    callbacks = getattr(estimator, "_skl_callbacks", [])
    return [callback.callback if isinstance(callback, ForwardedCallback) else callback for callback in callbacks]


class ProgressReporter:
    """Reports one task of a fit, its subtasks and its steps to the callbacks of an estimator.

    A task is the fit itself, or one of its chains or restarts; a step is a sweep, an iteration or a pass. A reporter
    can be pickled, so that chains in other processes report as well. It does not depend on the model or the data.

    Parameters
    ----------
    estimator : estimator
        An estimator with :class:`sklearn.callback.CallbackSupportMixin`, in a method decorated by ``with_callbacks``.
    X : object
        The training data, for callbacks that request them.
    context : CallbackContext
        Context of the task.

    Examples
    --------
    A fit of two chains with three sweeps each, in a method of an estimator::

        with ProgressReporter.of_fit(self, X, n_subtasks=2, sequential=False) as fit:
            for number in range(2):
                chain = fit.subtask("chain", number, n_steps=3)
                chain.begin()
                for sweep in range(3):
                    if chain.step({"chain": number, "sweep": sweep, "log_joint": log_joint}):
                        break  # a callback asks to end the chain
                chain.end()
    """

    def __init__(self, estimator: BaseEstimator, X, context: CallbackContext):
        self.estimator, self.X, self.context = estimator, X, context

    @classmethod
    def of_fit(cls, estimator: BaseEstimator, X, *, n_subtasks: int | None, sequential: bool = True):
        """Report that the fit of an estimator begins; in a ``with`` statement also that it ends, unless by an error.

        Parameters
        ----------
        estimator, X
            As of the class.
        n_subtasks : int or None
            Subtasks, or steps if there are no subtasks; None: unknown.
        sequential : bool, default=True
            Whether these come one after the other; subtasks that run side by side have numbers.

        Returns
        -------
        ProgressReporter
        """
        context = estimator._init_callback_context(max_subtasks=n_subtasks, sequential_subtasks=sequential)
        reporter = cls(estimator, X, context)
        reporter.begin()
        return reporter

    def __enter__(self) -> ProgressReporter:
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if kind is None:
            self.end()

    @property
    def has_listeners(self) -> bool:
        """Whether there are callbacks. Reports to none would cost more time than the steps of small data."""
        return bool(callbacks_of(self.estimator))

    def begin(self) -> None:
        """Report that the task begins; :meth:`of_fit` has done so for the fit."""
        self.context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)

    def subtask(self, name: str, number: int | None = None, n_steps: int | None = None) -> ProgressReporter:
        """A reporter of a subtask, which has not begun yet.

        Parameters
        ----------
        name : str
        number : int or None
            Number among parallel subtasks; None if subtasks are sequential.
        n_steps : int or None
            Steps of the subtask; None: unknown.
        """
        context = self.context.subcontext(
            task_name=name, task_id=number, max_subtasks=n_steps, sequential_subtasks=True
        )
        return ProgressReporter(self.estimator, self.X, context)

    def step(
        self, record: dict, attributes: Callable[[], dict] | None = None, *, name: str = "sweep", **metadata
    ) -> bool:
        """Report one step.

        Parameters
        ----------
        record : dict
            Record of the step, given to the callbacks as ``metadata["trace"]``.
        attributes : callable or None
            Function that returns the fitted attributes; called if a callback requests a fitted estimator.
        name : str, default="sweep"
            Name of the step.
        **metadata
            Further entries of the callbacks' ``metadata``.

        Returns
        -------
        stop : bool
            Whether a callback asks to end the task.
        """
        if not self.has_listeners:
            return False
        context = self.context.subcontext(task_name=name)
        context.call_on_fit_task_begin(estimator=self.estimator, X=self.X)
        return context.call_on_fit_task_end(
            estimator=self.estimator,
            X=self.X,
            metadata={"trace": record, **metadata},
            reconstruction_attributes=attributes,
        )

    def end(self, **metadata) -> None:
        """Report that the task has ended."""
        self.context.call_on_fit_task_end(estimator=self.estimator, X=self.X, metadata=metadata or None)


class ForwardedCallback:
    """A callback of a meta-estimator, called at the tasks of the estimator that it fits.

    Scikit-learn propagates some callbacks, such as its progress bar, by itself. This class forwards the others.
    The hooks of the callback receive the meta-estimator, which also sets the callback up and tears it down.

    Parameters
    ----------
    callback : callback
    estimator : estimator
        The meta-estimator.
    attribute : str
        Its attribute that holds the fitted inner estimator.
    """

    def __init__(self, callback, estimator: BaseEstimator, attribute: str):
        self.callback, self.estimator, self.attribute = callback, estimator, attribute

    @classmethod
    def of(cls, estimator: BaseEstimator, attribute: str) -> list[ForwardedCallback]:
        """Those of the callbacks of a meta-estimator that scikit-learn does not propagate."""
        return [
            cls(callback, estimator, attribute)
            for callback in callbacks_of(estimator)
            if not isinstance(callback, AutoPropagatedCallback)
        ]

    def setup(self, estimator, context) -> None:
        """Do nothing: the meta-estimator sets the callback up."""

    def teardown(self, estimator, context) -> None:
        """Do nothing: the meta-estimator tears the callback down."""

    @property
    def on_fit_task_begin(self) -> Callable:
        """The callback's hook."""
        return self._forwarded(self.callback.on_fit_task_begin)

    @property
    def on_fit_task_end(self) -> Callable:
        """The callback's hook."""
        return self._forwarded(self.callback.on_fit_task_end)

    def _forwarded(self, hook):
        # Scikit-learn inspects the signature of a hook to see which arguments it needs: it must be the callback's.
        @wraps(hook)
        def forwarded(estimator, context, **arguments):
            if arguments.get("fitted_estimator") is not None:
                fitted = copy(self.estimator)
                setattr(fitted, self.attribute, arguments["fitted_estimator"])
                arguments["fitted_estimator"] = fitted
            return hook(self.estimator, context, **arguments)

        return forwarded


class ChainCallbacksMixin(CallbackSupportMixin):
    """Base of the estimators that run chains: callbacks may record these, stop them and save them."""
