"""holdfast serve: answer predictions over HTTP, and learn from labels that come later."""

import argparse
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from holdfast.cli.arguments import add_json, add_run, describe, interval
from holdfast.terminal import DONE, print_json, print_note


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        (
            "Answer predictions over HTTP with the model in RUN, and learn from labels that come later.\n"
            "What was answered, and what waits for a label, is stored before the answer is sent: a server\n"
            "that is killed loses nothing, and --durable says what a loss of power may take. A label is\n"
            "judged with the forecast that was given for its id. Rows are learned from in\n"
            "RUN/serve/rows.csv, which is a source of the run like any other: inspect, audit, retract,\n"
            "export and learn --into work on it. Without --host, only this machine is answered."
        ),
        [
            "holdfast serve sensors.run",
            "holdfast serve sensors.run --port 9000 --token-file token.txt",
            "holdfast serve sensors.run --host 0.0.0.0 --token-file t --allow-host m.org",
        ],
    )
    add_run(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address to bind to (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=8000, help="0 takes a free one (default: %(default)s)")
    token = (
        "a file with a token, which calls that change the model must send, and with --host those that "
        "predict; the variable HOLDFAST_TOKEN_FILE can name it, too"
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help=token)
    is_open = "with --host: answer predictions without the token, too"
    parser.add_argument("--open-predict", action="store_true", help=is_open)
    names = "answer calls for this host name, too; may be given several times"
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=names)
    durable = (
        "what an answer has survived before it is sent. process: a kill of the server, but a loss of "
        "power may take the last seconds. power: a loss of power, too; each answer waits for the disk. no: "
        "nothing, a kill can lose the last predictions (default: %(default)s)"
    )
    kinds = ("power", "process", "no")
    parser.add_argument("--durable", choices=kinds, default="process", help=durable)
    of_predict = "as of holdfast predict (default: 90%%)"
    parser.add_argument("--interval", type=interval, default=0.9, metavar="SHARE", help=of_predict)
    limits = parser.add_argument_group("limits")
    waiting = "predictions that wait for a label (default: %(default)s)"
    limits.add_argument("--waiting", type=_count, default=1_000_000, help=waiting)
    hours = "for which they wait (default: 168, a week)"
    limits.add_argument("--hours", type=_hours, default=168.0, help=hours)
    rate = "calls a second, of all clients together (default: any number)"
    limits.add_argument("--rate", type=float, default=0.0, help=rate)
    limits.add_argument("--rows", type=_count, default=1_000, help="rows in a call (default: %(default)s)")
    body = "of a call (default: %(default)s)"
    limits.add_argument("--body", type=_count, default=1 << 20, metavar="BYTES", help=body)
    add_json(parser)


def run(options: Namespace) -> int:
    from holdfast.serve.server import check_address, read_token, serve
    from holdfast.serve.service import Service
    from holdfast.serve.store import Durable, Limits

    path = options.token_file or os.environ.get("HOLDFAST_TOKEN_FILE")
    token = read_token(Path(path)) if path else None
    check_address(options.host, token)
    chosen = ("body", "rows", "rate", "waiting", "hours")
    limits = Limits(**{name: getattr(options, name) for name in chosen})
    service = Service(options.run, limits, Durable(options.durable), options.interval)

    def ready(address: str) -> None:
        if options.json:
            print_json({"event": "ready", "address": address, "run": str(options.run)})
        else:
            print_note(f"{options.run} is served at {address} (API: {address}/docs); Ctrl-C stops")

    serve(service, options.host, options.port, token, tuple(options.allow_host), ready, options.open_predict)
    return DONE


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:6]) < 1 << 16):
        raise argparse.ArgumentTypeError(f"a port is from 0 to 65535: got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:13]) <= 10**12):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on: got {text!r}")
    return int(text)


def _hours(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0.0 < found <= 1e6:
        raise argparse.ArgumentTypeError(f"must be a number of hours above 0: got {text!r}")
    return found
