"""The child's first step: started as a file by a bare interpreter, told where modules are."""

from __future__ import annotations

import sys


def main() -> None:
    """Import from the places named as arguments, and serve."""
    sys.path[:] = sys.argv[1:]
    from renderer.sandbox.child import serve

    serve()


if __name__ == "__main__":
    main()
