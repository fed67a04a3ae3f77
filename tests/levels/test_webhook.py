"""Webhook: sent, tried again, dropped; and it never stops what found the event."""

import http.server
import json
import threading

import pytest

from holdfast.levels import Event, Webhook

EVENT = Event("change", 10, 20, 5.0, 1.0, 2.0)


class Receiver(http.server.ThreadingHTTPServer):
    """Fails so many times, and then stores what it gets."""

    def __init__(self, failures):
        super().__init__(("127.0.0.1", 0), Answer)
        self.failures, self.bodies = failures, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}/events"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.failures -= 1
        if self.server.failures >= 0:
            self.send_error(500)
            return
        self.server.bodies.append((self.headers["Content-Type"], json.loads(body)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def receiver():
    made = []

    def make(failures=0):
        made.append(Receiver(failures))
        return made[-1]

    yield make
    for each in made:
        each.shutdown()
        each.server_close()


def test_each_event_is_sent_once_in_order(receiver):
    server = receiver()
    hook = Webhook(server.url())
    for row in range(5):
        hook(EVENT._replace(end=row))
    hook.close()
    assert [body["end"] for _, body in server.bodies] == [0, 1, 2, 3, 4]
    assert server.bodies[0] == ("application/json", json.loads(EVENT._replace(end=0).to_json()))
    assert hook.dropped == 0


def test_a_receiver_that_fails_is_tried_again(receiver):
    server = receiver(failures=2)
    hook = Webhook(server.url(), pause=1e-3)
    hook(EVENT)
    hook.close()
    assert len(server.bodies) == 1 and hook.dropped == 0


def test_an_event_is_dropped_after_the_last_try_and_the_next_one_is_sent(receiver, caplog):
    server = receiver(failures=3)
    hook = Webhook(server.url(), tries=3, pause=1e-3)
    hook(EVENT)
    hook(EVENT._replace(end=99))
    hook.close()
    assert [body["end"] for _, body in server.bodies] == [99] and hook.dropped == 1
    assert "not sent to the webhook" in caplog.text and "500" in caplog.text


def test_events_are_dropped_if_too_many_wait(receiver):
    class Stuck(Webhook):
        def _send(self, event):
            taken.set()
            go_on.wait()

    taken, go_on = threading.Event(), threading.Event()
    hook = Stuck("http://127.0.0.1:9", waiting=2)
    hook(EVENT)
    taken.wait()
    for _ in range(5):
        hook(EVENT)
    assert hook.dropped == 3
    go_on.set()
    hook.close()


@pytest.mark.parametrize("url", ["ftp://x", "x", "file:///etc/passwd"])
def test_other_addresses_are_refused(url):
    with pytest.raises(ValueError, match="http"):
        Webhook(url)
    with pytest.raises(ValueError, match="at least 1"):
        Webhook("http://x", tries=0)
