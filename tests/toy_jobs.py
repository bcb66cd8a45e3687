"""Jobs for tests, in a module that other processes can import."""

from __future__ import annotations

import os
import warnings

from ocoboost.errors import DataFileError, HazardWarning


def work(job):
    return {"accuracy": 10.0 * job["shuffle"], "job": job["model"]}


def failing(job, tick):
    """A job that fails in every way there is."""
    tick(0.5)
    if job["model"] == "warns":
        warnings.warn("numbers as text", HazardWarning, stacklevel=1)
    if job["model"] == "raises":
        raise KeyError("x\nand a second line")
    if job["model"] == "dies":
        os.kill(os.getpid(), 9)
    if job["model"] == "data":
        raise DataFileError("line 3")
    return {"model": job["model"]}
