"""A model per key: rows with a key go to their own model, and most models lie on disk.

store       models and their scores in one file
models      which of them are in memory, and what is learned by whom
scores      prequential scores, per key and overall
"""

from ocoboost.keyed.models import ModelsByKey

__all__ = ["ModelsByKey"]
