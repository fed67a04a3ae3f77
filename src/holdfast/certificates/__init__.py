"""What a run proves about its own regret, for any learner, without knowing which rounds were outliers."""
