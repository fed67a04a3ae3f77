"""Figures for Prometheus: `GET /metrics`."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from holdfast.serve.service import Service

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """The figures of a service, read when they are asked for, and the times of its calls."""

    def __init__(self, service: Service) -> None:
        self._service, self._registry = service, CollectorRegistry()
        self._registry.register(self)
        self.seconds = Histogram(
            "holdfast_request_seconds", "Time of a call", ["path"], buckets=_BUCKETS, registry=self._registry
        )
        self.statuses: dict[tuple[str, int], int] = {}

    def count(self, path: str, status: int) -> None:
        self.statuses[path, status] = self.statuses.get((path, status), 0) + 1

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        service, figures = self._service, self._service.learner.figures
        counts, judged, store = service.counts(), service.learner.judged(), service.store
        for name, text, count in (
            ("predictions", "Rows predicted", counts["predictions"]),
            ("outliers", "Rows predicted that look like outliers", counts["outliers"]),
            ("judged", "Forecasts that were judged by their labels", judged["count"]),
        ):
            yield CounterMetricFamily(f"holdfast_{name}", text, value=count)
        calls = {(path, str(status)): count for (path, status), count in self.statuses.items()}
        labels = {(status,): count for status, count in store.labels.items()}
        events = {(event,): count for event, count in service.events.counts.items()}
        for name, text, by, found in (
            ("labels", "Labels by what became of them", ["status"], labels),
            ("requests", "Calls", ["path", "status"], calls),
            ("events", "Events", ["event"], events),
        ):
            family = CounterMetricFamily(f"holdfast_{name}", text, labels=by)
            for values, count in found.items():
                family.add_metric(values, count)
            yield family
        for name, text, value in (
            ("rounds", "Rows learned from or skipped", figures["rounds"]),
            ("skipped", "Rows skipped", figures["skipped"]),
            ("waiting", "Predictions that wait for a label", store.waiting),
            ("queued", "Rows that wait to be learned from", store.queued),
            ("recent_error", "Mean error of the last judged forecasts", judged["recent_error"]),
            ("threshold", "Size above which a row is an outlier", service.threshold()),
            ("learning", "1 if the server learns, 0 if something prevents it", service.health()[0]),
        ):
            if value is not None:
                yield GaugeMetricFamily(f"holdfast_{name}", text, value=float(value))
