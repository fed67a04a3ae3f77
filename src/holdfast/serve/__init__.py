"""Serve a run over HTTP: predictions now, labels later, nothing lost. Needs the extra `holdfast[serve]`."""
