"""Pages and figures from records and results."""
