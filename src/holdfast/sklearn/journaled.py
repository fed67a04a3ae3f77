"""Estimators that keep their rows, with `journal=`, so that they can forget some of them."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from holdfast.journal import Forgotten, Journal, names_of
from holdfast.levels.row_events import muted

_OF_ALL = ("_journal", "_metadata_request")


class JournalMixin:
    """Learn through a `Journal`. The estimator has the attributes of the journal's model, as its own."""

    journal: int | None
    on_event: Any
    get_params: Any
    _index: Any
    _journal: Journal

    def forget(self, row_ids: Iterable[Hashable]) -> Forgotten:
        """Forget all rows with these names: `row_ids` of `partial_fit`, else numbers of the rows, from 0 on.

        Needs `journal=`. Afterwards the estimator is, bit for bit, one that got the same calls without these
        rows. It returns how many rows are gone, and how many were learned again. An unknown name is an error,
        and nothing is changed. `holdfast.Journal` says what it costs.
        """
        if not hasattr(self, "_journal"):
            raise ValueError(
                "forget needs the rows: let partial_fit learn from them with journal=1_000, which keeps them "
                "and a copy of the model after every 1,000 rows"
            )
        with muted():
            found = self._journal.forget(row_ids)
        self._take_over()
        return found

    def _learn_in_journal(
        self, X: Any, y: Any, row_ids: Sequence[Hashable] | None, options: dict[str, Any]
    ) -> None:
        if not hasattr(self, "_journal"):
            if hasattr(self, "_games"):
                raise ValueError("journal= does not have the rows learned before: call reset() first")
            plain: Any = clone(self)
            self._journal = Journal(plain.set_params(journal=None, on_event=self.on_event), self.journal or 0)
        given = {name: value for name, value in options.items() if value is not None}
        self._journal.learn_rows(
            X, y, row_ids, given if row_ids is None else given | {"row_ids": names_of(row_ids)}
        )
        self._take_over()

    def _take_over(self) -> None:
        """Have what the model of the journal has learned."""
        kept = {*self.get_params(deep=False), *_OF_ALL}
        for name in set(vars(self)) - kept:
            delattr(self, name)
        learned = vars(self._journal.model)
        vars(self).update({name: value for name, value in learned.items() if name not in kept})

    def _name_rows(self, row_ids: Sequence[Hashable] | None, count: int) -> None:
        """Let the audit call the rows of this call by these names."""
        if row_ids is None:
            return
        found = names_of(row_ids)
        names = np.empty(len(found), object)
        names[:] = found
        if len(names) != count:
            raise ValueError(f"row_ids name the rows: expected {count}, got {len(names)}")
        self._index = names
