"""Contestants of the track `streams`: each learns from batches of rows and predicts the next.

A model has `predict(X)` and `partial_fit(X, y)`; labels are -1 and +1. `kept`, if it has one, says which rows
of the last batch it has learned from.
"""
