"""The results of a run: its model, its metrics and its certificate, and when they are written."""

from holdfast.audit import WARM_UP
from holdfast.runs.audit import RELEASED
from holdfast.runs.files import to_json
from holdfast.runs.model import FILE, Model
from holdfast.runs.tables import table_bytes
from holdfast.steady import Steady

_FEW_KEYS = 10_000  # up to so many, each checkpoint writes the model
_MOST_CERTIFICATES, _MOST_WORDS = 1_000, 10  # games with a certificate, and in a sentence


class ResultFiles:
    """The files that a checkpoint writes besides what is needed to resume."""

    def __init__(self, run):
        self._run = run
        self.modelled = 0  # rounds, when the model was written last

    def files(self, last):
        """Names and contents of the model, the metrics and the certificate.

        With many keys, the model is among them at the `last` checkpoint, and if there were as many rows as
        keys since it was written.
        """
        run = self._run
        keyed, rounds = run.settings.key is not None, run.trace.rounds
        keys = list(run.games.keys) if keyed else []
        if last or len(keys) <= _FEW_KEYS or rounds - self.modelled >= len(keys):
            yield FILE, run.model().buffers()
            if keyed:
                yield "keys.parquet", table_bytes(run.keys.table(keys))
            self.modelled = rounds
        yield "metrics.json", to_json(run.metrics())
        yield "certificate.json", to_json(run.certificate())


def model(run):
    """What predicts."""
    keyed = run.settings.key is not None
    parts = (run.layout, run.target, tuple(run.games.keys) if keyed else (), run.settings.key)
    prior = run.upkeep.ready_prior() if run.upkeep is not None else None
    more = (run.answers.recent, run.keys.thresholds(), run.measure, True)
    return Model(*parts, run.games.parameters(prior), prior is not None, *more)


def metrics(run):
    """The content of metrics.json."""
    error, kept_error = run.trace.errors()
    counts = dict(sorted(run.log.counts.items()))
    skipped, warm = int(run.trace.sums[4]), counts.pop(WARM_UP, 0)
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
        "baseline": run.answers.baseline_error(),
        "finished": run.finished,
    } | (_key_metrics(run) if run.settings.key is not None else {})


def _key_metrics(run):
    evicted = run.games.table.count - len(run.games.keys)
    core = run.player.core()
    starts = isinstance(core, Steady) and not core.gate.keeps_all()
    return {"keys": run.keys.summary(list(run.games.keys), starts) | {"evicted": evicted}}


def certificate(run):
    """The content of certificate.json: what the run proves, or why it proves nothing."""
    why, released = run.settings.why_no_certificate(), run.log.counts.get(RELEASED, 0)
    if released and not why:
        why = (
            f"There is no certificate: {released:,} rows that a filter had refused were released and "
            "learned from, and no theorem covers that."
        )
    if why:
        return {"proves": None, "words": why}
    if run.is_older():
        found = run.read_results("certificate.json")
        words = found.get("words") if isinstance(found, dict) else None
        return {"proves": None, "words": str(words)}
    proofs = _proofs(run)
    words = [p["words"] if len(proofs) == 1 else f"{name}: {p['words']}" for name, p in proofs.items()]
    if len(words) > _MOST_WORDS:
        words[_MOST_WORDS:] = [
            f"certificate.json has the certificates of {len(proofs):,} games of {len(run.games.keys):,} keys."
        ]
    return {"proves": proofs, "words": " ".join(words)}


def _proofs(run):
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
