"""Files and pipes as streams of rows, and the loop that predicts each row before it learns it.

opening.py        bytes of a file or of standard input, unpacked, from any place on
records.py        bytes cut into chunks of whole records
columns.py        which columns there are and what they hold; cells into rows
delimited.py      CSV and its kin, and ARFF: fast where all is well, slow and exact where it is not
_decimals.py      the double nearest to a decimal number; _decimal_kernels.py, whole tables of them
json_lines.py     an object a line
parquet.py        Parquet, by row groups
sources.py        which of them reads a file; ahead.py, while the rows before are learned
scores.py         accuracy and its kin, row by row
runner.py         the loop: predict, wait for the label, learn, save
predictions.py    what a model says to the rows of a file
"""
