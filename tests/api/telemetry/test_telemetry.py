"""Metrics and traces of a serving process, with a real engine and a real collector."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from api.settings import TelemetrySettings
from api.telemetry.telemetry import Telemetry
from api.telemetry.traces import resource_attributes, trace_id
from engines import give
from graph.engine import Engine
from graph.model.command import CreateHierarchy, RegisterCluster
from graph.model.errors import Conflict
from graph.store.embedded import EmbeddedStore
from graph.store.neo4j import Neo4jStore
from neo4j_server import server
from otlp_collector import collecting

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = PARENT[:-2] + "00"


def settings(**given: Any) -> TelemetrySettings:
    return TelemetrySettings.model_validate(given)


class Traced:
    """Telemetry with a collector in memory."""

    def __init__(self, **given: Any) -> None:
        self.collector = InMemorySpanExporter()
        given = {"traces_url": "http://127.0.0.1:1/v1/traces", **given}
        self.telemetry = Telemetry(settings(**given), exporter=lambda _: self.collector)

    async def spans(self) -> list[ReadableSpan]:
        await self.telemetry.close()
        return [*self.collector.get_finished_spans()]


async def opened(directory: Path, telemetry: Telemetry) -> Engine:
    store = await EmbeddedStore.open(directory / "fleet.db", write=True, create=True)
    return await Engine.open(store, trace=telemetry.trace)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = await opened(tmp_path, Telemetry(settings()))
    yield engine
    await engine.close()


async def metrics(telemetry: Telemetry) -> dict[str, float]:
    """What Prometheus reads, by name and labels."""
    app = Starlette(routes=telemetry.routes())
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.documentation, family.name
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


async def test_operations_are_counted_and_timed_by_kind_and_outcome(engine: Engine) -> None:
    telemetry = Telemetry(settings())
    telemetry.watch(engine)
    for seconds in (0.0002, 0.002, 20.0):
        telemetry.done("query", "Counts", "ok", seconds=seconds)
    telemetry.done("mutation", "", "DENIED", seconds=0.05)
    found = await metrics(telemetry)
    query = "kind=query,outcome=ok"
    bucket = "trellis_operation_duration_seconds_bucket{kind=query,le=%s,outcome=ok}"
    assert found[f"trellis_operation_duration_seconds_count{{{query}}}"] == 3
    assert found[f"trellis_operation_duration_seconds_sum{{{query}}}"] == pytest.approx(20.0022)
    assert [found[bucket % le] for le in ("0.0001", "0.0003", "0.003", "10.0", "+Inf")] == [
        0,
        1,
        2,
        2,
        3,
    ]
    assert found["trellis_operation_duration_seconds_count{kind=mutation,outcome=DENIED}"] == 1


async def test_what_is_counted_is_told(engine: Engine) -> None:
    telemetry = Telemetry(settings())
    telemetry.watch(engine)
    tallies = telemetry.tallies
    tallies.documents_hit, tallies.documents_missed = 7, 2
    tallies.responses_hit, tallies.responses_missed = 5, 3
    tallies.sockets_open, tallies.subscriptions_open = 11, 13
    tallies.shapes_open, tallies.messages_executed = 6, 17
    tallies.readers_dropped, tallies.rate_refused = 1, 4
    found = await metrics(telemetry)
    assert found["trellis_document_lookups_total{found=yes}"] == 7
    assert found["trellis_document_lookups_total{found=no}"] == 2
    assert found["trellis_response_lookups_total{found=yes}"] == 5
    assert found["trellis_response_lookups_total{found=no}"] == 3
    assert found["trellis_sockets_open"] == 11
    assert found["trellis_subscriptions_open"] == 13
    assert found["trellis_shapes"] == 6
    assert found["trellis_messages_executed_total"] == 17
    assert found["trellis_readers_dropped_total"] == 1
    assert found["trellis_rate_refused_total"] == 4
    assert found["process_start_time_seconds"] > 0


async def test_a_commit_that_breaks_is_a_fault_of_ours(engine: Engine) -> None:
    telemetry = Telemetry(settings())
    telemetry.watch(engine)
    with pytest.raises(RuntimeError), telemetry.trace("commit"):
        raise RuntimeError
    found = await metrics(telemetry)
    assert found["trellis_commit_duration_seconds_count{outcome=INTERNAL}"] == 1


@pytest.mark.parametrize("shown", [None, "", "Bearer", "Bearer wrong", "Basic scrape-token-0"])
async def test_where_metrics_have_a_token_nobody_reads_them_without_it(
    engine: Engine, shown: str | None
) -> None:
    telemetry = Telemetry(settings(metrics_token="scrape-token-0"))
    telemetry.watch(engine)
    transport = httpx.ASGITransport(Starlette(routes=telemetry.routes()))
    headers = {} if shown is None else {"authorization": shown}
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        refused = await client.get("/metrics", headers=headers)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "trellis" not in refused.text
        right = {"authorization": "Bearer scrape-token-0"}
        assert "trellis_clusters" in (await client.get("/metrics", headers=right)).text


async def test_the_fleets_numbers_are_of_now(tmp_path: Path) -> None:
    telemetry = Telemetry(settings())
    engine = await opened(tmp_path, telemetry)
    telemetry.watch(engine)
    assert (await metrics(telemetry))["trellis_index_revision"] == 0
    await give(engine, CreateHierarchy("geo"), RegisterCluster("store-1"))
    with pytest.raises(Conflict):
        await give(engine, CreateHierarchy("geo"))
    found = await metrics(telemetry)
    assert found["trellis_index_revision"] == 1
    assert found["trellis_clusters"] == 1
    assert found["trellis_index_age_seconds"] >= 0
    assert found["trellis_commit_duration_seconds_count{outcome=ok}"] == 1
    await engine.close()


async def test_two_processes_in_one_share_nothing(engine: Engine) -> None:
    one, other = Telemetry(settings()), Telemetry(settings())
    one.watch(engine)
    other.watch(engine)
    one.tallies.sockets_open = 5
    assert (await metrics(one))["trellis_sockets_open"] == 5
    assert (await metrics(other))["trellis_sockets_open"] == 0


def test_metrics_may_be_switched_off() -> None:
    assert Telemetry(settings(metrics=False)).routes() == []


async def test_without_a_collector_there_are_no_spans() -> None:
    telemetry = Telemetry(settings())
    assert not telemetry.traces.on
    with telemetry.traces.operation(PARENT), telemetry.traces.span("parse"):
        assert trace_id() == ""
    await telemetry.close()


async def test_work_that_nobody_asked_for_is_traced_by_itself() -> None:
    traced = Traced()
    with traced.telemetry.traces.work("plan", revision=3), traced.telemetry.traces.span("inside"):
        pass
    inside, plan = await traced.spans()
    assert (plan.name, plan.parent, plan.attributes) == ("plan", None, {"trellis.revision": 3})
    assert inside.parent is not None


async def test_a_span_belongs_to_the_callers_trace() -> None:
    traced = Traced()
    with traced.telemetry.traces.operation(PARENT):
        assert trace_id() == "0af7651916cd43dd8448eb211c80319c"
        with traced.telemetry.traces.span("parse", tokens=12):
            pass
        traced.telemetry.done("query", "Counts", "ok", seconds=0.001)
    parse, operation = await traced.spans()
    assert (parse.name, operation.name) == ("parse", "query")
    assert parse.attributes == {"trellis.tokens": 12}
    assert operation.attributes == {
        "graphql.operation.type": "query",
        "graphql.operation.name": "Counts",
        "trellis.outcome": "ok",
    }
    assert parse.parent is not None and operation.parent is not None
    assert parse.parent.span_id == operation.context.span_id
    assert f"{operation.parent.span_id:016x}" == "b7ad6b7169203331"


async def test_an_operation_begins_a_trace_of_its_own_even_inside_another() -> None:
    """A task that was started by one request may go on to serve others."""
    traced = Traced()
    traces = traced.telemetry.traces
    with traces.operation(PARENT), traces.operation():
        pass
    inner, outer = await traced.spans()
    assert inner.parent is None
    assert inner.context.trace_id != outer.context.trace_id


@pytest.mark.parametrize("header", ["", "x", "00-0-0-01", PARENT + "-x" * 9_000, "00-" + "0" * 52])
async def test_a_parent_that_makes_no_sense_is_passed_over(header: str) -> None:
    traced = Traced()
    with traced.telemetry.traces.operation(header):
        assert len(trace_id()) == 32
    (span,) = await traced.spans()
    assert span.parent is None


async def test_the_caller_decides_whether_it_is_traced_and_else_the_share() -> None:
    all_of_them, none_of_them = Traced(), Traced(traces_share=0)
    for traced in (all_of_them, none_of_them):
        for parent in (PARENT, UNSAMPLED, None):
            with traced.telemetry.traces.operation(parent):
                with traced.telemetry.traces.span("parse"):
                    pass
                traced.telemetry.done("query", "", "ok", seconds=0.001)
    assert len(await all_of_them.spans()) == 4
    assert len(await none_of_them.spans()) == 2


async def test_a_commit_is_part_of_the_operation_that_waits_for_it(tmp_path: Path) -> None:
    traced = Traced()
    engine = await opened(tmp_path, traced.telemetry)
    traces = traced.telemetry.traces
    await give(engine, CreateHierarchy("geo"))
    for name in ("store-1", "store-2"):
        with traces.operation():
            await give(engine, RegisterCluster(name))
    await engine.close()
    spans = await traced.spans()
    assert [span.name for span in spans] == ["commit", "operation"] * 2
    for commit, operation in (spans[:2], spans[2:]):
        assert commit.parent is not None
        assert commit.parent.span_id == operation.context.span_id
        assert commit.attributes == {"trellis.batches": 1}


async def test_work_outside_of_an_operation_makes_no_trace() -> None:
    """A process looks at its store ten times a second; nobody wants to read that."""
    traced = Traced()
    with traced.telemetry.trace("bolt"):
        pass
    assert await traced.spans() == []


async def test_a_refusal_marks_its_span() -> None:
    traced = Traced()
    with traced.telemetry.traces.operation():
        traced.telemetry.done("mutation", "Move", "DENIED", seconds=0.001)
    (span,) = await traced.spans()
    assert not span.status.is_ok
    assert span.status.description == "DENIED"


@pytest.mark.neo4j
async def test_transactions_of_neo4j_are_part_of_the_commit() -> None:
    shared = server()
    shared.wipe()
    traced = Traced()
    store = await Neo4jStore.open(
        shared.url, user=shared.user, password=shared.password, trace=traced.telemetry.trace
    )
    engine = await Engine.open(store, trace=traced.telemetry.trace)
    with traced.telemetry.traces.operation():
        await give(engine, CreateHierarchy("geo"))
    await engine.close()
    spans = {span.name: span for span in await traced.spans()}
    assert {"bolt", "commit", "operation"} <= set(spans)
    bolt, commit = spans["bolt"], spans["commit"]
    assert bolt.context.trace_id == commit.context.trace_id == spans["operation"].context.trace_id
    assert bolt.parent is not None
    assert bolt.parent.span_id == commit.context.span_id


async def test_a_collector_that_is_away_does_not_keep_the_process(
    caplog: pytest.LogCaptureFixture,
) -> None:
    telemetry = Telemetry(settings(traces_url="http://127.0.0.1:9/v1/traces"))
    with telemetry.traces.operation():
        pass
    started = time.monotonic()
    await telemetry.close()
    assert time.monotonic() - started < 20
    assert "Transient" not in caplog.text


async def test_spans_reach_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with collecting() as collector:
        telemetry = Telemetry(settings(traces_url=collector.url))
        with telemetry.traces.operation():
            pass
        await telemetry.close()
    (request,) = collector.received
    assert (request.path, request.media) == ("/v1/traces", "application/x-protobuf")
    assert collector.span_names() == ["operation"]
    assert collector.attributes() == {"service.name": "trellis"}


@pytest.mark.parametrize(
    ("name", "attributes", "said"),
    [
        ("", "", {"service.name": "trellis"}),
        ("pos", "", {"service.name": "pos"}),
        (
            "",
            "service.name=edge, k8s.pod.name = p-0",
            {"service.name": "edge", "k8s.pod.name": "p-0"},
        ),
        ("pos", "service.name=edge", {"service.name": "pos"}),
        ("", "a=b%2Cc%3Dd,e=", {"service.name": "trellis", "a": "b,c=d", "e": ""}),
        ("", "nonsense,=x,,a=b", {"service.name": "trellis", "a": "b"}),
    ],
)
def test_the_process_says_what_it_is_told_to_say_of_itself(
    name: str, attributes: str, said: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    given = settings(service_name=name, resource_attributes=attributes)
    assert resource_attributes(given) == said
    assert len(caplog.records) == sum(each in attributes for each in ("nonsense", "=x"))
