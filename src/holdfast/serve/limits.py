"""What a server accepts at most: sizes of requests, how many at once, and what waits for a label."""

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of a server; a request beyond one gets a 4xx answer that names it."""

    body: int = 1 << 20  # bytes of a request
    rows: int = 1_000  # rows or labels of a request
    columns: int = 10_000  # of a row, also those that the model does not use
    text: int = 1_000  # characters of a cell, a key, an id or a reason
    requests: int = 1_000  # that are being answered at once
    rate: float = 0.0  # requests a second, of all clients together; 0: any number
    seconds: float = 10.0  # in which a request must have arrived
    streams: int = 50  # clients of /events at once
    waiting: int = 1_000_000  # predictions that wait for a label
    hours: float = 168.0  # for which they wait
    queue: int = 100_000  # rows with labels that wait to be learned from
    connections: int = 2_000
