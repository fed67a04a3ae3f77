"""Where commands send alarms: a file of JSON lines, a web address, or both."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def receivers(path: Path | None, url: str | None) -> Iterator[Callable[[Any], None] | None]:
    """A function that sends an event everywhere; None if there is nowhere.

    Lines are added at the end of the file. At the end it waits a few seconds for the address.
    """
    from holdfast.levels import Webhook, json_lines
    from holdfast.terminal import Refusal

    if path is None and url is None:
        yield None
        return
    with contextlib.ExitStack() as closing:
        found: list[Callable[[Any], None]] = []
        if path is not None:
            found.append(json_lines(closing.enter_context(open(path, "a", encoding="utf-8"))))
        if url is not None:
            try:
                hook = Webhook(url)
            except ValueError as problem:
                raise Refusal(f"--webhook: {problem}") from None
            closing.callback(hook.close)
            found.append(hook)

        def send(event: Any) -> None:
            for receiver in found:
                receiver(event)

        yield send
