"""Files and standard input as streams of rows.

opening.py        the bytes of a file or of standard input, decompressed, from any offset
records.py        bytes cut into chunks of whole records
columns.py        which columns a file has, what they hold, and how cells become rows
delimited.py      records of CSV: PyArrow reads them, a cell-by-cell reader names what is wrong
arff.py           records of ARFF, and what its header declares
headers.py        the headers of CSV and ARFF files
json_lines.py     JSON lines: one object per line
parquet.py        Parquet, by row groups
sources.py        which of them reads a file; ahead.py reads the next chunk while this one is learned
"""
