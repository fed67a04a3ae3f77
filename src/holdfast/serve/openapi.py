"""The description of the API (OpenAPI 3.1), made of the types of its bodies, and a page that shows it."""

import html
import json
from typing import Any

import msgspec

from holdfast import __version__
from holdfast.serve import bodies

_STYLE = (
    "body{font:16px/1.5 system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "pre{overflow:auto}"
)
_ERRORS = {
    "400": "not JSON, or another body than described",
    "401": "the token is missing or wrong",
    "408": "the request did not arrive in time",
    "413": "the body is too large",
    "415": "the body is not said to be JSON",
    "421": "another host name than the server answers to",
    "422": "a value that cannot be used, named in a sentence",
    "429": "too many requests at once, or too many in a second",
}
_OF_ALL = ("400", "421", "422", "429")
_KEY = {
    "name": "key",
    "in": "query",
    "description": "the key, for a run that was begun with --key",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
_WHOLE = {"type": "integer", "minimum": 0}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000}}
_AFTER = {"name": "after", "in": "query", "schema": _WHOLE, "description": "rows after this one"}
# Path: method, what it does, body, answer, further statuses, whether it needs the token, parameters.
_CALLS: tuple[tuple[str, str, str, Any, Any, tuple[str, ...], bool, list[Any]], ...] = (
    (
        "/predict",
        "post",
        "Predict one row or several",
        bodies.PredictBody,
        bodies.Predictions,
        ("409",),
        False,
        [_KEY],
    ),
    (
        "/label",
        "post",
        "Give the target of a row that was predicted",
        bodies.LabelBody,
        bodies.LabelStatuses,
        (),
        True,
        [],
    ),
    ("/learn", "post", "Learn from rows with targets", bodies.LearnBody, bodies.Learned, (), True, [_KEY]),
    (
        "/release",
        "post",
        "Learn from skipped rows after all",
        bodies.RowNumbers,
        None,
        ("403", "409"),
        True,
        [],
    ),
    (
        "/retract",
        "post",
        "Take rows back, as if they had never been learned",
        bodies.RowNumbers,
        None,
        ("403", "409"),
        True,
        [],
    ),
    ("/audit", "get", "Skipped rows, as of the last checkpoint", None, None, (), False, [_LIMIT, _AFTER]),
    ("/model", "get", "The model, and how it does", None, None, (), False, []),
    ("/errors", "get", "The error of judged forecasts over time", None, None, (), False, []),
    ("/health", "get", "Whether the server learns", None, None, ("503",), False, []),
    ("/metrics", "get", "Figures for Prometheus", None, "text/plain", (), False, []),
    (
        "/events",
        "get",
        "Server-sent events: skips, alarms, releases, retractions",
        None,
        "text/event-stream",
        (),
        False,
        [],
    ),
)
_MORE = {
    "403": "the server has no token, and this call needs one",
    "409": "the run or an id does not allow it",
    "503": "the server does not learn",
}


def openapi() -> dict[str, Any]:
    """The description as JSON."""
    kinds = [bodies.PredictBody, bodies.LabelBody, bodies.LearnBody, bodies.RowNumbers]
    kinds += [bodies.Predictions, bodies.LabelStatuses, bodies.Learned, bodies.Problem]
    _, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    problem = {"application/json": {"schema": _ref(bodies.Problem)}}
    paths: dict[str, Any] = {}
    for path, method, does, body, answer, more, secret, parameters in _CALLS:
        kind = answer if isinstance(answer, str) else "application/json"
        schema = (
            {"type": "string"} if isinstance(answer, str) else _ref(answer) if answer else {"type": "object"}
        )
        found: dict[str, Any] = {"200": {"description": "done", "content": {kind: {"schema": schema}}}}
        statuses = _ERRORS if body is not None else {name: _ERRORS[name] for name in _OF_ALL}
        for status, text in (statuses | {name: _MORE[name] for name in more}).items():
            found[status] = {"description": text, "content": problem}
        call: dict[str, Any] = {"summary": does, "operationId": path[1:], "responses": found}
        if parameters:
            call["parameters"] = parameters
        if body is not None:
            call["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(body)}}}
        if secret:
            call["security"] = [{"token": []}]
        elif path == "/predict":  # at an address of other machines
            call["security"] = [{}, {"token": []}]
        paths[path] = {method: call}
    return {
        "openapi": "3.1.0",
        "info": {"title": "holdfast serve", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _ref(kind: Any) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def docs_page() -> str:
    """The description as a page that needs nothing from a network."""
    found = openapi()
    parts = []
    for path, calls in found["paths"].items():
        for method, call in calls.items():
            secret = " (token)" if call.get("security") == [{"token": []}] else ""
            parts.append(
                f"<h2><code>{method.upper()} {path}</code>{secret}</h2><p>{html.escape(call['summary'])}.</p>"
            )
            parts += [f"<p><code>?{each['name']}=</code></p>" for each in call.get("parameters", ())]
            body = call.get("requestBody")
            if body is not None:
                name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                schema = json.dumps(found["components"]["schemas"][name], indent=2)
                parts.append(f"<details><summary>{name}</summary><pre>{html.escape(schema)}</pre></details>")
            listed = "".join(
                f"<li><b>{status}</b> {html.escape(one['description'])}</li>"
                for status, one in call["responses"].items()
            )
            parts.append(f"<ul>{listed}</ul>")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>holdfast serve: API</title><style>{_STYLE}</style><h1>holdfast serve</h1>"
        '<p>The same as <a href="openapi.json">OpenAPI</a>.</p>' + "".join(parts) + "</html>"
    )
