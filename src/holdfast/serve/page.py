"""The page for people: what is served, and how it does."""

import html

from holdfast.serve.service import Service


def page(service: Service) -> str:
    """The page as HTML."""
    found = service.model()
    items = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(found[name]))}</dd>"
        for name in ("rounds", "skipped", "waiting", "queued", "error")
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(found["run"])}</title>'
        f'<h1>{html.escape(found["run"])}</h1><dl>{items}</dl><a href="docs">API</a></html>'
    )
