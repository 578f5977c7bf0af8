"""Settings: the only reader of the environment.

Every setting has a name under ``TRELLIS_``, a unit in that name where it has one, and a default
that works on a fresh machine; two are called as OpenTelemetry calls them. A name that is not known
is refused, so a typing error is not silence; links to Kubernetes Services are passed over. Secrets
have settings of their own and are never part of a URL, an argument or a log.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from api.settings import ApiSettings, AuthSettings, TelemetrySettings
from cli.service_links import service_links
from graph.model.command import COMMANDS_MAX
from graph.model.errors import Invalid
from graph.model.names import did_you_mean, nearest, quoted
from graph.settings import GraphSettings
from renderer.serve.settings import ArtifactSettings, ServeSettings
from renderer.settings import (
    FormatSettings,
    GitSettings,
    RenderSettings,
    SourceSettings,
    TemplateSettings,
)

PREFIX = "TRELLIS_"
FOR_TESTS = "TRELLIS_TEST_"
"""Names under this prefix belong to the test suite and are passed over."""
STANDARD_NAMES = {
    ("telemetry", "service_name"): "OTEL_SERVICE_NAME",
    ("telemetry", "resource_attributes"): "OTEL_RESOURCE_ATTRIBUTES",
}
"""Settings that every program of an installation is given under the same name."""

_log = logging.getLogger(__name__)


class Section(BaseModel):
    """A frozen, closed group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class StoreSettings(Section):
    """Where the fleet is kept."""

    url: str = Field(
        default="sqlite:///trellis.db",
        description="The record: sqlite:///path for a file, or neo4j://host, bolt://host and"
        " their +s forms for a server.",
    )
    snapshot_file: str = Field(
        default="",
        description="A copy of the index that shortens the next start. Beside an embedded store"
        " by default; none for a server.",
    )
    archive_directory: str = Field(
        default="",
        description="Where compaction keeps what it takes out of the log. Beside an embedded"
        " store by default; none for a server.",
    )
    checkpoint_directory: str = Field(
        default="",
        description="Copies of the index at earlier revisions, from which those between are read."
        " Beside an embedded store by default; none for a server.",
    )
    receipts_kept_days: int = Field(
        default=30,
        ge=1,
        le=36_500,
        description="Days for which a repeated idempotency key is answered with its first receipt.",
    )


def _seconds(default: float, description: str) -> float:
    return Field(default=default, gt=0, allow_inf_nan=False, description=description)


class Neo4jSettings(Section):
    """How to sign in to Neo4j, and how long to wait for it."""

    user: str = Field(default="neo4j", description="The user of the Neo4j server.")
    password: SecretStr = Field(default=SecretStr(""), description="The password of that user.")
    database: str = Field(default="neo4j", description="The database on the Neo4j server.")
    connections_max: int = Field(
        default=20, ge=2, description="Connections to the Neo4j server at a time."
    )
    connect_seconds: float = _seconds(3.0, "Wait for a new connection to Neo4j.")
    acquire_seconds: float = _seconds(5.0, "Wait for a free connection to Neo4j.")
    retry_seconds: float = _seconds(
        8.0, "How long Neo4j's transient failures are retried, and a lost commit is looked for."
    )
    read_seconds: float = _seconds(10.0, "Longest read of Neo4j.")
    commit_seconds: float = _seconds(10.0, "Longest commit to Neo4j, before its changes count.")
    commit_milliseconds_a_change: float = _seconds(
        5.0, "Added to the longest commit for each change in it."
    )
    load_seconds: float = _seconds(180.0, "Longest load of every fact from Neo4j.")
    probe_seconds: float = _seconds(
        0.5,
        "Wait between two probes of a Neo4j that is away; writes are refused until one succeeds.",
    )


class LoadSettings(Section):
    """How files are loaded."""

    batch_commands: int = Field(
        default=COMMANDS_MAX, ge=1, le=COMMANDS_MAX, description="Commands in one batch of a load."
    )


class DemoSettings(Section):
    """What the demo builds."""

    clusters: int = Field(
        default=60_000, ge=1, le=1_000_000, description="Clusters in the demo's fleet."
    )
    directory: str = Field(default=".demo", description="Where the demo keeps its store.")
    gitops: str = Field(
        default="gitops",
        description="The bare git repository in which the demo leaves what it renders.",
    )


def _graph() -> GraphSettings:
    return GraphSettings.model_validate({})


def _api() -> ApiSettings:
    return ApiSettings.model_validate({})


def _auth() -> AuthSettings:
    return AuthSettings.model_validate({})


def _source() -> SourceSettings:
    return SourceSettings.model_validate({})


def _render() -> RenderSettings:
    return RenderSettings.model_validate({})


def _format() -> FormatSettings:
    return FormatSettings.model_validate({})


def _artifact() -> ArtifactSettings:
    return ArtifactSettings.model_validate({})


def _served() -> ServeSettings:
    return ServeSettings.model_validate({})


def _template() -> TemplateSettings:
    return TemplateSettings.model_validate({})


class Settings(Section):
    """Everything that can be set."""

    actor: str = Field(
        default="",
        description="The subject that the command line acts for, as with --actor, if the store's"
        " owner allows it; nobody else by default.",
    )
    store: StoreSettings = Field(default_factory=StoreSettings, description="The store.")
    neo4j: Neo4jSettings = Field(default_factory=Neo4jSettings, description="The Neo4j server.")
    graph: GraphSettings = Field(default_factory=_graph, description="The bounds of the core.")
    api: ApiSettings = Field(default_factory=_api, description="The API.")
    auth: AuthSettings = Field(default_factory=_auth, description="Who may use it.")
    telemetry: TelemetrySettings = Field(
        default_factory=TelemetrySettings, description="What it tells about itself."
    )
    source: SourceSettings = Field(
        default_factory=_source, description="The API that a worker follows."
    )
    render: RenderSettings = Field(default_factory=_render, description="What it publishes.")
    format: FormatSettings = Field(default_factory=_format, description="What reconcilers read.")
    template: TemplateSettings = Field(
        default_factory=_template, description="How much a template may take."
    )
    git: GitSettings = Field(default_factory=GitSettings, description="Where it publishes to git.")
    artifact: ArtifactSettings = Field(
        default_factory=_artifact, description="Artifacts of what is published."
    )
    serve: ServeSettings = Field(default_factory=_served, description="How they are served.")
    load: LoadSettings = Field(default_factory=LoadSettings, description="Loading files.")
    demo: DemoSettings = Field(default_factory=DemoSettings, description="The demo.")


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in ``environment``; that of the process by default."""
    source = os.environ if environment is None else environment
    known = names()
    links = service_links(source, prefix=PREFIX)
    nested: dict[str, dict[str, str]] = {}
    flat: dict[str, str] = {}
    for name, value in sorted(source.items()):
        ours = name.startswith(PREFIX) and not name.startswith(FOR_TESTS)
        if name in links or not (ours or name in known):
            continue
        if name not in known:
            close = did_you_mean(nearest(name, known, count=1))
            raise Invalid(
                f"there is no setting {quoted(name)}",
                hint=close or f"known: {', '.join(known)}",
            )
        section, field = known[name]
        if section:
            nested.setdefault(section, {})[field] = value
        else:
            flat[field] = value
    try:
        return Settings.model_validate(flat | nested)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = PREFIX + "_".join(str(part) for part in first["loc"]).upper()
        message = first["msg"][:1].lower() + first["msg"][1:]
        raise Invalid(f"{at}: {message}", hint=f"set {at} to another value") from None


def escapes_wanted(environment: Mapping[str, str] | None = None) -> bool:
    """Whether a terminal may be sent escape codes: not with NO_COLOR set, nor TERM=dumb."""
    source = os.environ if environment is None else environment
    return not source.get("NO_COLOR") and source.get("TERM") != "dumb"


def log_service_links() -> None:
    """Say which names of the environment were passed over, for whoever debugs their settings."""
    for name in sorted(service_links(os.environ, prefix=PREFIX)):
        _log.debug("%s is ignored: it is a link to a Kubernetes Service, not a setting", name)


def names() -> dict[str, tuple[str, str]]:
    """Every name in the environment, with the section (or none) and field it fills."""
    found: dict[str, tuple[str, str]] = {}
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            for inner in kind.model_fields:
                standard = STANDARD_NAMES.get((name, inner))
                found[standard or f"{PREFIX}{name}_{inner}".upper()] = (name, inner)
        else:
            found[f"{PREFIX}{name}".upper()] = ("", name)
    return found
