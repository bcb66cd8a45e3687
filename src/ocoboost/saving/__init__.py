"""Model files: arrays and JSON, a version and a checksum; reading one executes nothing.

container.py      bytes on disk: prefix, JSON, arrays, checksum; what is declared is checked before it is unpacked
planes.py         arrays as compressed bytes
values.py         Python values as JSON that keeps their types
limits.py         what parameters may ask for, given the size of the file
model.py          models: their parameters, and a fresh state that is filled from the file; learners and boosters
                  validate their own state (`restore`)
"""
