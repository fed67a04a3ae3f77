"""What a stream gives back for its rows."""

import numpy as np
import pyarrow as pa

from holdfast.runs.audit import MEASURES
from holdfast.spark.orders import LATE, NO_ORDER
from holdfast.spark.plan import Plan
from holdfast.spark.playing import KeyedRun


class LearnRows:
    """Every row is predicted and learned from."""

    def __init__(self, plan, compiled, schema):
        self.plan, self.compiled, self.schema = plan.to_json(), compiled, schema

    def new_run(self):
        return KeyedRun(Plan.from_json(self.plan), self.compiled)

    def answers(self, run, table, keys, good, late, played):
        """A row for each row of the table: prediction, decision, reason, size and threshold."""
        count = table.num_rows
        outcomes, kept = np.full((count, run.margins), np.nan), np.zeros(count, bool)
        sizes, thresholds = np.full(count, np.nan), np.full(count, np.nan)
        reasons = np.where(late, LATE, NO_ORDER).astype(object)
        if played is not None:
            outcomes[good], kept[good], reasons[good] = played.predictions, played.kept, None
            sizes[good], thresholds[good] = played.sizes, played.thresholds
            set_reasons(played.audit, good, reasons, sizes, thresholds)
        columns = {
            "key": keys,
            "at": table.column(run.plan.order),
            "prediction": run.as_column(outcomes),
            "kept": kept,
        }
        columns |= {"reason": pa.array(reasons, pa.string()), "size": sizes, "threshold": thresholds}
        return as_table(columns, self.schema)


def set_reasons(audit, good, reasons, sizes, thresholds):
    """Write the reason of each skipped row, and what was compared; of several labels, that of the first."""
    backwards = slice(None, None, -1)
    rows = good[audit.column("row").to_numpy()][backwards]
    why = audit.column("reason").to_numpy(zero_copy_only=False)[backwards]
    reasons[rows] = why
    for measure in MEASURES:
        some = why == measure
        sizes[rows[some]] = audit.column(f"{measure}_size").to_numpy()[backwards][some]
        thresholds[rows[some]] = audit.column(f"{measure}_threshold").to_numpy()[backwards][some]


def as_table(columns, schema):
    """Columns by name as a table of this schema; null where a number is NaN."""
    arrays = []
    for field in schema:
        column = columns[field.name]
        if isinstance(column, np.ndarray):
            column = pa.array(column, mask=np.isnan(column) if column.dtype.kind == "f" else None)
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.table(arrays, schema=schema)
