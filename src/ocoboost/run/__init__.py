"""Streams through a model: what `ocoboost run` and `ocoboost predict` do.

runner.py        predict each row of a file, learn it once its label arrives, save periodically
checkpoint.py    a run as a file; resuming.py continues one
scores.py        prequential scores in constant memory; curves.py: accuracy through the stream, trivial baselines too
predictions.py   predictions of a saved model for the rows of a file
page.py          the report of a run; mixture_sections.py: what the default adds; column_counts.py: what columns held
regret_page.py   the account of the regret
audit.py         which labels of a table look wrong; audit_page.py is its report
forest.py        a second opinion on them
"""
