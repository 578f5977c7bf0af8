from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.change import Change, Changeset, Entity, ref_of
from graph.model.errors import Invalid
from graph.model.inventory import Capacity, Reconciler
from graph.model.names import GroupNumber, Revision
from graph.model.ref import Kind
from graph.model.selector import Everything, HasLabel, InNamespace, Selector, Under
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    SecretProvider,
    SecretReference,
    Template,
)
from graph.store.codec import (
    decode_body,
    decode_entity,
    decode_late_bound,
    decode_secrets,
    decode_source,
    encode_body,
    encode_entity,
    encode_late_bound,
    encode_secrets,
    encode_source,
)
from history import START
from workload_samples import (
    ASSIGNMENTS,
    AWKWARD_VALUES,
    FULL_WORKLOAD,
    KITCHEN,
    LAYERS,
    MENU,
    POLICIES,
    POS,
    PROHIBITIONS,
    TILL,
)

UNCARRIED = "".join(map(chr, (*range(0x7F, 0xA0), 0xFFFE, 0xFFFF)))
"""What values may not hold."""
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=UNCARRIED), max_size=8)
names = st.from_regex(r"[a-z][a-z0-9-]{0,6}", fullmatch=True)
several = st.lists(names, max_size=3).map(tuple)
labels = st.dictionaries(names, texts, max_size=3)
revisions = st.integers(0, 2**40).map(Revision)
amounts = st.integers(0, 2**40)
sizes = st.none() | st.builds(Capacity, amounts, amounts, amounts)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.dictionaries(
    texts,
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
).map(Values.of)
selectors: st.SearchStrategy[Selector] = st.one_of(
    st.just(Everything()),
    st.builds(Under, amounts.map(GroupNumber)),
    st.builds(HasLabel, names),
    st.builds(InNamespace, names),
)
bindings = st.builds(Binding, texts, st.sampled_from(BindingKind), texts, texts)
sources = st.one_of(
    st.builds(
        Base,
        texts,
        st.lists(bindings, max_size=2).map(tuple),
        st.lists(st.builds(Component, texts, texts), max_size=2).map(tuple),
    ),
    st.builds(Template, st.dictionaries(texts, texts, max_size=2)),
)
late_bound = st.lists(
    st.builds(
        LateBound,
        texts,
        texts,
        st.lists(st.builds(FieldTarget, texts, texts), max_size=2).map(tuple),
    ),
    max_size=2,
).map(tuple)
secrets = st.lists(
    st.builds(SecretReference, texts, st.sampled_from(SecretProvider), texts, labels), max_size=2
).map(tuple)
choices = st.builds(Choice, st.just("") | names, several, labels)
entities: st.SearchStrategy[Entity] = st.one_of(
    st.builds(Namespace, names, texts, several, texts, labels, sizes, sizes, secrets, revisions),
    st.builds(
        Application,
        names,
        names,
        texts,
        texts,
        labels,
        st.none() | selectors,
        st.lists(st.sampled_from(Reconciler), max_size=3).map(tuple),
        several,
        sizes,
        st.none() | sources,
        values,
        st.none() | values,
        late_bound,
        several,
        several,
        revisions,
    ),
    st.builds(Assignment, names, choices, selectors, texts, revisions),
    st.builds(Prohibition, names, choices, selectors, texts, revisions),
    st.builds(
        Layer,
        names,
        selectors,
        values,
        st.just("") | names,
        st.integers(-(2**40), 2**40),
        texts,
        revisions,
    ),
    st.builds(
        Policy,
        names,
        several,
        st.none() | selectors,
        sizes,
        several,
        several,
        st.none() | st.sampled_from(Enforcement),
        texts,
        revisions,
    ),
)


@given(entities)
def test_every_definition_comes_back_from_its_bytes(entity: Entity) -> None:
    data = encode_entity(entity)
    found = decode_entity(ref_of(entity).kind, data)
    assert found == entity
    assert encode_entity(found) == data


@given(values)
def test_values_come_back_with_the_text_they_had(given: Values) -> None:
    layer = Layer("one", Everything(), given)
    found = decode_entity(Kind.LAYER, encode_entity(layer))
    assert isinstance(found, Layer)
    assert found.values.text == given.text
    assert json.dumps(found.values.data, sort_keys=True) == json.dumps(given.data, sort_keys=True)


@pytest.mark.parametrize("text", ['{"a":1}', '{"a":1.0}', '{"a":true}', '{"a":"1"}', '{"a":null}'])
def test_a_changeset_tells_values_apart_that_python_takes_for_equal(text: str) -> None:
    before, after = Values.of({"a": 0}), Values.read(text)
    layer = Layer("one", Everything(), before)
    changes = (Change(layer, replace(layer, values=after)),)
    body = encode_body(Changeset(Revision(1), START, "ann", "why", changes))
    (found,) = decode_body(body, "").changes
    assert isinstance(found.before, Layer)
    assert isinstance(found.after, Layer)
    assert (found.before.values.text, found.after.values.text) == ('{"a":0}', text)


def test_a_number_no_reader_would_take_back_whole_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot be written"):
        encode_entity(Layer("one", Everything(), Values.read(f'{{"a":{2**64}}}')))


@given(sources, late_bound, secrets)
def test_parts_come_back_from_their_bytes(
    source: Base | Template, late: tuple[LateBound, ...], kept: tuple[SecretReference, ...]
) -> None:
    assert decode_secrets(encode_secrets(kept)) == kept
    assert decode_source(encode_source(source)) == source
    assert decode_late_bound(encode_late_bound(late)) == late


def test_what_has_its_default_is_left_out() -> None:
    assert encode_entity(KITCHEN) == b'{"changed":0,"name":"kitchen"}'
    assert encode_entity(Application("a", "b")) == b'{"changed":0,"name":"a","namespace":"b"}'
    assert encode_entity(Policy("a")) == b'{"changed":0,"name":"a"}'
    assert encode_entity(LAYERS[2]) == (
        b'{"changed":0,"name":"fleet","selector":["all"],"values":{}}'
    )


def test_the_written_form_stays_as_it_is() -> None:
    """These bytes are in every store and archive: a change here needs a new schema version."""
    assert encode_entity(POS) == (
        b'{"changed":0,"cost_center":"4711","labels":{"odd":"a=b","tier":"gold"},'
        b'"limits":[500,512,0],"name":"pos","owners":["retail","\xc3\x9cnal"],'
        b'"quota":[4000,8192,1024],"secrets":[{"keys":{"password":"pos/\xc3\xbcnal#key"},'
        b'"name":"till-db","provider":"external_secrets","store":"vault"},'
        b'{"keys":{"tls.crt":"a"},"name":"till-tls","provider":"secrets_store",'
        b'"store":"azure"}],"title":"Point of sale"}'
    )
    assert encode_entity(replace(TILL, values=Values())) == (
        b'{"changed":0,"cluster_scoped":["ClusterRole/till-reader","PriorityClass/till"],'
        b'"depends_on":["menu","drawer"],"labels":{"tier":"gold"},'
        b'"late_bound":[{"fields":[{"object":"Ingress/till","pointer":"/spec/host"}],'
        b'"key":"host","source":"pos-{cluster}-{size}"},{"key":"lane"}],"name":"till",'
        b'"namespace":"pos","owner":"retail","reads":["telemetry","channel"],'
        b'"reconcilers":["flux","argocd"],"requests":[100,256,0],'
        b'"requires":["and",["has","lanes"],["saved","pilot"]],'
        b'"schema":{"properties":{"one":{"maximum":1.0}},"type":"object"},'
        b'"source":{"base":"base/v12","bindings":[{"key":"image.tag","kind":"image",'
        b'"name":"till"},{"field":"greeting.txt","key":"greeting","kind":"config_map",'
        b'"name":"till-config"}],"components":[{"key":"tracing",'
        b'"path":"components/tracing"}]},"title":"Till"}'
    )
    assert encode_entity(MENU) == (
        b'{"changed":0,"name":"menu","namespace":"kitchen","schema":{},'
        b'"source":{"template":{"deployment.yaml":"kind: {{ kind }}\\n","gr\xc3\xb6\xc3\x9fe.yaml":'
        b'""}}}'
    )
    assert encode_entity(ASSIGNMENTS[0]) == (
        b'{"changed":0,"choice":{"applications":["till","drawer"],"namespace":"pos"},'
        b'"name":"tills","selector":["under",2],"title":"Tills in Texas"}'
    )
    assert encode_entity(ASSIGNMENTS[1]) == (
        b'{"changed":0,"choice":{"labels":{"tier":"gold"},"namespace":"kitchen"},'
        b'"name":"gold","selector":["namespace","pos"]}'
    )
    assert encode_entity(PROHIBITIONS[0]) == (
        b'{"changed":0,"choice":{"applications":["menu"]},"name":"no-menu",'
        b'"selector":["under",4],"title":"By law"}'
    )
    assert encode_entity(replace(LAYERS[0], values=Values.of({"a": 1.0}))) == (
        b'{"application":"till","changed":0,"name":"till-texas","rank":-3,'
        b'"selector":["under",2],"title":"Texas","values":{"a":1.0}}'
    )
    assert encode_entity(POLICIES[0]) == (
        b'{"changed":0,"name":"house-rules","namespaces":["pos","kitchen"],'
        b'"oversubscription":"report","quota_max":[8000,16384,2048],'
        b'"registries":["registry.example.com","mirror.example.com"],'
        b'"required_labels":["tier"],"title":"House rules"}'
    )


def test_values_are_json_inside_the_json() -> None:
    data = encode_entity(LAYERS[0])
    written: Mapping[str, object] = json.loads(data)["values"]
    assert Values.of(written) == AWKWARD_VALUES


@pytest.mark.parametrize(
    "data",
    [
        b'{"name":"a","changed":1,"selector":["all"],"values":5}',
        b'{"name":"a","changed":1,"selector":["all"],"values":[]}',
        b'{"name":"a","changed":1,"selector":["all"],"values":null}',
        b'{"name":"a","changed":1,"selector":["some"],"values":{}}',
        b'{"name":"a","changed":1,"selector":["all"],"values":' + b'{"a":' * 20 + b"1" + b"}" * 21,
    ],
)
def test_bytes_that_are_no_layer_are_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="holds a layer that this version cannot read"):
        decode_entity(Kind.LAYER, data)


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"base":5,"bindings":[{}]}', b"null", b"\xff"])
def test_bytes_that_are_no_source_are_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        decode_source(data)


@pytest.mark.parametrize("data", [b"{", b"5", b"[5]", b"[{}]", b'[{"key":"a","fields":[1]}]'])
def test_bytes_that_are_no_late_bound_keys_are_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        decode_late_bound(data)


@pytest.mark.parametrize("data", [b"{", b"5", b"[5]", b"[{}]", b'[{"name":"a","provider":"b"}]'])
def test_bytes_that_are_no_secrets_are_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        decode_secrets(data)


def test_the_samples_hold_every_kind_of_the_workload() -> None:
    of_workload = list(Kind)[list(Kind).index(Kind.NAMESPACE) :]
    assert {ref_of(entity).kind for entity in FULL_WORKLOAD} == {*of_workload, Kind.GRANT}
