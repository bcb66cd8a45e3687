"""Files that several tests read."""

from __future__ import annotations

import pytest

from command_line import write_rows


@pytest.fixture(scope="session")
def rows_csv(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("rows") / "rows.csv")
