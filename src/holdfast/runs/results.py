"""The results of a run: its model, its metrics and its certificate, and when they are written.

The metrics can also be written as a text file for the node exporter of Prometheus (`docs/operations.md`).
"""

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.advice import SkipFigures, advice, main_cause
from holdfast.audit import WARM_UP
from holdfast.io.guess_columns import as_option
from holdfast.runs.audit import RELEASED
from holdfast.runs.files import RunError, atomic_file, table_bytes, to_json
from holdfast.runs.folder import Content
from holdfast.runs.model import FILE, Model, with_wild
from holdfast.steady import Steady

if TYPE_CHECKING:
    from holdfast.runs.run import Run

_CERTIFICATE = "certificate.json"
_FEW_KEYS = 10_000  # up to so many, each checkpoint writes the model
_MOST_CERTIFICATES, _MOST_WORDS = 1_000, 10  # games with a certificate, and in a sentence


def result_files(run: "Run", last: bool) -> Iterator[tuple[str, Content]]:
    """Names and contents of the model, the metrics and the certificate, which a checkpoint writes, too.

    With many keys, the model is among them at the `last` checkpoint, and if there were as many rows as keys
    since it was written.
    """
    keyed, rounds = run.settings.key is not None, run.trace.rounds
    keys = list(run.games.keys) if keyed else []
    if last or len(keys) <= _FEW_KEYS or rounds - run.modelled >= len(keys):
        yield FILE, run.model().buffers()
        if keyed:
            yield "keys.parquet", table_bytes(run.keys.table(keys))
        run.modelled = rounds
    yield "metrics.json", to_json(run.metrics())
    yield _CERTIFICATE, to_json(run.certificate())


def model(run: "Run") -> Model:
    keyed = run.settings.key is not None
    parts = (run.layout, run.target, tuple(run.games.keys) if keyed else (), run.settings.key)
    prior = run.upkeep.ready_prior() if run.upkeep is not None else None
    recent = None if run.regression else run.answers.recent
    thresholds = run.keys.thresholds()
    parameters = with_wild(run.games.parameters(prior), thresholds, run.measure, len(run.games.labels))
    widths = run.answers.widths.table()
    return Model(*parts, parameters, prior is not None, recent, thresholds, run.measure, widths)


def metrics(run: "Run") -> dict[str, Any]:
    error, kept_error = run.trace.errors()
    counts = dict(sorted(run.log.counts.items()))
    skipped, warm = run.trace.skipped, counts.pop(WARM_UP, 0)
    baseline = run.answers.baseline_error()
    figures = run.skips.figures(run.trace.rounds - warm, skipped, kept_error, baseline)
    return {
        "task": "regression" if run.regression else "classification",
        "error_is": "mean absolute error" if run.regression else "share of mistakes",
        "rounds": run.trace.rounds,
        "kept": run.trace.rounds - skipped - warm,
        "skipped": skipped,
        "learned_little": counts.get("target", 0) if run.log.little else 0,
        "warm_up": warm,
        "released": counts.pop(RELEASED, 0),
        "skipped_by_reason": counts,
        "error": kept_error,
        "error_of_all_rounds": error,
        "baseline": baseline,
        "warnings": warnings_of(run, figures),
        "intervals": [report._asdict() for report in run.answers.widths.report()],
        "finished": run.finished,
    } | (_key_metrics(run) if run.settings.key is not None else {})


def warnings_of(run: "Run", figures: SkipFigures) -> list[str]:
    """What the user of the run should know; with the remedy, if the reason is probably a code."""
    found, cause = advice(figures), main_cause(figures)
    code = next((name for name in run.config.codes if name == cause), None)
    if code is not None:
        found[0] += f", probably a code: use --category {as_option(code)}"
    return found


def _key_metrics(run: "Run") -> dict[str, Any]:
    evicted = run.games.table.count - len(run.games.keys)
    core = run.player.core()
    gate: Any = core.gate if isinstance(core, Steady) else None
    starts = gate is not None and not gate.keeps_all()
    return {"keys": run.keys.summary(list(run.games.keys), starts) | {"evicted": evicted}}


def certificate(run: "Run") -> dict[str, Any]:
    """The content of certificate.json: what the run proves, or why it proves nothing."""
    why, released = run.settings.why_no_certificate(), run.log.counts.get(RELEASED, 0)
    if not run.trace.rounds:
        why = "There is no certificate: no rounds yet."
    if released and not why:
        why = (
            f"There is no certificate: {released:,} rows that a filter had refused were released and "
            "learned from, and no theorem covers that."
        )
    if why:
        return {"proves": None, "words": why}
    proofs = _proofs(run)
    words = [p["words"] if len(proofs) == 1 else f"{name}: {p['words']}" for name, p in proofs.items()]
    if len(words) > _MOST_WORDS:
        words[_MOST_WORDS:] = [
            f"certificate.json has the certificates of {len(proofs):,} games of {len(run.games.keys):,} keys."
        ]
    return {"proves": proofs, "words": " ".join(words)}


def _proofs(run: "Run") -> dict[str, Any]:
    """The certificates of the first games, by name."""
    k, keys, found = run.player.k, list(run.games.keys), {}
    for key, label in run.games.names()[:_MOST_CERTIFICATES]:
        proof = run.games.certificate((key, label), k)
        name = " ".join(filter(None, (keys[key], run.games.labels[label]))) or run.target.name
        found[name] = {
            "k": k,
            "sizes": proof.sizes.tolist(),
            "bounds": proof.bounds.tolist(),
            "doubts": list(proof.doubts),
            "words": str(proof),
        }
    return found


# -- Prometheus


def write_metrics(run: "Run", path: str | Path) -> None:
    """Write the figures of a run to this file, in one step."""
    if importlib.util.find_spec("prometheus_client") is None:
        raise RunError("--metrics needs prometheus_client: pip install 'holdfast[cli]'")
    with atomic_file(path) as file:
        file.write(exposition(run, time.time()))


def exposition(run: "Run", now: float) -> bytes:
    """The figures in the text format of Prometheus, as bytes."""
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry, name = CollectorRegistry(), str(run.folder.path.name)

    def gauge(metric: str, help_text: str, value: float | None) -> None:
        if value is not None:
            Gauge(f"holdfast_{metric}", help_text, ["run"], registry=registry).labels(name).set(value)

    found = run.metrics()
    gauge("rounds", "Rows that were learned from or skipped", found["rounds"])
    gauge("skipped", "Rows that were skipped", found["skipped"])
    labels = ["run", "reason"]
    reasons = Gauge("holdfast_skipped_by_reason", "Skipped rounds by reason", labels, registry=registry)
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
