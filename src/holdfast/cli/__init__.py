"""What `holdfast learn`, `predict`, `audit`, `report`, `inspect` and `demo` do."""
