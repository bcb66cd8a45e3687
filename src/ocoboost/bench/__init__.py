"""Accuracy experiments: datasets and runs. Speed is measured in the repository's ``benchmarks`` folder."""
