"""Measurements behind the documentation: reproduce, bench, trials. Loaded only by their own commands."""
