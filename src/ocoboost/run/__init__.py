"""A stream past a model: what `ocoboost run` and `ocoboost predict` do.

runner.py        predict each row of a file, wait for its label, learn it, save now and then
scores.py        how good the predictions were, in flat memory
predictions.py   what a model says to the rows of a file
page.py          the report of a run
"""
