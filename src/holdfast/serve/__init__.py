"""Serve a run over HTTP: predictions now, labels later, nothing lost. Needs the extra `holdfast[serve]`.

Here is the client, which needs nothing but the standard library.
"""

from holdfast.serve.client import Answer, AsyncClient, Client, ServerError

__all__ = ["Answer", "AsyncClient", "Client", "ServerError"]
