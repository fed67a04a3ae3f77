"""holdfast export: the model of a run for scikit-learn or ONNX."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np

from holdfast.cli.arguments import add_run, describe
from holdfast.cli.exits import Failure
from holdfast.cli.outputs import check_output
from holdfast.io.columns import Number
from holdfast.runs.files import atomic_file
from holdfast.runs.folder import Folder
from holdfast.runs.model import Model, read_model
from holdfast.terminal import DONE, WRONG, Refusal, print_error, tell

_KINDS = {"sklearn": "joblib", "onnx": "onnx"}


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Write the model of a run to a file. sklearn: an estimator, for joblib.load; it predicts as\n"
        "holdfast predict does, from data frames with any of the columns and keys, and needs holdfast\n"
        "where it is loaded. Load only files that you trust: a pickle can run any code. onnx: a graph,\n"
        "for runs without keys whose columns are numbers; it needs nothing but a runtime of ONNX.",
        [
            "holdfast export sensors.run --to sklearn          # sensors.joblib",
            "holdfast export sensors.run --to onnx --output model.onnx",
        ],
    )
    add_run(parser)
    parser.add_argument("--to", choices=tuple(_KINDS), required=True, help="for which library")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="the file (default: RUN.joblib or RUN.onnx, here)"
    )


def run(options: Namespace) -> int:
    model = read_model(Folder(options.run))
    name = Path(options.run).resolve().name.removesuffix(".run")
    path = options.output or Path(f"{name}.{_KINDS[options.to]}")
    check_output(path, "--output", (), options.run)
    try:
        data = _pickled(model) if options.to == "sklearn" else _graph(model)
    except ImportError as problem:
        print_error(f"{problem}; pip install 'holdfast[{options.to}]'")
        raise Failure(WRONG) from None
    with atomic_file(path) as file:
        file.write(data)
    tell(f"The model: {path}")
    return DONE


def _pickled(model: Model) -> bytes:
    import io

    import joblib

    from holdfast.sklearn.exported import ExportedClassifier, ExportedRegressor

    made = ExportedRegressor(model) if model.target.regression else ExportedClassifier(model)
    sink = io.BytesIO()
    joblib.dump(made, sink)
    return sink.getvalue()


# -- ONNX: the formula of `docs/run-folder.md`, node by node

_OPSET, _IR = 18, 8  # from 2022; older programs may still read them

# Operator, inputs, output. From `rows` on there is a second axis, for games: one, or several.
_FEATURES = """
IsNaN      X                   missing
And        missing filled      replaced
Where      replaced middles X  values
Cast       missing             marks
Concat     values marks        both
Gather     both places         features
"""
# A cell that is not finite, or wild, counts as its center: x - x is 0 for a finite cell, NaN for others.
_SCORES = """
Sub        features features   nothing
IsNaN      nothing             spoiled
Unsqueeze  features last       rows
Sub        rows center         moved
Mul        moved factors       scaled
Abs        scaled              lengths
Greater    lengths wild        far
Unsqueeze  spoiled last        not_finite
Or         not_finite far      spoiled_rows
Min        lengths knee        short
Sub        lengths short       beyond
Add        beyond one          beyond_one
Log        beyond_one          bent
Add        short bent          compressed
Sign       scaled              signs
Mul        compressed signs    seen
Max        seen least          at_least
Min        at_least most       clipped
Where      spoiled_rows zero clipped  known
Mul        known weights       weighted
ReduceSum  weighted third      sums
Add        sums constant       z
Mul        z y_spread          spread
Add        spread y_center     y
Max        y low               above
Min        above high          scores
"""
# A margin for each label from those of all pairs (`holdfast.linear_model.class_margins`).
_PAIRS = """
Gather     margins pairs       of_label
Mul        of_label sides      against
ReduceLogSumExp  against third  sums_of_rivals
Neg        sums_of_rivals      scores
"""
_NUMBER = "Squeeze    scores last         prediction"
_TWO_LABELS = """
Greater    scores zero         positive
Squeeze    positive last       is_second
Where      is_second second first  prediction
"""
_LABELS = """
ArgMax     scores              best
Gather     labels best         prediction
"""


def _graph(model: Model) -> bytes:
    """The graph as bytes. Its input is `X`, float64, with NaN where a cell is missing."""
    from onnx import TensorProto, checker, helper

    _check(model)
    columns, labels = model.layout.columns, model.target.labels
    answer = _NUMBER if not labels else _TWO_LABELS if len(labels) == 2 else _LABELS
    scores = _SCORES.replace(" scores", " margins") + _PAIRS if model.has_pairs() else _SCORES
    attributes = {
        "Cast": {"to": TensorProto.DOUBLE},
        "Concat": {"axis": 1},
        "ReduceSum": {"keepdims": 0},
        "ReduceLogSumExp": {"keepdims": 0},
        "ArgMax": {"axis": 1, "keepdims": 0},
    }
    nodes = []
    for line in filter(None, (_FEATURES + scores + answer).splitlines()):
        kind, *inputs, output = line.split()
        more = {"axis": 1} if output in ("features", "of_label") else attributes.get(kind, {})
        nodes.append(helper.make_node(kind, inputs, [output], **more))
    kinds = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "b": TensorProto.BOOL, "S": TensorProto.STRING}
    constants = [
        helper.make_tensor(name, kinds[value.dtype.kind], value.shape, value.ravel().tolist())
        for name, value in _constants(model).items()
        if any(name in node.input for node in nodes)
    ]
    kind = TensorProto.STRING if labels else TensorProto.DOUBLE
    outputs = [
        helper.make_tensor_value_info("prediction", kind, ["rows"]),
        helper.make_tensor_value_info(
            "scores", TensorProto.DOUBLE, ["rows", len(labels) if len(labels) > 2 else 1]
        ),
    ]
    rows = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["rows", len(columns)])
    graph = helper.make_graph(nodes, "holdfast", [rows], outputs, constants)
    opset = [helper.make_opsetid("", _OPSET)]
    found = helper.make_model(graph, opset_imports=opset, ir_version=_IR, producer_name="holdfast")
    helper.set_model_props(found, {f"column {i}": column.name for i, column in enumerate(columns)})
    checker.check_model(found, full_check=True)
    return found.SerializeToString()


def _constants(model: Model) -> dict[str, np.ndarray]:
    """Arrays by name; those of the features have an axis for rows, one for games, and one for features."""
    pairs, sides = _pairs_of_labels(model) if model.has_pairs() else (np.zeros(0, np.int64), np.zeros(0))
    columns, p = model.layout.columns, model.parameters
    middles = [column.middle if isinstance(column, Number) else None for column in columns]
    filled = np.array([middle is not None for middle in middles])
    places = [i for j, f in enumerate(filled) for i in ([j, len(columns) + j] if f else [j])]
    texts = [label.encode() for label in model.target.labels]
    return p._asdict() | {
        "filled": filled,
        "middles": np.array([0.0 if middle is None else middle for middle in middles]),
        "places": np.array(places, np.int64),
        "last": np.array([1], np.int64),
        "third": np.array([2], np.int64),
        "pairs": pairs,
        "sides": sides,
        "zero": np.array(0.0),
        "one": np.array(1.0),
        "knee": p.knee[:, None],
        "wild": p.wild[:, None],
        "least": -p.clip[:, None],
        "most": p.clip[:, None],
        "labels": np.array(texts),
        "first": np.array(texts[:1]),
        "second": np.array(texts[1:2]),
    }


def _pairs_of_labels(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """For each label its games; and the signs with which their outcomes are the margins of its rivals."""
    games = np.array(model.target.class_models())
    pairs = [np.flatnonzero((games == label).any(axis=1)) for label in range(len(model.target.labels))]
    sides = [np.where(games[own, 0] == label, -1.0, 1.0) for label, own in enumerate(pairs)]
    return np.array(pairs), np.array(sides)


def _check(model: Model) -> None:
    if model.key is not None:
        raise Refusal("ONNX has no keys: export one model for all rows, or use --to sklearn")
    others = [column.name for column in model.layout.columns if not isinstance(column, Number)]
    if others:
        raise Refusal(
            f"--to onnx is for columns of numbers, and {others[0][:80]!r} is none: learn with --drop, or use "
            "--to sklearn"
        )
