"""``python -m api.serving.healthy [URL]``: exit 0 if the API is ready, 1 with the reason if not.

The health check of the container, which has Python and no curl. It asks ``/readyz`` as an
orchestrator would, straight and not through a proxy.
"""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

URL = "http://127.0.0.1:8000/readyz"
TIMEOUT_SECONDS = 4.0
ANSWER_BYTES_MAX = 4_096


def why_not(url: str) -> str | None:
    """Why the API at ``url`` is not ready; None if it is."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        return f"{url} is not an address of plain http"
    connection = HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        said = answer.read(ANSWER_BYTES_MAX).decode("utf-8", "replace")
    except (OSError, HTTPException) as error:
        return f"{url} does not answer: {error}"
    finally:
        connection.close()
    return None if answer.status == 200 else f"{answer.status}: {said}"


def main(arguments: list[str]) -> int:
    """The exit code for ``arguments``; the reason goes to standard error."""
    reason = why_not(arguments[0] if arguments else URL)
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
    return 0 if reason is None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
