"""The seven datasets of the paper: what they are, where they come from, and how to know them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LICENCE = "CC BY 4.0"


@dataclass(frozen=True)
class Dataset:
    """One dataset. The checksum is that of its rows as CSV text (see ``files.checksum``), missing cells left empty."""

    name: str
    title: str
    origin: Literal["rule", "shipped", "fetched"]
    n_rows: int
    n_features: int
    n_classes: int
    columns: str
    citation: str
    doi: str
    sha256: str
    licence: str = LICENCE

    @property
    def url(self) -> str:
        return f"https://doi.org/{self.doi}"


PAPER = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "balance",
            "Balance Scale",
            "rule",
            n_rows=625,
            n_features=4,
            n_classes=3,
            columns="4 whole numbers, 1 to 5",
            citation="Siegler, R. (1976). Balance Scale. UCI Machine Learning Repository.",
            doi="10.24432/C5488X",
            sha256="890a1daea942695a0bfeaa445963d936cb8feaeca337da9a833a95f65668f246",
        ),
        Dataset(
            "cars",
            "Car Evaluation",
            "rule",
            n_rows=1728,
            n_features=6,
            n_classes=4,
            columns="6 nominal",
            citation="Bohanec, M. (1988). Car Evaluation. UCI Machine Learning Repository.",
            doi="10.24432/C5JP48",
            sha256="0023b86e0dd3502aaa0e4a610ef4d8aebbba7ff40f53fa7c2f0543c68bee5114",
        ),
        Dataset(
            "landsat",
            "Statlog (Landsat Satellite)",
            "shipped",
            n_rows=6435,
            n_features=36,
            n_classes=6,
            columns="36 whole numbers, 0 to 255",
            citation="Srinivasan, A. (1993). Statlog (Landsat Satellite). UCI Machine Learning Repository.",
            doi="10.24432/C55887",
            sha256="11875cb5c55a6c0a1ee11ea87f4a5ad01a8a67e125d278a32962302211b3bd36",
        ),
        Dataset(
            "segment",
            "Image Segmentation",
            "shipped",
            n_rows=2310,
            n_features=19,
            n_classes=7,
            columns="19 numbers",
            citation="Vision Group, University of Massachusetts (1990). Image Segmentation. "
            "UCI Machine Learning Repository.",
            doi="10.24432/C5GP4N",
            sha256="c4c1e7e67ab43efd079273db5b54b92b41c8212c970db6fd1ef023a9d0615725",
        ),
        Dataset(
            "mice",
            "Mice Protein Expression",
            "fetched",
            n_rows=1080,
            n_features=77,
            n_classes=8,
            columns="77 numbers, 1,396 cells missing",
            citation="Higuera, C., Gardiner, K. & Cios, K. (2015). Mice Protein Expression. "
            "UCI Machine Learning Repository.",
            doi="10.24432/C50S3Z",
            sha256="240d98a5da9cc96d40d73f57646ef1bb044a7d717ea10b94c7ca34b26020e33f",
        ),
        Dataset(
            "yeast",
            "Yeast",
            "shipped",
            n_rows=1484,
            n_features=8,
            n_classes=10,
            columns="8 numbers",
            citation="Nakai, K. (1991). Yeast. UCI Machine Learning Repository.",
            doi="10.24432/C5KG68",
            sha256="b0bc5b34b1946fedc23506ec9fdca74ad7e16cbb76d3eecd93e00f6ebd27bf2b",
        ),
        Dataset(
            "abalone",
            "Abalone",
            "shipped",
            n_rows=4177,
            n_features=8,
            n_classes=28,
            columns="1 nominal, 7 numbers",
            citation="Nash, W., Sellers, T., Talbot, S., Cawthorn, A. & Ford, W. (1994). Abalone. "
            "UCI Machine Learning Repository.",
            doi="10.24432/C55C7W",
            sha256="0daec39b47c60ca786f5c9a60574ec71b1c616f5c1e63b447080c70b06d1e43f",
        ),
    )
}
