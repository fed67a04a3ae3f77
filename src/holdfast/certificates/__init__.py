"""Bounds on the regret that a run proves itself, for any learner and any outliers."""
