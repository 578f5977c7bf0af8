"""What can be set about rendering: where changes come from, and how they are published."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

MIB = 1024 * 1024


class RendererSection(BaseModel):
    """A frozen, closed group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _seconds(default: float, description: str) -> float:
    return Field(default=default, gt=0, allow_inf_nan=False, description=description)


def _bound(default: int, description: str) -> int:
    return Field(default=default, ge=1, description=description)


def _name(default: str, description: str) -> str:
    return Field(
        default=default,
        pattern=r"^[a-z0-9]([a-z0-9.:-]{0,61}[a-z0-9])?$",
        description=description,
    )


class SourceSettings(RendererSection):
    """The API a worker follows."""

    url: str = Field(
        default="ws://127.0.0.1:8000/graphql",
        description="The API whose fleet is rendered. Anywhere but on this machine, wss://.",
    )
    token: SecretStr = Field(
        default=SecretStr(""), description="The bearer token a worker shows; none by default."
    )
    token_file: str = Field(
        default="", description="A file that holds that token instead, read at every connection."
    )
    ca_file: str = Field(
        default="",
        description="Certificates, in PEM, of the authorities the API's own must come from. The"
        " system's by default.",
    )
    plain: bool = Field(
        default=False,
        description="Allow ws:// to another machine: inside a network that is private by itself.",
    )
    connect_seconds: float = _seconds(10.0, "Wait for a connection to be open and introduced.")
    answer_seconds: float = _seconds(30.0, "Wait for the answer to a question.")
    silence_seconds: float = _seconds(
        20.0, "Without a word for this long the API is asked whether it is there; twice, it is not."
    )
    message_bytes_max: int = _bound(128 * MIB, "Bytes in one message of the API.")
    reasons_max: int = Field(
        default=100, ge=1, le=500, description="Changesets whose reasons one commit tells."
    )
    retry_seconds: float = _seconds(
        0.5, "Wait before the API is tried again; it doubles every time, and varies by half."
    )
    retry_seconds_max: float = _seconds(30.0, "Longest wait before the API is tried again.")


class RenderSettings(RendererSection):
    """How a worker publishes."""

    output: str = Field(
        default="git:gitops.git#main",
        description="Where to publish: git:PATH_OR_URL#BRANCH, or dir:PATH.",
    )
    name: str = Field(
        default="main",
        max_length=63,
        description="What the output is called where the API tells what was published.",
    )
    batch_milliseconds: float = Field(
        default=250.0,
        ge=0,
        allow_inf_nan=False,
        description="How long more changes are waited for before they are committed together.",
    )
    batch_seconds_max: float = _seconds(
        2.0, "Longest time for which changes are gathered into one commit."
    )
    retry_seconds: float = _seconds(
        60.0, "How often what could not be rendered is tried again, and others' edits are undone."
    )
    retry_rounds_max: int = Field(
        default=64,
        ge=1,
        description="Longest pause of an application whose template had to be stopped, in rounds"
        " of those seconds; it doubles every time, and each round tries one such application.",
    )
    lost_clusters_max: int = Field(
        default=25,
        ge=0,
        description="Clusters an application may lose at once without that having been stated,"
        " also when they are a larger part of it than the percentage allows.",
    )
    lost_percent_max: float = Field(
        default=5.0,
        ge=0,
        le=100,
        description="Percent of its clusters an application may lose at once without that having"
        " been stated, also when they are more than the number allows.",
    )
    build_with: str = Field(
        default="",
        max_length=200,
        description="A command that builds a directory, as kustomize build or kubectl kustomize:"
        " every overlay is built with it before it is published, and held if it does not build."
        " None by default.",
    )
    build_seconds_max: float = _seconds(30.0, "Longest time that such a build may take.")
    metrics_host: str = Field(
        default="127.0.0.1", description="The address a worker's metrics are served on."
    )
    metrics_port: int = Field(
        default=0, ge=0, le=65_535, description="Its port; 0 serves no metrics of a worker."
    )


class TemplateSettings(RendererSection):
    """How much a template may take before it is stopped."""

    seconds_max: float = _seconds(2.0, "Processor time of one overlay's templates.")
    first_seconds_max: float = _seconds(
        0.25,
        "Processor time of one overlay's templates while other changes wait; one that takes longer"
        " is tried again with all its time after them.",
    )
    wait_seconds_max: float = _seconds(30.0, "Longest wait for one overlay, whatever it does.")
    memory_bytes_max: int = Field(
        default=384 * MIB,
        ge=64 * MIB,
        description="Memory of the process that renders templates, in bytes.",
    )
    file_length_max: int = _bound(MIB, "Characters of one rendered file.")
    overlay_length_max: int = _bound(4 * MIB, "Characters of all files of one overlay.")


class GitSettings(RendererSection):
    """How a git repository is reached, and what its commits say about their author."""

    name: str = Field(default="Trellis", description="The author of commits.")
    email: str = Field(default="trellis@localhost", description="The author's e-mail address.")
    signing_key: str = Field(
        default="",
        description="What commits are signed with: the file of an ssh key, or the identity of an"
        " OpenPGP key. None by default.",
    )
    signing_format: Literal["ssh", "openpgp"] = Field(
        default="ssh", description="What that key is."
    )
    signing_home: str = Field(default="", description="The directory of OpenPGP's keys.")
    credential_helper: str = Field(
        default="",
        description="A git credential helper for https: its name or path, with its arguments.",
    )
    key_file: str = Field(default="", description="The private key for ssh.")
    known_hosts: str = Field(
        default="", description="The keys of hosts that ssh trusts. The user's own by default."
    )
    ca_file: str = Field(
        default="",
        description="Certificates, in PEM, that https trusts. The system's by default.",
    )
    mirror: str = Field(
        default=".trellis-mirror.git",
        description="A directory of the worker's own, in which it keeps a copy of a remote.",
    )
    command_seconds: float = _seconds(60.0, "Longest git command on this machine.")
    transfer_seconds: float = _seconds(600.0, "Longest fetch or push.")
    tries_max: int = _bound(4, "Fetches and pushes before a remote counts as away.")


class FormatSettings(RendererSection):
    """What reconcilers are told, apart from what is to run."""

    flux_namespace: str = _name("flux-system", "The namespace in which Flux's objects are.")
    flux_source_kind: Literal["GitRepository", "OCIRepository", "Bucket"] = Field(
        default="GitRepository", description="The kind of the source that Flux reads from."
    )
    flux_source_name: str = _name("trellis", "The name of that source, in Flux's namespace.")
    flux_interval_seconds: int = _bound(
        3_600, "How often Flux compares an application with its cluster, unless something changes."
    )
    flux_retry_seconds: int = _bound(120, "Wait of Flux before it tries again what failed.")
    flux_timeout_seconds: int = _bound(
        300, "How long Flux gives an application to be applied and to become healthy."
    )
    flux_wait: bool = Field(
        default=True,
        description="Whether Flux calls an application ready only when its objects are healthy:"
        " what depends on it waits for that.",
    )
    argocd_namespace: str = _name("argocd", "The namespace in which Argo CD's objects are.")
    argocd_repository: str = Field(
        default="https://git.example/gitops.git",
        max_length=2_000,
        description="The repository as Argo CD finds it: what is published there is what it reads.",
    )
    argocd_revision: str = Field(
        default="main",
        min_length=1,
        max_length=200,
        description="The branch, or the tag of an artifact, that Argo CD follows.",
    )
    argocd_server: str = Field(
        default="https://kubernetes.default.svc",
        max_length=2_000,
        description="The cluster that Argo CD applies to: by default the one it runs in.",
    )
    argocd_retries: int = Field(
        default=3,
        ge=-1,
        description="How often Argo CD tries again what failed; until then it is neither mended"
        " nor removed. -1 is without end.",
    )
    argocd_retry_seconds: int = _bound(
        10, "Wait of Argo CD before it tries again; it doubles every time."
    )
    argocd_retry_seconds_max: int = _bound(300, "Longest wait of Argo CD before it tries again.")
    ansible_facts_directory: str = Field(
        default="/etc/ansible/facts.d",
        pattern=r"^(?:/[A-Za-z0-9._-]+)+$",
        description="Where a host remembers which applications it runs, for the day they go.",
    )
    own_formats: str = Field(
        default="",
        max_length=2_000,
        description="Formats that are templates in the repository, instead of the built-in ones:"
        " RECONCILER=DIRECTORY, with commas between.",
    )
    reconciler_role: str = _name(
        "admin", "The ClusterRole that a reconciler has inside a namespace, and nowhere else."
    )
    owners_role: str = _name("view", "The ClusterRole that a namespace's owners have inside it.")
    owners_are: Literal["Group", "User"] = Field(
        default="Group", description="What a namespace's owners are to Kubernetes."
    )
    pod_security: Literal["privileged", "baseline", "restricted"] = Field(
        default="baseline",
        description="The pod security standard that a namespace's pods are held to.",
    )
    pod_security_warn: Literal["privileged", "baseline", "restricted"] = Field(
        default="restricted",
        description="The pod security standard whose breaches are warned of.",
    )
    isolate_namespaces: bool = Field(
        default=True,
        description="Whether pods are reached from their own namespace alone, unless an"
        " application's own NetworkPolicy lets others in.",
    )
    secret_store_kind: Literal["SecretStore", "ClusterSecretStore"] = Field(
        default="ClusterSecretStore",
        description="The kind of the store that an ExternalSecret names.",
    )
    secret_refresh_seconds: int = _bound(3_600, "How often an ExternalSecret is fetched again.")
    secret_parameters: str = Field(
        default="",
        max_length=8_000,
        description="Parameters of every SecretProviderClass of a provider, none of them secret:"
        " PROVIDER.PARAMETER=VALUE, with commas between, as azure.keyvaultName=stores.",
    )

    @field_validator("own_formats", "secret_parameters")
    @classmethod
    def _check_pairs(cls, value: str) -> str:
        pairs(value)
        return value


def pairs(text: str) -> dict[str, str]:
    """``a=b,c=d`` as a map; the spaces around each part are nobody's."""
    found: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = map(str.strip, part.partition("="))
        if not name or not equals or not value:
            raise ValueError(f"{part!r} is not written as NAME=VALUE")
        if name in found:
            raise ValueError(f"{name!r} is given twice")
        found[name] = value
    return found
