"""What can be set about artifacts: where stores fetch them, and how they are served."""

from __future__ import annotations

from pydantic import Field

from renderer.settings import RendererSection

MIB = 1024 * 1024


def _seconds(default: float, description: str) -> float:
    return Field(default=default, gt=0, allow_inf_nan=False, description=description)


class ArtifactSettings(RendererSection):
    """What artifacts say about where they are."""

    url: str = Field(
        default="",
        pattern=r"^$|^oci://[A-Za-z0-9.:\[\]-]+(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*$",
        description="Where stores fetch artifacts: oci://HOST[:PORT][/PREFIX]. The address they"
        " are served on by default.",
    )
    insecure: bool = Field(
        default=False, description="Whether stores reach it by plain HTTP; always on loopback."
    )
    secret: str = Field(
        default="",
        pattern=r"^$|^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$",
        description="The secret in Flux's namespace on every cluster that holds its token.",
    )
    source: str = Field(
        default="trellis",
        max_length=500,
        description="Told in every artifact: where its files come from.",
    )
    files_max: int = Field(default=5_000, ge=1, description="Files in one artifact.")
    bytes_max: int = Field(
        default=32 * MIB, ge=1, description="Bytes in one artifact, before compression."
    )
    layout: str = Field(
        default="",
        description="A directory that also gets every artifact, as OCI image layouts.",
    )
    registry: str = Field(
        default="",
        pattern=r"^$|^https?://[A-Za-z0-9.:\[\]-]+(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*$",
        description="A registry that also gets every artifact: https://HOST[/PREFIX], or http on"
        " loopback.",
    )
    credentials_file: str = Field(
        default="",
        description="Who to be at that registry: a file as docker login writes it.",
    )
    connections: int = Field(
        default=4, ge=1, le=64, description="Connections to that registry at a time."
    )
    request_seconds: float = _seconds(30.0, "Longest wait for an answer of that registry.")
    tries_max: int = Field(
        default=5, ge=1, le=20, description="Times a request to that registry is sent at most."
    )
    delivered_file: str = Field(
        default=".trellis-delivered.json",
        min_length=1,
        description="A file of the worker's own, in which it keeps what it pushed to that registry,"
        " to take it away when it is retired.",
    )
    grace_seconds: float = _seconds(
        86_400.0, "How long artifacts that nothing leads to any more are kept."
    )


class ServeSettings(RendererSection):
    """How artifacts are served."""

    host: str = Field(default="127.0.0.1", description="The address artifacts are served on.")
    port: int = Field(default=8001, ge=0, le=65_535, description="Its port; 0 takes a free one.")
    tokens_file: str = Field(
        default="",
        description="Who may fetch what: lines of the SHA-256 of a token and a cluster's name, a"
        " pattern of names, or *. Needed on any address but loopback.",
    )
    head_milliseconds: float = Field(
        default=500.0,
        ge=0,
        allow_inf_nan=False,
        description="Least time between two looks at what is published.",
    )
    kept_bytes_max: int = Field(
        default=256 * MIB,
        ge=MIB,
        description="Artifacts remembered after they were handed out: whoever was led to one can"
        " still fetch it when something newer is published.",
    )
    packed_bytes_max: int = Field(
        default=192 * MIB, ge=MIB, description="Artifacts and their parts remembered as made."
    )
    waiting_max: int = Field(
        default=2_000, ge=1, description="Requests that may wait for an artifact to be made."
    )
    searches_max: int = Field(
        default=8,
        ge=1,
        description="Digests that a token for some clusters may have looked for at a time.",
    )
    connections_max: int = Field(default=4_000, ge=1, description="Connections open at a time.")
    request_seconds: float = _seconds(10.0, "Wait for the head of a request.")
    send_seconds: float = _seconds(20.0, "How long a reader may take nothing.")
    drain_seconds: float = _seconds(10.0, "Wait for requests under way when stopping.")
