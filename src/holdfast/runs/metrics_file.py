"""The figures of a run as a text file for the node exporter of Prometheus (`docs/operations.md`)."""

import importlib.util
import time

from holdfast.runs.files import RunError, atomic_file


def metrics_writer(path, clock=time.time):
    """A function that writes the figures of a run to this file, in one step."""
    if importlib.util.find_spec("prometheus_client") is None:
        raise RunError("--metrics needs prometheus_client: pip install 'holdfast[cli]'")

    def write(run):
        data = exposition(run, clock())
        with atomic_file(path) as file:
            file.write(data)

    return write


def exposition(run, now):
    """The figures in the text format of Prometheus, as bytes."""
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry, name = CollectorRegistry(), str(run.folder.path.name)

    def gauge(metric, help_text, value):
        if value is not None:
            Gauge(f"holdfast_{metric}", help_text, ["run"], registry=registry).labels(name).set(value)

    found = run.metrics()
    gauge("rounds", "Rows that were learned from or skipped", found["rounds"])
    gauge("skipped", "Rows that were skipped", found["skipped"])
    reasons = Gauge(
        "holdfast_skipped_by_reason",
        "Skipped rounds by reason",
        ["run", "reason"],
        registry=registry,
    )
    for reason, count in found["skipped_by_reason"].items():
        reasons.labels(name, reason).set(count)
    gauge("error", f"The {found['error_is']} on the rounds learned from", found["error"])
    gauge("error_of_all_rounds", f"The {found['error_is']} on all rounds", found["error_of_all_rounds"])
    gauge("finished", "1 if the source was read to its end", found["finished"])
    if "keys" in found:
        gauge("keys", "Keys with a model", found["keys"]["count"])
        gauge("keys_evicted", "Keys that were forgotten", found["keys"]["evicted"])
    gauge("checkpoint_timestamp_seconds", "When the last checkpoint was written", now)
    return generate_latest(registry)
