"""Model files: arrays and JSON, a version and a checksum; reading one executes nothing.

container.py      bytes on disk: prefix, JSON, arrays, checksum; written beside the old file, then renamed over it
values.py         Python values as JSON that keeps their types
model.py          models: their parameters, and a fresh state that is filled from the file; learners and boosters
                  validate their own state (`restore`)
"""
