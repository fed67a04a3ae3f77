"""holdfast export: the model of a run for scikit-learn or ONNX."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.arguments import add_run, describe
from holdfast.cli.exits import Failure, report_errors
from holdfast.cli.outputs import check_output
from holdfast.terminal import DONE, WRONG, print_error, tell

if TYPE_CHECKING:
    from holdfast.runs.model import Model

_KINDS = {"sklearn": "joblib", "onnx": "onnx"}


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        (
            "Write the model of a run to a file. sklearn: an estimator, for joblib.load; it predicts as\n"
            "holdfast predict does, from data frames with any of the columns and keys, and needs holdfast\n"
            "where it is loaded. Load only files that you trust: a pickle can run any code. onnx: a graph,\n"
            "for runs without keys whose columns are numbers; it needs nothing but a runtime of ONNX."
        ),
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
    with report_errors():
        from holdfast.runs.files import atomic_file
        from holdfast.runs.folder import Folder
        from holdfast.runs.model import read_model

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


def _pickled(model: "Model") -> bytes:
    import io

    import joblib

    from holdfast.sklearn.exported import ExportedClassifier, ExportedRegressor

    made = ExportedRegressor(model) if model.target.regression else ExportedClassifier(model)
    sink = io.BytesIO()
    joblib.dump(made, sink)
    return sink.getvalue()


def _graph(model: "Model") -> bytes:
    import onnx  # noqa: F401  (raises if it is not installed)

    from holdfast.cli.onnx_graph import onnx_bytes

    return onnx_bytes(model)
