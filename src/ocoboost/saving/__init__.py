"""Model files: arrays and JSON, a version and a checksum; reading one executes nothing.

container.py      bytes on disk: prefix, JSON, arrays, checksum; written beside the old file, then put in its place
values.py         Python values as JSON that keeps their types
trees.py          what native trees have learned, and the checks that nothing in it leads a kernel astray
model.py          classifiers: their parameters, and a fresh state that is filled from the file
"""
