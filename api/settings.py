"""What the door allows: addresses, limits, tokens, telemetry. Every default holds in production."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

MIB = 1024 * 1024


class ApiSection(BaseModel):
    """A frozen, closed group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _seconds(default: float, description: str) -> float:
    return Field(default=default, gt=0, allow_inf_nan=False, description=description)


def _bound(default: int, description: str) -> int:
    return Field(default=default, ge=1, description=description)


class ApiSettings(ApiSection):
    """Where the API listens and how much one caller may ask of it."""

    host: str = Field(default="127.0.0.1", description="The address the API listens on.")
    port: int = Field(default=8000, ge=0, le=65_535, description="Its port; 0 takes a free one.")
    origins: str = Field(
        default="",
        description="Origins, separated by spaces, whose pages may open sockets and send requests,"
        " besides the API's own.",
    )
    console: bool = Field(default=True, description="Serve the GraphQL console at /.")
    introspection: bool = Field(
        default=True, description="Answer questions about the schema, and suggest field names."
    )
    origin_headers: str = Field(
        default="authorization content-type if-none-match last-event-id"
        " traceparent tracestate baggage"
        " apollographql-client-name apollographql-client-version apollo-require-preflight"
        " x-apollo-operation-name x-apollo-operation-id x-apollo-operation-type"
        " graphql-client-name graphql-client-version x-request-id",
        pattern=r"^[A-Za-z0-9_ -]*$",
        description="Headers, separated by spaces, that pages of those origins may send.",
    )
    get_queries: bool = Field(
        default=True, description="Answer queries sent by GET; a change is never made by GET."
    )
    body_bytes_max: int = _bound(MIB, "Bytes in a request.")
    batch_bytes_max: int = _bound(16 * MIB, "Bytes in a request of an editor's apply or preview.")
    body_seconds: float = _seconds(
        10.0, "Wait for the head of a request, and as long again for its body."
    )
    document_length_max: int = _bound(100_000, "Characters in a GraphQL document.")
    tokens_max: int = _bound(2_000, "Tokens in a GraphQL document.")
    cost_max: int = _bound(
        100_000, "Cost of one operation: fields times the sizes of the pages around them."
    )
    depth_max: int = _bound(50, "Levels of fields and fragments in one operation.")
    as_of_max: int = _bound(2, "Distinct earlier revisions or times read by one request.")
    tree_rows_max: int = _bound(10_000, "Rows of all trees in one request.")
    at_least_seconds: float = _seconds(5.0, "Longest wait for a revision asked for by atLeast.")
    execution_seconds: float = _seconds(10.0, "Longest work on one operation.")
    documents_kept_max: int = Field(
        default=1_000, ge=0, description="Documents remembered parsed and validated."
    )
    documents_kept_tokens: int = Field(
        default=250_000,
        ge=0,
        description="Tokens of those documents in all; a field that was planned weighs as three.",
    )
    persisted_queries_max: int = Field(
        default=1_000,
        ge=0,
        description="Documents remembered by their hash, for clients that send the hash alone; 0"
        " tells them to send the text.",
    )
    persisted_queries_bytes: int = Field(
        default=4 * MIB, ge=0, description="Bytes of those documents in all."
    )
    responses_kept_bytes: int = Field(
        default=64 * MIB, ge=0, description="Answers of the newest revision remembered, in bytes."
    )
    rows_kept_bytes: int = Field(
        default=64 * MIB, ge=0, description="Rows of the newest revision remembered, in bytes."
    )
    requests_per_second: float = Field(
        default=1_000.0, gt=0, description="Requests a caller may send, on average."
    )
    requests_burst: int = _bound(2_000, "Requests a caller may send at once.")
    sockets_max: int = _bound(5_000, "Sockets and streams open at a time.")
    sockets_per_caller_max: int = _bound(1_000, "Sockets and streams one caller may have open.")
    operations_per_socket_max: int = _bound(100, "Operations under way on one socket.")
    socket_init_seconds: float = _seconds(10.0, "Wait for a socket's first message.")
    frame_bytes_max: int = _bound(MIB // 4, "Bytes in one message from a socket.")
    queue_messages_max: int = _bound(1_000, "Messages that may wait for one slow reader.")
    queue_bytes_max: int = _bound(MIB, "Bytes that may wait for one slow reader.")
    send_seconds: float = _seconds(10.0, "How long a reader may take nothing before it is closed.")
    recheck_seconds: float = _seconds(10.0, "How often an open stream's token is checked again.")
    progress_seconds: float = _seconds(
        10.0, "How often a stream with nothing to say tells how far it is, at most."
    )
    heartbeat_seconds: float = _seconds(15.0, "How often a silent event stream shows it is there.")
    chunk_clusters: int = _bound(1_000, "Clusters in one message of a cluster set's snapshot.")
    rendering_items: int = _bound(
        5_000, "Lines, overlays or names of clusters in one message of a rendering."
    )
    rendering_bytes: int = _bound(
        MIB // 4, "Bytes in one message of a rendering, about; what is larger goes by itself."
    )
    stale_seconds: float = _seconds(
        900.0, "Without a word from the store for this long, the process refuses to answer."
    )
    notice_seconds: float = Field(
        default=1.0,
        ge=0,
        allow_inf_nan=False,
        description="When stopping, how long /readyz says so before connections are refused.",
    )
    drain_seconds: float = _seconds(
        20.0, "Wait for requests, queries and mutations under way when stopping."
    )


class AuthSettings(ApiSection):
    """Who may come in."""

    issuer: str = Field(default="", description="The https URL of the issuer of tokens.")
    audience: str = Field(default="", description="The audience a token must be made for.")
    algorithms: str = Field(
        default="RS256 ES256 PS256 EdDSA",
        description="Signature algorithms accepted, separated by spaces; asymmetric ones only.",
    )
    claim: str = Field(default="groups", description="The claim that lists an actor's groups.")
    ca_file: str = Field(
        default="",
        description="Certificates, in PEM, of the authorities the issuer's own must come from."
        " The system's by default.",
    )
    leeway_seconds: int = Field(
        default=30, ge=0, le=300, description="How far the issuer's clock and ours may differ."
    )
    fetch_seconds: float = _seconds(5.0, "Longest read of the issuer's description or keys.")
    refresh_seconds: float = _seconds(60.0, "Least time between two reads of the issuer's keys.")
    keys_kept_seconds: float = _seconds(
        3_600.0, "Longest trust in keys, and in a checked token, without reading the keys again."
    )
    tokens_kept_max: int = _bound(10_000, "Checked tokens remembered until they expire.")
    first_admins: str = Field(
        default="",
        description="Subjects, separated by spaces, who are admins whatever the grants say.",
    )
    tokens: SecretStr = Field(
        default=SecretStr(""),
        description="Static tokens for development, as name:role:token separated by spaces.",
    )
    anonymous: Literal["", "reader", "editor", "operator", "admin"] = Field(
        default="admin",
        description="The role of callers without a token: only on a loopback address, for a"
        " loopback host name, and only while no issuer and no tokens are set.",
    )


class TelemetrySettings(ApiSection):
    """What the process tells about itself."""

    metrics: bool = Field(default=True, description="Serve Prometheus metrics at /metrics.")
    metrics_token: SecretStr = Field(
        default=SecretStr(""),
        description="The bearer token /metrics asks for; none by default.",
    )
    traces_url: str = Field(
        default="", description="Where traces are sent by OTLP over HTTP; nowhere by default."
    )
    traces_share: float = Field(
        default=1.0, ge=0, le=1, description="The share of requests that are traced."
    )
    service_name: str = Field(
        default="", description="The name of this process in traces; trellis by default."
    )
    resource_attributes: str = Field(
        default="",
        description="What else traces say of this process, as key=value,key=value with other"
        " characters percent-encoded.",
    )
    logs: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="The form of log lines: json, text, or auto: text on a terminal, else json.",
    )
    slow_seconds: float = _seconds(
        0.5, "A query that takes longer than this leaves a line in the log."
    )
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least that is logged."
    )
