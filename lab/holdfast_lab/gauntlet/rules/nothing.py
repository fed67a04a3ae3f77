"""No rule: every step is taken."""


class Nothing:
    """Every step is taken."""

    def keep(self, size: float) -> bool:
        return True
