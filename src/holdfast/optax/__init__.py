"""Optax: a wrapper that makes any gradient transformation skip the steps whose gradients are outliers.

>>> optimizer = guarded(optax.adamw(1e-3), outliers=0.01)  # doctest: +SKIP
"""

try:
    import optax  # noqa: F401
except ImportError as error:
    raise ImportError("holdfast.optax needs Optax: pip install 'holdfast[optax]'") from error

from holdfast.optax.guarded import GuardedOptState, audit_of, guarded

__all__ = ["GuardedOptState", "audit_of", "guarded"]
