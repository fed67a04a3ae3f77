"""The description of the API (OpenAPI 3.1), made of the types of its bodies."""

from typing import Any, NamedTuple

import msgspec

from holdfast import __version__
from holdfast.serve import bodies

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


class _Call(NamedTuple):
    """A call: POST if it has a body. `more` are statuses that not all calls have."""

    path: str
    does: str
    body: Any = None
    answer: Any = None
    more: tuple[str, ...] = ()
    secret: bool = False
    parameters: tuple[Any, ...] = ()


_PREDICT = bodies.PredictBody, bodies.Predictions, ("409",), False, (_KEY,)
_LABEL = bodies.LabelBody, bodies.LabelStatuses, (), True
_LEARN = bodies.LearnBody, bodies.Learned, (), True, (_KEY,)
_CHANGE = bodies.RowNumbers, None, ("403", "409"), True
_CALLS = (
    _Call("/predict", "Predict one row or several", *_PREDICT),
    _Call("/label", "Give the target of a row that was predicted", *_LABEL),
    _Call("/learn", "Learn from rows with targets", *_LEARN),
    _Call("/release", "Learn from skipped rows after all", *_CHANGE),
    _Call("/retract", "Take rows back, as if they had never been learned", *_CHANGE),
    _Call("/audit", "Skipped rows, as of the last checkpoint", parameters=(_LIMIT, _AFTER)),
    _Call("/model", "The model, and how it does"),
    _Call("/errors", "The error of judged forecasts over time"),
    _Call("/health", "Whether the server learns", more=("503",)),
    _Call("/metrics", "Figures for Prometheus", answer="text/plain"),
    _Call("/events", "Server-sent events: skips, alarms, releases, retractions", answer="text/event-stream"),
)
_MORE = {
    "403": "the server has no token, and this call needs one",
    "409": "the run or an id does not allow it",
    "503": "the server does not learn",
}


def openapi() -> dict[str, Any]:
    kinds = [bodies.PredictBody, bodies.LabelBody, bodies.LearnBody, bodies.RowNumbers]
    kinds += [bodies.Predictions, bodies.LabelStatuses, bodies.Learned, bodies.Problem]
    _, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    problem = {"application/json": {"schema": _ref(bodies.Problem)}}
    paths: dict[str, Any] = {}
    for one in _CALLS:
        is_text = isinstance(one.answer, str)
        kind = one.answer if is_text else "application/json"
        schema = {"type": "string"} if is_text else _ref(one.answer) if one.answer else {"type": "object"}
        found: dict[str, Any] = {"200": {"description": "done", "content": {kind: {"schema": schema}}}}
        statuses = _ERRORS if one.body is not None else {name: _ERRORS[name] for name in _OF_ALL}
        for status, text in (statuses | {name: _MORE[name] for name in one.more}).items():
            found[status] = {"description": text, "content": problem}
        call: dict[str, Any] = {"summary": one.does, "operationId": one.path[1:], "responses": found}
        if one.parameters:
            call["parameters"] = one.parameters
        if one.body is not None:
            content = {"application/json": {"schema": _ref(one.body)}}
            call["requestBody"] = {"required": True, "content": content}
        if one.secret:
            call["security"] = [{"token": []}]
        elif one.path == "/predict":  # at an address of other machines
            call["security"] = [{}, {"token": []}]
        paths[one.path] = {"get" if one.body is None else "post": call}
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
