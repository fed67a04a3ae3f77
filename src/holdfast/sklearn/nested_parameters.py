"""Parameters of rules by name, such as learner__rate: for `get_params`, `set_params` and searches."""

from holdfast.role_checks import Rule
from holdfast.sklearn.parameters import as_rule, nested_parameters, with_parameter


class NestedParametersMixin:
    """`get_params` and `set_params` that reach into rules."""

    def get_params(self, deep=True):
        """The parameters by name; with deep=True also those of rules, such as "learner__rate"."""
        found = super().get_params(deep=False)
        if deep:
            for name, value in list(found.items()):
                found |= nested_parameters(name, value) if isinstance(value, Rule) else {}
        return found

    def set_params(self, **params):
        """Set parameters by name, also those of rules: `set_params(learner__rate=0.1)`.

        If the learner or the loss is a name, it becomes that rule. `learner=None` becomes the learner of
        `holdfast.defaults.LEARNER`.
        """
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        for path, value in params.items():
            name, _, rest = path.partition("__")
            if rest:
                if name not in self.get_params(deep=False):
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
                rule = as_rule(name, getattr(self, name), self._LOSSES)
                setattr(self, name, with_parameter(rule, rest, value))
        return self
