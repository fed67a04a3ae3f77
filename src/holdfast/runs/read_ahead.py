"""Make the next item of an iterator in a thread, while the current one is used."""

import contextlib
import queue
import threading


class ReadAhead:
    """The items of an iterator. A thread makes the next item while the current one is used."""

    def __init__(self, items):
        self._queue: queue.Queue = queue.Queue(1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._fill, args=(items,), daemon=True)
        self._thread.start()

    def _fill(self, items):
        try:
            for item in items:
                if not self._put(item):
                    return
            self._put(None)
        except BaseException as problem:
            self._put(problem)

    def _put(self, item):
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(item, timeout=0.1)
                return True
        return False

    def next(self, stopped, idle=lambda: None):
        """The next item, None if there is none or if `stopped()`. While waiting, `idle()` is called."""
        while True:
            try:
                item = self._queue.get(timeout=0.1)
            except queue.Empty:
                if stopped():
                    return None
                idle()
                continue
            if isinstance(item, BaseException):
                raise item
            return item

    def stop(self):
        """End the thread; return whether it has ended. One that waits for a pipe ends with the process."""
        self._stopped.set()
        self._thread.join(timeout=1.0)
        return not self._thread.is_alive()
