"""What every test shares: the size of the generated cases, and which kustomize it is."""

from __future__ import annotations

import pytest

import kustomize


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--scale",
        choices=("test", "campaign"),
        default="test",
        help="how many generated cases, crashes and cuts: a test run's share, or a campaign's",
    )


def pytest_report_header() -> str:
    return kustomize.header()


@pytest.fixture(scope="session")
def scale(request: pytest.FixtureRequest) -> str:
    """``test`` or ``campaign``."""
    return str(request.config.getoption("--scale"))
