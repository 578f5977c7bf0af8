from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from renderer.tree import Publisher
from repositories import SITES, Site


@pytest.fixture(params=SITES)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """Somewhere to publish to, of each kind."""
    made = SITES[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def publisher(site: Site) -> Publisher:
    """It, open and empty."""
    return site.open()
