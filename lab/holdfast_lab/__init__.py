"""What measures holdfast: the commands reproduce, bench, trials, learners, and pictures of the pages."""
