"""The bodies of calls and answers, typed. What is read is checked against them; OpenAPI is made of them."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Cell = str | float | int | bool | None
Row = dict[str, Cell]
Rows = Annotated[list[Row], Meta(min_length=1)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class PredictBody(Struct, forbid_unknown_fields=True):
    """One row, or several. With an id of yours, a repeated call gets the answer of the first one."""

    row: Row | None = None
    rows: Rows | None = None
    id: Name | None = None
    ids: Annotated[list[Name], Meta(min_length=1)] | None = None


class Label(Struct, forbid_unknown_fields=True):
    """The target of a row that was predicted."""

    id: Name
    target: str | float | int | bool


class LabelBody(Struct, forbid_unknown_fields=True):
    """One label, or several."""

    id: Name | None = None
    target: str | float | int | bool | None = None
    labels: Annotated[list[Label], Meta(min_length=1)] | None = None


class Offsets(Struct, forbid_unknown_fields=True):
    """Where the rows come from, such as a partition of Kafka: row i has the offset first + i."""

    source: Name
    first: Annotated[int, Meta(ge=0, le=(1 << 62))]


class LearnBody(Struct, forbid_unknown_fields=True):
    """Rows with their targets, in the column of the target."""

    rows: Rows
    offsets: Offsets | None = None


class RowNumbers(Struct, forbid_unknown_fields=True):
    """Rows of the run, as the audit numbers them: a list, or a text such as 120-180,999."""

    rows: str | list[Annotated[int, Meta(ge=1, le=(1 << 53))]]
    why: Annotated[str, Meta(max_length=1000)] = ""


class Prediction(Struct, omit_defaults=True):
    """The answer about a row. Numbers have low and high; labels have labels and a probability."""

    id: str
    prediction: float | str | None
    outlier: bool
    note: str
    low: float | UnsetType | None = UNSET
    high: float | UnsetType | None = UNSET
    labels: list[str] | UnsetType | None = UNSET
    probability: float | UnsetType | None = UNSET


class Predictions(Struct):
    """The answers, in the order of the rows."""

    predictions: list[Prediction]


class LabelStatus(Struct):
    """What became of a label: accepted, repeated, contradicting, unknown or late."""

    id: str
    status: str


class LabelStatuses(Struct):
    labels: list[LabelStatus]


class Learned(Struct):
    """How many rows are new, and how many had been there before, by their offsets."""

    accepted: int
    repeated: int


class Problem(Struct):
    """What was wrong, in a sentence."""

    error: str


READ_PREDICT = msgspec.json.Decoder(PredictBody)
READ_LABEL = msgspec.json.Decoder(LabelBody)
READ_LEARN = msgspec.json.Decoder(LearnBody)
READ_ROWS = msgspec.json.Decoder(RowNumbers)
