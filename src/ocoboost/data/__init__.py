"""A caller's tables become rows, labels and columns.

rows.py         features of one row: sorted names, plain values, None where missing
labels.py       labels and their indices
schema.py       columns, categories, and blocks of rows as matrices of codes
tables.py       arrays, frames and lists of dicts in; predictions of the same kind out
hazards.py      what can be learned and is probably not meant
looks.py        columns of text that look like dates, numbers or identifiers
parameters.py   ranges of constructor arguments, and the one sentence that says a value is outside its range
"""
