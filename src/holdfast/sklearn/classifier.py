"""RobustClassifier: predict two or more classes."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length

from holdfast.linear_model import class_margins, log_probabilities, models_for
from holdfast.options import Outliers
from holdfast.sklearn.passes import Labels, LearningEstimator
from holdfast.sklearn.rows import Weights, missing_labels, warn_of_alike, which_count

_UNKNOWN = -1  # instead of the number of a class


class RobustClassifier(ClassifierMixin, LearningEstimator):
    """A linear classifier for tables in which some rows are arbitrarily wrong.

    It learns from one row after the other, as `SGDClassifier` does, and skips a row if one of its features is
    too far from the others, compared with the rows before. Labels that may be wrong count less. Features are
    standardised with the running mean and spread of the rows learned from. With more than two classes there
    is a model for each pair of classes, and with more than 20 a model for each class against the rest.
    `holdfast.steady.Steady` has the details.

    Parameters
    ----------
    outliers : "auto", a share such as 0.05 or "5%", a count, or a filter
        How many rows may be wrong, whatever `n_epochs` is. "auto" tolerates 15 % of wrong rows, and some 5 %
        of wrong labels; with another learner or loss, 1 % of the labels of each class. 0 keeps every row that
        is finite. In the first 2,500 rows shares below 0.4 all mean the same, as in `RobustRegressor`.
    loss : "log_loss", "hinge", "squared_hinge", or a loss of holdfast
    learner : a learner or the name of one, optional
        By default "logits", `holdfast.steady.Logits`: five logistic regressions that forget at different
        rates. With more than 300 columns a row costs O(columns). Sparse rows are learned from as dense ones,
        up to 1,000 columns. With more, for other losses, and with learning_rate, alpha, scale=False or
        average=True, it is `AdaGrad(Box(-10, 10), rate=0.008, ballast=1)`, of first order, which takes
        O(nonzeros) for a sparse row. It has one weight more than there are features, for the intercept,
        unless fit_intercept=False. Names, such as "logits", "adagrad" and "ogd", are those of
        `holdfast.options`. A learner that is made for another loss is refused.
    memory, patience : "auto" or a number of rows
        For the default learner: the longest memory of a regression ("auto": for ever), and how many bad rows
        in a row are withstood ("auto": 1000).
    learning_rate : float, optional
        The factor of the steps: `rate` of `AdaGrad`, `scale` of the adaptive steps of `OGD`. By default that
        of the learner. `learner__rate` and other parameters of rules can be searched too.
    alpha : float
        The strength of an L2 penalty, alpha / 2 ‖w‖², on the weights of the standardised features
        (`holdfast.learners.Penalized`). The constant has no penalty.
    scale : bool
        Whether features have a running scale. Sparse rows that are not learned from as dense ones keep most
        zeros: a column is divided by its largest absolute value. In `fit` its median in the first rows,
        which for most columns is 0, is subtracted before.
    fit_intercept : bool
        False needs scale=False.
    average : bool
        Whether to predict with the mean of the weights over the last pass of `fit`, or over all calls of
        `partial_fit`.
    class_weight : dict, "balanced" or None
        Weights of the classes; they are multiplied by `sample_weight`. The filter measures the gradient of
        the weighted loss.
    n_epochs : "auto" or int
        The number of passes of `fit`. "auto" is 5. For the default learner with up to 300 columns it is the
        number after which 5,000 rows have been seen, at most 5. The first pass judges each row. A row that it
        skips is left out of the other passes, unless it may have been skipped only because it was one of the
        first rows.
    shuffle : bool
        Whether each pass of `fit` has another order of the rows.
    random_state : int, RandomState or None
        For the order.
    missing : "impute", "skip" or "raise"
        What to do with NaN. "impute": the cell counts as the running mean of its column, in `fit` and in
        `predict`; with scale=False as 0. A column without any value in `fit` is left out, with a warning.
        A row without a label is skipped, unless it is "raise".
        "skip": the row is not learned from. "raise": an error. A row with an infinite cell is skipped, with
        "raise" it is an error.
    missing_share : float
        With missing="impute", a row of which more cells are missing is skipped.
    audit_size : int
        The largest number of skipped rows in `audit_`.
    journal : int or None
        So that `forget` can take rows back: `partial_fit` keeps every row, and a copy of the model after
        every so many rows. `holdfast.Journal` says what that costs. None keeps nothing.
    on_event : callable
        Called with each `holdfast.levels.Event` of the rows of `partial_fit`: skipped rows that are a glitch
        or a change, and columns that are frozen. Such as a `holdfast.levels.Webhook`, or
        `holdfast.levels.Events`, to iterate over them. By default nothing is looked for. It is the same
        object in clones.

    Attributes
    ----------
    classes_ : array
        The labels.
    n_iter_, n_features_in_, feature_names_in_
        Passes, features, and their names if they have any.
    kept_mask_ : bool array
        For each row of the last call of `fit` or `partial_fit`, whether it was kept. A row of weight 0 was
        not. After `fit`, a kept row is one that the last pass learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.sklearn import RobustClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = np.where(X[:, 0] > 0.0, "yes", "no")
    >>> X[:10] = 1e6
    >>> X[10] = np.nan
    >>> model = RobustClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]).tolist()
    ['yes', 'no']
    >>> model.audit_counts_["not readable"]
    1
    """

    _regression = False
    class_weight: Any

    def __init__(
        self,
        outliers: Outliers = "auto",
        *,
        loss: Any = "log_loss",
        learner: Any = None,
        memory: str | float = "auto",
        patience: str | float = "auto",
        delay: str | int = "batch",
        learning_rate: float | None = None,
        alpha: float = 0.0,
        scale: bool = True,
        fit_intercept: bool = True,
        average: bool = False,
        class_weight: Any = None,
        n_epochs: str | int = "auto",
        shuffle: bool = True,
        random_state: Any = None,
        missing: str = "impute",
        missing_share: float = 0.5,
        audit_size: int = 10_000,
        journal: int | None = None,
        on_event: Any = None,
    ) -> None:
        self._set_parameters(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Start again and learn in `n_epochs` passes. `sample_weight` is as in `RobustRegressor`."""
        X, (y, known) = self._read(X, first=True, all_rows=True), self._read_labels(X, y)
        self.classes_, found = np.unique(y, return_inverse=True)
        codes = _codes(found, known)
        weights = self._weights(sample_weight, X, y, codes)
        counts = which_count(weights, X.shape[0])
        if not counts.any():
            raise ValueError("all sample weights are zero: there is nothing to learn from")
        if len(np.unique(codes[counts & (codes != _UNKNOWN)])) < 2:
            raise ValueError(
                "a classifier needs rows of two classes, with a weight above 0: there is one class"
            )
        warn_of_alike(self.classes_)
        self._class_models = models_for(len(self.classes_))
        self._start(X, len(self._class_models), all_rows=True)
        self._learn_passes(X, *self._targets(codes), weights)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, row_ids: Any = None
    ) -> Self:
        """Learn from these rows once, in this order.

        With `delay="batch"` the rows of a call are judged by the forecasts at its start. With a number of
        rows it does not matter how rows are divided into calls.

        `classes` must name all labels in the first call. The unit of `sample_weight` times `class_weight` is
        the mean of the positive ones in the first call that has any: a row with this weight counts 1, in all
        calls. `row_ids` are as in `RobustRegressor`.
        """
        if self.journal is not None:
            self._learn_in_journal(X, y, row_ids, {"classes": classes, "sample_weight": sample_weight})
            return self
        first = not hasattr(self, "_games")
        if isinstance(self.class_weight, str):
            raise ValueError(f"class_weight={self.class_weight!r} needs all rows at once: use a dict, or fit")
        X, (y, known) = self._read(X, first), self._read_labels(X, y, first)
        self._name_rows(row_ids, len(known))
        if first or not (classes is None or np.array_equal(classes, self.classes_)):
            _check_partial_fit_first_call(self, classes)
        if len(self.classes_) < 2:
            raise ValueError(f"a classifier needs at least two classes: got {self.classes_.tolist()}")
        found = self.classes_[1:].searchsorted(y, side="right")
        if (self.classes_[found] != y).any():
            raise ValueError(f"y has labels that are not among the classes {self.classes_.tolist()}")
        codes = _codes(found, known)
        weights = self._weights(sample_weight, X, y, codes)
        if first:
            warn_of_alike(self.classes_)
            self._class_models = models_for(len(self.classes_))
            self._start(X, len(self._class_models))
        self._learn_once(X, *self._targets(codes), weights)
        return self

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of each model, in the units of the data: shape (models, features).

        Two classes have one model. More have those of the pairs (1, 0), (2, 0), (2, 1), (3, 0), ..., each
        positive for its first class; more than 20 have one for each class. They do not apply to a row with a
        cell so far from its center that it is squashed, more than 1.5 units.
        """
        return self._fitted_models().coefficients()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The margin of every row; with more than two classes, one for each class."""
        margins = self._predictions(X)
        return margins[:, 0] if len(self.classes_) == 2 else class_margins(margins, self._class_models)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row."""
        margins = self.decision_function(X)
        return self.classes_[(margins > 0.0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)]

    def predict_set(self, X: Any, coverage: Any = 0.9) -> NDArray[np.bool_]:
        """Which labels may be right, for every row: shape (rows, classes), in the order of `classes_`.

        Of several coverages, (rows, classes, coverages). It has the predicted label, and all labels whose
        margin is large enough. How large has followed the margins of the right labels, each before its row
        was learned from, as in `RobustRegressor.predict_interval`; all misses count. Before 32 rows all
        labels may be right, and where an interval would be infinite.
        """
        least, margins = -np.log(self._width_at(coverage)), self.decision_function(X)
        if margins.ndim == 1:
            margins = margins[:, None] * [-1.0, 1.0]
        largest = margins.max(axis=1)[:, None]
        inside = np.stack([margins >= np.minimum(largest, each) for each in least], axis=2)
        inside |= self._has_no_width(X)[:, None, None]
        return inside[:, :, 0] if np.ndim(coverage) == 0 else inside

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The logistic function of `decision_function`; with more than two classes, divided by their sum.

        With loss="log_loss" these are probabilities. With the hinge losses they are in the right order, but
        not calibrated: for that, use `sklearn.calibration.CalibratedClassifierCV`.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`."""
        return log_probabilities(self.decision_function(X))

    def _read_labels(self, X: Any, y: Any, first: bool = True) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The labels that are known, and which rows they belong to."""
        if first and _are_plain(y, X):
            return y, np.ones(len(y), bool)
        if not (not first and isinstance(y, np.ndarray) and y.shape == X.shape[:1]):
            if y is None:
                raise ValueError("RobustClassifier requires y to be passed, but the target y is None")
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        known = ~missing_labels(y)
        if self.missing == "raise" or (first and not known.any()):
            assert_all_finite(y, input_name="y")
            if not known.all():
                raise ValueError('y has missing labels: give them, or skip their rows with missing="impute"')
        if not known.all():
            y = y[known]
            if y.dtype == object and not any(isinstance(label, str) for label in y):
                y = np.array(y.tolist())  # whole numbers beside missing ones are objects in pandas
        if first:
            assert_all_finite(y, input_name="y")
            check_classification_targets(y)
        return y, known  # later, each label must be one of the classes, which were checked

    def _weights(self, sample_weight: Any, X: Any, y: NDArray[Any], codes: NDArray[np.intp]) -> Weights:
        """The weight of each row: that of the sample times that of its class; None if all are 1."""
        weights = self._read_weights(sample_weight, X)
        if self.class_weight is None:
            return weights
        classes = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        own = np.append(classes, 1.0)[codes]
        return own if weights is None else weights * own

    def _targets(self, codes: NDArray[np.intp]) -> tuple[Any, Any, Labels]:
        """The targets of each model, which rows it learns from, and a function: the labels of rows.

        A row without a label has the target NaN, so the first model skips it, and no other one sees it.
        """
        pairs = [model.split(codes) for model in self._class_models]
        targets, taught = ([pair[part] for pair in pairs] for part in (0, 1))
        unknown = codes == _UNKNOWN
        if not unknown.any():
            return targets, taught, lambda rows: self.classes_[codes[rows]]
        targets[0] = np.where(unknown, np.nan, targets[0])
        taught = [(mask | unknown) if i == 0 else (mask & ~unknown) for i, mask in enumerate(taught)]
        labels = np.array([*self.classes_, None], object)
        return targets, taught, lambda rows: labels[codes[rows]]


def _are_plain(y: Any, X: Any) -> bool:
    """Whether these are whole numbers, one for each row, and so few different ones that no check of
    scikit-learn could object. The first of its checks in a process takes 5 ms.
    """
    if not (isinstance(y, np.ndarray) and y.dtype.kind in "biu" and y.ndim == 1 and len(y) > 0):
        return False
    is_few = y.dtype.kind == "b" or int(y.max()) - int(y.min()) < len(y) // 2
    return is_few and getattr(X, "shape", ())[:1] == y.shape


def _codes(found: NDArray[np.intp], known: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The number of each row's class, from those of the rows whose label is known."""
    if len(found) == len(known):
        return found
    codes = np.full(len(known), _UNKNOWN)
    codes[known] = found
    return codes
