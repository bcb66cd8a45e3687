"""A job for tests, in a module that other processes can import."""

from __future__ import annotations


def work(job):
    return {"accuracy": 10.0 * job["shuffle"], "job": job["model"]}
