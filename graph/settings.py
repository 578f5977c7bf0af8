"""The bounds of the core. Every queue, page, wait and retry has one, with a default that holds."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class GraphSettings(BaseModel):
    """How much the engine keeps, waits and tries."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    snapshots_kept_max: int = Field(
        default=64, ge=1, description="Newest revisions kept whole, for pages and resumes."
    )
    snapshots_kept_seconds: float = Field(
        default=60.0,
        ge=0,
        allow_inf_nan=False,
        description="Revisions younger than this are kept beyond the count, up to 4x.",
    )
    reconstructions_kept_max: int = Field(
        default=4,
        ge=1,
        description="Earlier revisions kept after being reconstructed from the log.",
    )
    reconstructions_kept_bytes: int = Field(
        default=256 * 1024 * 1024,
        ge=0,
        description="Memory for those, as estimated from the number of clusters and groups; the"
        " last one is kept whatever its size.",
    )
    checkpoints_kept_max: int = Field(
        default=64,
        ge=0,
        description="Earlier revisions kept in files, from which others are reconstructed; 0 for"
        " none.",
    )
    checkpoints_kept_bytes: int = Field(
        default=1024 * 1024 * 1024, ge=0, description="Bytes of all those files together."
    )
    checkpoint_changes_min: int = Field(
        default=1_000,
        ge=1,
        description="Changes between two of them; one in 16 objects of the fleet if that is more.",
    )
    writes_waiting_max: int = Field(
        default=1_000, ge=1, description="Batches that may wait to be written; more are refused."
    )
    group_commit_max: int = Field(
        default=128, ge=1, description="Batches written in one transaction of the store."
    )
    decide_again_max: int = Field(
        default=16,
        ge=1,
        description="Times a batch is decided anew because another process wrote first.",
    )
    answers_kept_max: int = Field(
        default=4_096, ge=0, description="Answers remembered for the newest revision."
    )
    selectors_kept_max: int = Field(
        default=4_096, ge=0, description="Selector texts remembered with their meaning."
    )
    scopes_kept_max: int = Field(
        default=64,
        ge=1,
        description="Views through an actor's scope remembered, and actors with their access.",
    )
    changesets_kept_max: int = Field(
        default=1_024, ge=1, description="Newest changesets held in memory for followers."
    )
    page_size_max: int = Field(default=10_000, ge=1, description="Clusters in one page.")
    tree_rows_max: int = Field(default=100_000, ge=1, description="Rows in one tree or cross-tab.")
    history_max: int = Field(
        default=1_000, ge=1, description="Changes shown of one object's history."
    )
    changesets_page_max: int = Field(
        default=500,
        ge=1,
        description="Changesets in one page of the log, or behind one difference.",
    )
    changesets_looked_max: int = Field(
        default=2_000,
        ge=1,
        description="Changesets looked at for one page of the log or one difference.",
    )
    resume_changesets_max: int = Field(
        default=10_000,
        ge=0,
        description="Changesets a follower of a set may be behind; further back it starts again.",
    )
    lost_clusters_max: int = Field(
        default=25,
        ge=0,
        description="Clusters an application may lose in one batch without an expected loss, "
        "also when they are a larger part of it than the percentage allows.",
    )
    lost_percent_max: float = Field(
        default=5.0,
        ge=0,
        le=100,
        description="Percent of its clusters an application may lose in one batch without an "
        "expected loss, also when they are more than the number allows.",
    )
    configurations_max: int = Field(
        default=2_000,
        ge=1,
        description="Distinct configurations of one application, or of the fleet's own settings, "
        "that a command may lead to.",
    )
    states_kept_max: int = Field(
        default=16,
        ge=1,
        description="Revisions of which it is remembered what runs where.",
    )
    poll_seconds: float = Field(
        default=0.1,
        gt=0,
        allow_inf_nan=False,
        description="Wait between looks at the store for other writers' changes.",
    )
