"""What a filter remembers of the sizes it saw."""

from holdfast.sketches.histogram import LogHistogram
from holdfast.sketches.largest import Largest
from holdfast.sketches.ranks import Ranks
from holdfast.sketches.windowed import Windowed, WindowedHistogram

__all__ = ["Largest", "LogHistogram", "Ranks", "Windowed", "WindowedHistogram"]
