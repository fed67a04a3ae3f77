"""Every claim of the paper as an experiment: one file each."""
