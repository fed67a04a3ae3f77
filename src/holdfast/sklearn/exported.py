"""The model of a run as an estimator of scikit-learn, which `holdfast export` writes."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from holdfast.io.rows import Batch, unreadable
from holdfast.io.sources import keys_of
from holdfast.runs.model import Model


class _Exported(BaseEstimator):
    """Predicts as `holdfast predict` does. It cannot be fitted: `holdfast learn` did that."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The columns, in the order in which an array has them; with a key, its column comes last."""
        return np.array(self._columns(), object)

    @property
    def n_features_in_(self) -> int:
        return len(self._columns())

    def predict(self, X: Any) -> NDArray[Any]:
        """The prediction for each row: NaN, or None for labels, if there is none.

        Parameters
        ----------
        X : a data frame, a table of Arrow, a dictionary of columns, or an array
            With the columns of the run, by name; an array has them in the order of `feature_names_in_`.
        """
        outcomes = self._outcomes(X)
        answers = np.array(self.model.answers(outcomes))
        answers[np.isnan(outcomes).all(axis=1)] = np.nan if self.model.target.regression else None
        return answers

    def _outcomes(self, X: Any) -> NDArray[np.float64]:
        batch, model = self._batch(X), self.model
        rows, faults = model.layout.rows(batch, 0, len(batch.rows), forgiving=True)
        places = np.zeros(len(batch.rows), int)
        if model.key is not None:
            known = pa.array(model.keys, pa.string())
            found = pc.index_in(keys_of(batch.columns[model.key], model.key, "X"), known)
            places = pc.fill_null(found, -1).to_numpy().astype(int)
        outcomes = model.outcomes(rows, places)
        outcomes[unreadable(faults)] = np.nan
        return outcomes

    def _batch(self, X: Any) -> Batch:
        names = self._columns()
        if isinstance(X, np.ndarray | list):
            X = np.asarray(X)
            if X.ndim != 2 or X.shape[1] != len(names):
                raise ValueError(f"X needs the columns {', '.join(names)}: got shape {X.shape}")
            X = {name: X[:, i] for i, name in enumerate(names)}
        found = {name: X[name] for name in names}  # a KeyError names the column
        columns = {name: _as_array(column) for name, column in found.items()}
        return Batch(columns, 1 + np.arange(len(next(iter(columns.values())))), {})

    def _columns(self) -> list[str]:
        key = [] if self.model.key is None else [self.model.key]
        return [column.name for column in self.model.layout.columns] + key


class ExportedRegressor(RegressorMixin, _Exported):
    """The model of a run that predicts numbers."""


class ExportedClassifier(ClassifierMixin, _Exported):
    """The model of a run that predicts labels."""

    @property
    def classes_(self) -> NDArray[np.object_]:
        return np.array(self.model.target.labels, object)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """A number for each row and label, positive if the label fits; with two labels for the second."""
        outcomes = self._outcomes(X)
        return outcomes[:, 0] if outcomes.shape[1] == 1 else outcomes


def _as_array(column: Any) -> Any:
    """A column of Arrow; missing cells are null or NaN."""
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks()
    if isinstance(column, pa.Array):
        return column
    found = pa.Array.from_pandas(column) if hasattr(column, "to_numpy") else pa.array(column)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
