"""The summary of an audit is the same whenever it is made, and reads each part once."""

import json

from runs.small import called, learned, write_source

from holdfast.cli.page import page
from holdfast.runs.audit_summary import AuditSummary
from holdfast.runs.folder import Folder
from holdfast.runs.run import open_run


def test_reports_of_a_run_that_learns_read_each_part_of_the_audit_once(tmp_path, monkeypatch):
    source, read, pages = write_source(tmp_path / "rows.csv", 300), [], []
    whole_read, whole_write = Folder.read, Folder.write

    def write(folder, files, gone=()):
        files = [(name, data) for name, data in files]
        pages.extend(data for name, data in files if name == "report.html")
        return whole_write(folder, files, gone)

    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 25)
    monkeypatch.setattr(Folder, "read", lambda *args: (read.append(args[1]), whole_read(*args))[1])
    monkeypatch.setattr(Folder, "write", write)
    run = learned(source, tmp_path / "run", "--learner", "adagrad", "--checkpoint", "25", "--report")
    parts = [f"audit/{path.name}" for path in sorted((run / "audit").iterdir())]
    assert len(parts) > 8
    assert len(pages) > 8
    read = [name for name in read if name.startswith("audit/")]
    assert read == parts + parts  # while it learned, and for the report at the end
    assert pages[-1].replace("\\n", "") == page(open_run(run)).replace("\\n", "")


def test_the_columns_with_the_most_skipped_rows_come_first(tmp_path):
    run = learned(write_source(tmp_path / "rows.csv", 300), tmp_path / "run", "--learner", "adagrad")
    found = AuditSummary(open_run(run), 3).update()
    assert found == {
        name: json.loads(called("audit", run, "--json", "--worst", "3")[1])[name] for name in found
    }
    counts = [one["count"] for one in found["columns"]]
    assert counts == sorted(counts, reverse=True) and len(counts) <= 3
    times = [one["times"] for one in found["worst"]]
    assert times == sorted(times, reverse=True) and len(times) == 3
