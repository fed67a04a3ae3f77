"""Measurements behind the documentation: reproduce, bench, trials. Imported only by their own commands."""
