"""What `holdfast.river` still needs of the old default for numbers."""

MEMORY = 300.0  # rounds, of scales
