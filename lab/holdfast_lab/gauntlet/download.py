"""Get public tables for `holdfast gauntlet --data` and `holdfast trials --data`.

`python -m holdfast_lab.gauntlet.download FOLDER [NAME ...]` writes FOLDER/NAME/data.csv.gz. A source whose
SHA-256 differs is refused, and nothing is written. Licence of all three: CC BY 4.0 (UCI).
"""

import hashlib
import io
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast.terminal import tell

_RAW = "https://raw.githubusercontent.com"
_FAR = 30.0  # robust standard deviations from the median, from which on a cell of eeg_eye is marked


class Source(NamedTuple):
    """Where a table is, the digest of its file (of the member, if it is packed), and how to read it."""

    url: str
    sha256: str
    read: Callable[[bytes], Any]
    member: str = ""


def _spambase(content: bytes) -> Any:
    import pandas as pd

    frame = pd.read_csv(io.BytesIO(content), header=None)
    columns = [f"x_{i}" for i in range(57)]
    frame.columns = pd.Index([*columns, "y"])
    frame["y"] = np.where(frame["y"] == 1, 1, -1)
    return _shuffled(frame)


def _eeg_eye(content: bytes) -> Any:
    import pandas as pd

    lines = content.decode("ascii").splitlines()
    names = [line.split()[1] for line in lines if line.lower().startswith("@attribute")]
    data = "\n".join(line for line in lines if line and line[0] not in "@%")
    frame = pd.read_csv(io.StringIO(data), header=None)
    frame.columns = pd.Index([*(f"x_{name}" for name in names[:-1]), "y"])
    frame["y"] = np.where(frame["y"] == 1, 1, -1)
    X = frame.iloc[:, :-1]
    middle = X.median()
    far = (X - middle).abs() > _FAR * 1.4826 * (X - middle).abs().median()
    frame["outlier"] = far.any(axis=1).astype(int)
    return _shuffled(frame)


def _air_quality(content: bytes) -> Any:
    """The reading -200 is a missing one; it stays, and its row is marked."""
    import pandas as pd

    frame = pd.read_csv(io.BytesIO(content), sep=";", decimal=",").dropna(how="all", axis=1).dropna(how="all")
    some = frame[[name for name in frame if name.startswith("PT08") or name in ("T", "RH", "AH")]]
    table = some.add_prefix("x_").assign(y=frame["C6H6(GT)"])
    return table.assign(outlier=(table == -200).any(axis=1).astype(int))


def _shuffled(frame: Any) -> Any:
    """In the order of the table that the published figures are of: the source is sorted by class or time."""
    return frame.iloc[np.random.RandomState(0).permutation(len(frame))]


SOURCES = {
    "spambase": Source(
        f"{_RAW}/jenniferdo2211/Spam-Filtering-Neural-Network/ec9ad3540aa57be7ced637febfaba95988dd2ea0/spambase.data",
        "b547e97c32fdb24e4bbf9b332abc844499b7a7b47161f58ff85ace3a78b45416",
        _spambase,
    ),
    "eeg_eye": Source(
        f"{_RAW}/rogerior/ixio/5529dc301c83dd152ba981c3da6239a42e6b1855/EEG%20Eye%20State.arff",
        "693c689be416df0b487b45b5b58a44896fbcd0be72b4ef161d5cc34e2c66c928",
        _eeg_eye,
    ),
    "air_quality": Source(
        f"{_RAW}/erlanggapratamaP/airqualitydataset/d90dd443cc3704297d8f59a38def46aaef95f7cd/AirQualityUCI.zip",
        "d4a64013fb385288a8a48d9d193ca7079b2e1bbddf6f8d458feb8c08ab2b8a2a",
        _air_quality,
        "AirQualityUCI.csv",
    ),
}


def download(folder: Path, name: str, source: Source) -> Path:
    """Fetch one table and write it; raises if its digest is not the one that is known."""
    with urllib.request.urlopen(source.url, timeout=60) as answer:
        content = answer.read()
    if source.member:
        content = zipfile.ZipFile(io.BytesIO(content)).read(source.member)
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise ValueError(
            f"{source.url} has changed: its SHA-256 is {found}, and {source.sha256} was expected"
        )
    path = folder / name / "data.csv.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    source.read(content).to_csv(path, index=False)
    return path


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("python -m holdfast_lab.gauntlet.download FOLDER [NAME ...]")
    for name in sys.argv[2:] or SOURCES:
        if name not in SOURCES:
            raise SystemExit(f"there is no source of {name}: try one of {', '.join(SOURCES)}")
        try:
            path = download(Path(sys.argv[1]), name, SOURCES[name])
        except (OSError, zipfile.BadZipFile) as problem:
            reason = getattr(problem, "reason", problem)
            raise SystemExit(f"{name} was not downloaded from {SOURCES[name].url}: {reason}") from None
        except ValueError as problem:
            raise SystemExit(str(problem)) from None
        tell(f"{name}: {path}")


if __name__ == "__main__":
    main()
