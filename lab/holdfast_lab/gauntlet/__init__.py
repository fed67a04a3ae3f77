"""`holdfast gauntlet`: learners and spike-skippers under corruption of growing number and size.

Three tracks. `streams`: tables with bad rows, predicted before they are learned. `steps`: gradient norms and
small trainings with bad steps. `games`: the paper's game against adversaries that look for a contestant's
weak place. Each pair of a scenario and a contestant gives a `Score`; `docs/gauntlet.md` says how to enter.
"""
