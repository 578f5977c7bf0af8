# API and worker in one slim image: built in one stage, run in another, as a user without rights.

FROM python:3.11.13-slim-bookworm AS build
# npm fetches the console's GraphiQL; without it the build goes on with the small console
RUN apt-get update \
    && apt-get install --yes --no-install-recommends npm \
    && rm -rf /var/lib/apt/lists/*
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY requirements-run.lock requirements-build.lock ./
RUN python -m venv /opt/trellis \
    && /opt/trellis/bin/pip install --require-hashes --requirement requirements-run.lock \
    && pip install --require-hashes --requirement requirements-build.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY api api
COPY graph graph
COPY renderer renderer
COPY cli cli
RUN pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
    && /opt/trellis/bin/pip install --no-deps dist/*.whl \
    && /opt/trellis/bin/pip uninstall --yes pip

FROM python:3.11.13-slim-bookworm
# what the worker publishes with: git, and what it needs to reach a remote by https and ssh
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --system --gid 10001 trellis \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin trellis \
    && install --directory --owner=trellis --group=trellis /var/lib/trellis
COPY --from=build /opt/trellis /opt/trellis
ENV PATH=/opt/trellis/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TRELLIS_API_HOST=0.0.0.0
USER 10001:10001
WORKDIR /var/lib/trellis
EXPOSE 8000
EXPOSE 8001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-m", "api.serving.healthy"]
ENTRYPOINT ["trellis"]
CMD ["serve"]
