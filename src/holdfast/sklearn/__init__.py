"""Estimators for scikit-learn that a few wrong rows cannot ruin."""

try:
    import sklearn  # noqa: F401
except ImportError as problem:
    raise ImportError("holdfast.sklearn needs scikit-learn: pip install 'holdfast[sklearn]'") from problem

from holdfast.sklearn.classifier import RobustClassifier
from holdfast.sklearn.display import AuditDisplay
from holdfast.sklearn.regressor import RobustRegressor

__all__ = ["AuditDisplay", "RobustClassifier", "RobustRegressor"]
