"""Figures for Prometheus: `GET /metrics`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from holdfast.serve.service import Service

if TYPE_CHECKING:
    from holdfast.serve.events import Events

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
        counts, judged = service.counts(), service.learner.judged()
        yield _counter("holdfast_predictions", "Rows predicted", counts["predictions"])
        yield _counter("holdfast_outliers", "Rows predicted that look like outliers", counts["outliers"])
        labels = CounterMetricFamily("holdfast_labels", "Labels by what became of them", labels=["status"])
        for status, count in service.store.labels.items():
            labels.add_metric([status], count)
        yield labels
        calls = CounterMetricFamily("holdfast_requests", "Calls", labels=["path", "status"])
        for (path, code), count in self.statuses.items():
            calls.add_metric([path, str(code)], count)
        yield calls
        yield _gauge("holdfast_rounds", "Rows learned from or skipped", figures["rounds"])
        yield _gauge("holdfast_skipped", "Rows skipped", figures["skipped"])
        yield _gauge("holdfast_waiting", "Predictions that wait for a label", service.store.waiting)
        yield _gauge("holdfast_queued", "Rows that wait to be learned from", service.store.queued)
        yield _counter("holdfast_judged", "Forecasts that were judged by their labels", judged["count"])
        if judged["recent_error"] is not None:
            yield _gauge(
                "holdfast_recent_error", "Mean error of the last judged forecasts", judged["recent_error"]
            )
        threshold = service.threshold()
        if threshold is not None:
            yield _gauge("holdfast_threshold", "Size above which a row is an outlier", threshold)
        yield _gauge(
            "holdfast_learning", "1 if the server learns, 0 if something prevents it", service.health()[0]
        )
        events: Events = service.events
        told = CounterMetricFamily("holdfast_events", "Events", labels=["event"])
        for name, count in events.counts.items():
            told.add_metric([name], count)
        yield told


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(name, text, value=value)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=float(value))
