from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import orjson
import pytest

import kustomize
from graph.model.errors import Rejected, TrellisError, Unavailable
from graph.model.inventory import Reconciler
from graph.model.values import Value
from graph.model.workload import Application, Base, Binding, BindingKind, Namespace
from memory_publisher import MemoryTree
from renderer.failure import Failure
from renderer.overlay.overlays import Configuration, Overlays, Rendered, Unbuilt
from renderer.publish.git import GitPublisher
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from repositories import IMPATIENT, bare, foreign_commit
from template_samples import (
    AWKWARD,
    BASE,
    BASE_FILES,
    BASED,
    KEY,
    SHOP,
    configured,
    laid_out,
    render,
    templated,
)

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ application }}
spec:
  replicas: {{ replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example/pos:{{ tag }}
"""
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  plain: {{ text }}
  quoted: "{{ text }}"
  single: '{{ text }}'
  block: |-
    {{ text }}
  whole: {{ text | yaml }}
  inside: before {{ text }} after
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as one:
        yield one


def failure(made: Mapping[str, bytes] | Rendered | Unbuilt | Failure) -> Failure:
    found = made.failure if isinstance(made, Unbuilt) else made
    assert isinstance(found, Failure), made
    return found


def test_a_base_overlay_builds_with_everything_its_values_say(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    values: dict[str, Value] = {
        "image": {"tag": "00042"},
        "replicas": 0,
        "made": AWKWARD[6],
        "plain": "no",
        "new": "two\nlines\n",
        "args": ["serve", "--name", '"x"'],
        "first": "no",
        "paused": True,
        "extras": {"on": True},
    }
    objects = kustomize.build(laid_out(tmp_path, render(sandbox, configured(BASED, values))))
    web = kustomize.found(objects, "Deployment", "web")
    (container,) = web["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/pos:00042"
    assert container["args"] == ["no", "--name", '"x"']
    assert (web["spec"]["replicas"], web["spec"]["paused"]) == (0, True)
    plain = kustomize.found(objects, "ConfigMap", "plain")
    assert plain["data"] == {"color": "no", "kept": "yes", "a.new_entry-1": "two\nlines\n"}
    made = container["envFrom"][0]["configMapRef"]["name"]
    assert made != "made", "the name of a generated ConfigMap follows its content"
    assert kustomize.found(objects, "ConfigMap", made)["data"]["color"] == AWKWARD[6]
    assert any(each["metadata"]["name"].startswith("extra-") for each in objects)


def test_every_object_says_whose_it_is_and_pods_do_not_say_which_overlay(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    objects = kustomize.build(laid_out(tmp_path, render(sandbox, configured(BASED, {}))))
    ours = {
        "trellis.dev/application": "pos",
        "trellis.dev/namespace": "shop",
        "trellis.dev/owner": "pos-team",
    }
    for each in objects:
        assert each["metadata"]["namespace"] == "shop"
        assert each["metadata"]["labels"] == ours | {
            "trellis.dev/overlay": KEY,
            "trellis.dev/cost-center": "4711",
            "label.trellis.dev/tier": "front",
        }
    web = kustomize.found(objects, "Deployment", "web")
    assert web["spec"]["template"]["metadata"]["labels"] == ours | {"app": "web"}
    assert web["spec"]["selector"]["matchLabels"] == {"app": "web"}


def test_what_no_value_is_given_for_stays_as_the_owner_wrote_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    objects = kustomize.build(laid_out(tmp_path, render(sandbox, configured(BASED, {}))))
    (container,) = kustomize.found(objects, "Deployment", "web")["spec"]["template"]["spec"][
        "containers"
    ]
    assert container["image"] == "registry.example/pos:1"
    assert len(objects) == 3


def test_an_image_may_be_given_as_a_map(sandbox: Sandbox, tmp_path: Path) -> None:
    bound = replace(
        BASED,
        source=Base("base/v1", (Binding("image", BindingKind.IMAGE, "registry.example/pos"),)),
    )
    digest = "sha256:" + "a" * 64
    image: Value = {"newName": "mirror.example/pos", "digest": digest}
    objects = kustomize.build(
        laid_out(tmp_path, render(sandbox, configured(bound, {"image": image})))
    )
    (container,) = kustomize.found(objects, "Deployment", "web")["spec"]["template"]["spec"][
        "containers"
    ]
    assert container["image"] == f"mirror.example/pos@{digest}"


@pytest.mark.parametrize("value", [3, 1.5, True, {"a": [1, None]}, ["b", "a"]])
def test_an_entry_of_a_config_map_that_is_no_text_is_written_as_json(
    sandbox: Sandbox, tmp_path: Path, value: Value
) -> None:
    made = render(sandbox, configured(BASED, {"plain": value}))
    plain = kustomize.found(kustomize.build(laid_out(tmp_path, made)), "ConfigMap", "plain")
    assert json.loads(plain["data"]["color"]) == value


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"image": {"tag": 1.1}}, "image.tag is 1.1: it fills an image"),
        ({"replicas": "3"}, 'replicas is "3": it fills replicas, a whole number'),
        ({"replicas": -1}, "replicas is -1"),
        ({"replicas": True}, "replicas is true"),
        ({"extras": {"on": "yes"}}, 'extras.on is "yes": it switches a component'),
    ],
)
def test_a_value_of_the_wrong_type_is_told_with_its_key_and_layer(
    sandbox: Sandbox, values: dict[str, Value], said: str
) -> None:
    told = failure(render(sandbox, configured(BASED, values, "texas")))
    assert said in told.message
    assert told.hint
    assert told.layer == "texas"


def test_of_several_layers_none_is_blamed(sandbox: Sandbox) -> None:
    told = failure(render(sandbox, configured(BASED, {"replicas": "3"}, "texas", "beta")))
    assert told.layer == ""


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "there is no apps/pos/base/v1"),
        ({"apps/pos/base/v1/web.yaml": b""}, "apps/pos/base/v1 holds no kustomization.yaml"),
        ({"apps/pos/base/v1/Kustomization": b"resources: [gone.yaml]"}, "gone.yaml is not there"),
    ],
)
def test_a_base_that_was_not_pushed_is_asked_for(
    sandbox: Sandbox, files: dict[str, bytes], said: str
) -> None:
    told = failure(render(sandbox, configured(BASED, {}), files))
    assert told.message == said
    assert "push it" in told.hint


def test_a_component_that_was_not_pushed_is_asked_for_once_it_is_switched_on(
    sandbox: Sandbox,
) -> None:
    files = {path: text for path, text in BASE_FILES.items() if "extras" not in path}
    assert not isinstance(render(sandbox, configured(BASED, {}), files), Failure)
    told = failure(render(sandbox, configured(BASED, {"extras": {"on": True}}), files))
    assert told.message == "there is no apps/pos/extras"


@pytest.mark.parametrize(
    ("binding", "said"),
    [
        (Binding("a", BindingKind.REPLICAS, "wob"), "a fills Deployment/wob, and the base has"),
        (Binding("a", BindingKind.CONFIG_MAP, "gone", "x"), "a fills ConfigMap/gone"),
        (Binding("a", BindingKind.FIELD, "Service/web", "/spec/type"), "a fills Service/web"),
        (Binding("a", BindingKind.FIELD, "Deployment/web", "/spec/x/y"), "no such place"),
        (
            Binding(
                "a",
                BindingKind.FIELD,
                "Deployment/web",
                "/spec/template/spec/containers/0/args/7",
            ),
            "no such place",
        ),
    ],
)
def test_a_binding_to_what_the_base_does_not_have_is_told(
    sandbox: Sandbox, binding: Binding, said: str
) -> None:
    bound = replace(BASED, source=replace(BASE, bindings=(binding,), components=()))
    told = failure(render(sandbox, configured(bound, {"a": 1})))
    assert said in told.message


def test_what_cannot_be_told_of_a_base_is_taken_to_be_right(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    kustomization = "apps/pos/base/v1/kustomization.yaml"
    files = {
        **BASE_FILES,
        kustomization: BASE_FILES[kustomization] + b"namePrefix: the-\n",
    }
    bound = replace(
        BASED,
        source=Base("base/v1", (Binding("a", BindingKind.CONFIG_MAP, "the-plain", "color"),)),
    )
    made = render(sandbox, configured(bound, {"a": "blue"}), files)
    objects = kustomize.build(laid_out(tmp_path, made, files))
    assert kustomize.found(objects, "ConfigMap", "the-plain")["data"]["color"] == "blue"


def test_a_base_with_somebody_elses_cluster_scoped_object_is_refused(sandbox: Sandbox) -> None:
    files = {
        **BASE_FILES,
        "apps/pos/base/v1/plain.yaml": b"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
""",
    }
    told = failure(render(sandbox, configured(BASED, {}), files))
    assert "ClusterRole/reader is outside any namespace" in told.message
    assert told.file == "apps/pos/base/v1/plain.yaml"
    allowed = replace(BASED, cluster_scoped=("ClusterRole/reader",))
    assert not isinstance(render(sandbox, configured(allowed, {}), files), Failure)


FLUX_OBJECT = b"""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: all}
"""


def test_a_base_that_tells_a_reconciler_what_to_do_is_refused(sandbox: Sandbox) -> None:
    hidden = FLUX_OBJECT + b"---\n" + FLUX_OBJECT.replace(b"toolkit.fluxcd.io", b"example.com")
    for written in (FLUX_OBJECT, hidden):
        files = {**BASE_FILES, "apps/pos/base/v1/plain.yaml": written}
        told = failure(render(sandbox, configured(BASED, {}), files))
        assert "Kustomization/all of kustomize.toolkit.fluxcd.io tells a reconciler" in told.message
        assert told.file == "apps/pos/base/v1/plain.yaml"
        allowed = replace(BASED, cluster_scoped=("Kustomization/all",))
        assert not isinstance(render(sandbox, configured(allowed, {}), files), Failure)


HOSTED = replace(BASED, reconcilers=(Reconciler.ANSIBLE,))
BARE = Application("pos", "shop")


@pytest.mark.parametrize("name", ["flux-own", "argo-own", "trellis-system"])
@pytest.mark.parametrize("application", [BASED, HOSTED, BARE, templated(settings__yaml=CONFIG)])
def test_nothing_is_rendered_into_a_namespace_of_reconcilers(
    sandbox: Sandbox, application: Application, name: str
) -> None:
    settings = FormatSettings(flux_namespace="flux-own", argocd_namespace="argo-own")
    there = replace(configured(application, {"text": "a"}), namespace=Namespace(name))
    role = {**BASE_FILES, "apps/pos/base/v1/tasks/main.yaml": b"[]"}
    overlays = Overlays(sandbox, settings)
    ((_, made),) = overlays.render([there], MemoryTree(role))
    assert f"the namespace {name} is where" in failure(made).message
    assert failure(made).hint
    free = replace(there, namespace=Namespace("flux-system"))
    ((_, made),) = overlays.render([free], MemoryTree(role))
    assert isinstance(made, Rendered), "it is as the settings say"


class Failing(MemoryTree):
    """A tree in which one application's files cannot be read."""

    error: ClassVar[TrellisError] = Rejected("too much", hint="make it less")

    def names(self, directory: str) -> tuple[str, ...]:
        if directory.startswith("apps/bad/"):
            raise self.error
        return super().names(directory)

    def identity(self, path: str) -> str | None:
        if path.startswith("apps/bad/"):
            raise self.error
        return super().identity(path)


@pytest.mark.parametrize("application", [BASED, HOSTED])
def test_files_that_cannot_be_read_fail_their_own_overlays_alone(
    sandbox: Sandbox, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = configured(replace(application, name="bad"), {})
    tree = Failing(BASE_FILES)
    made = [found for _, found in Overlays(sandbox).render([bad, configured(BASED, {})], tree)]
    assert made[0] == Failure("too much", "make it less")
    assert isinstance(made[1], Rendered)
    monkeypatch.setattr(Failing, "error", Unavailable("not now"))
    with pytest.raises(Unavailable):
        list(Overlays(sandbox).render([bad], tree))


def test_a_file_too_big_to_be_read_from_a_repository_holds_nobody_up(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    files = {path: content.decode() for path, content in BASE_FILES.items()}
    files["apps/pos/base/v1/plain.yaml"] += "#" * 2_000
    foreign_commit(bare(tmp_path / "r.git"), files)
    limits = replace(IMPATIENT, blob_bytes_max=1_000)
    publisher = GitPublisher.open(str(tmp_path / "r.git"), now=lambda: 1, limits=limits)
    tree = publisher.head().tree
    ((_, made),) = Overlays(sandbox).render([configured(BASED, {"plain": "blue"})], tree)
    assert isinstance(made, Rendered), "what cannot be told is taken to be right"
    assert tree.read("apps/pos/base/v1/web.yaml"), "and reading goes on"
    publisher.close()


def test_an_application_without_manifests_builds_to_nothing(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    made = render(sandbox, configured(Application("pos", "shop"), {"a": 1}))
    assert kustomize.build(laid_out(tmp_path, made)) == []


def test_hosts_find_the_composed_values_beside_the_overlay(sandbox: Sandbox) -> None:
    hosts = replace(BASED, reconcilers=(Reconciler.FLUX, Reconciler.ANSIBLE))
    made = render(sandbox, configured(hosts, {"replicas": 2, "image": {"tag": "no"}}))
    assert not isinstance(made, Failure)
    given = orjson.loads(made["vars.json"])
    assert given["values"] == {"image": {"tag": "no"}, "replicas": 2}
    assert given["role"] == "apps/pos/base/v1"


def test_what_only_hosts_run_needs_a_role_and_nothing_of_kustomize(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    only = replace(BASED, reconcilers=(Reconciler.ANSIBLE,))
    missing = render(sandbox, configured(only, {"replicas": 2}), {})
    assert isinstance(missing, Failure)
    assert "apps/pos/base/v1/tasks" in missing.message
    role = {"apps/pos/base/v1/tasks/main.yaml": b"[]"}
    made = render(sandbox, configured(only, {"replicas": 2}), role)
    (shown,) = kustomize.build(laid_out(tmp_path, made))
    assert orjson.loads(shown["data"]["vars.json"])["values"] == {"replicas": 2}


def test_a_template_overlay_builds(sandbox: Sandbox, tmp_path: Path) -> None:
    pos = templated(web__yaml__j2=DEPLOYMENT, settings__yaml=CONFIG)
    made = render(sandbox, configured(pos, {"replicas": 3, "tag": "v1", "text": "red"}), {})
    assert not isinstance(made, Failure), made
    assert set(made) == {"kustomization.yaml", "web.yaml", "settings.yaml"}
    objects = kustomize.build(laid_out(tmp_path, made, {}))
    web = kustomize.found(objects, "Deployment", "pos")
    assert web["spec"]["replicas"] == 3
    assert web["metadata"]["namespace"] == "shop"
    assert web["metadata"]["labels"]["trellis.dev/overlay"] == KEY
    assert "trellis.dev/owner" in web["spec"]["template"]["metadata"]["labels"]


def test_text_arrives_as_the_text_it_is_wherever_a_template_puts_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    named = CONFIG.replace("settings", "settings-{{ loop.index0 }}")
    pos = templated(settings__yaml="{% for text in texts %}\n" + named + "---\n{% endfor %}\n")
    made = render(sandbox, configured(pos, {"texts": list(AWKWARD)}), {})
    objects = kustomize.build(laid_out(tmp_path, made, {}))
    for number, text in enumerate(AWKWARD):
        data = kustomize.found(objects, "ConfigMap", f"settings-{number}")["data"]
        assert data.pop("inside") == f"before {text} after"
        assert data == dict.fromkeys(("plain", "quoted", "single", "block", "whole"), text)


def test_overlays_are_made_of_many_applications_and_one_that_fails_fails_alone(
    sandbox: Sandbox,
) -> None:
    good = templated(settings__yaml=CONFIG)
    bad = templated(settings__yaml="a: {{ nothing }}")
    wanted = [
        Configuration(application, SHOP, f"{number:016x}", (), {"text": str(number)})
        for number in range(90)
        for application in (good, bad, BASED)
    ]
    made = list(Overlays(sandbox).render(wanted, MemoryTree(BASE_FILES)))
    assert len(made) == len(wanted)
    for configuration, found in made:
        assert isinstance(found, Failure) == (configuration.application is bad)
        if configuration.application is good:
            assert isinstance(found, Rendered)
            written = found.files["settings.yaml"]
            assert f'"plain":"{configuration.values["text"]}"'.encode() in written


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"kustomization__yaml": ""}, "kustomization.yaml is made by the renderer too"),
        ({"vars__json": ""}, "vars.json is made by the renderer too"),
        ({"a__yaml": "", "a__yaml__j2": ""}, "a.yaml is made by a.yaml too"),
        ({"a": CONFIG, "b": CONFIG}, "ConfigMap/settings is made twice"),
    ],
)
def test_what_would_be_made_twice_is_told(
    sandbox: Sandbox, files: dict[str, str], said: str
) -> None:
    told = failure(render(sandbox, configured(templated(**files), {"text": "x"})))
    assert told.message == said
    assert told.file in templated(**files).source.files  # type: ignore[union-attr]


def test_a_file_that_gives_nothing_is_not_there(sandbox: Sandbox, tmp_path: Path) -> None:
    pos = templated(
        settings__yaml=CONFIG, web__yaml="{% if big %}" + DEPLOYMENT + "{% endif %}", _use="x"
    )
    made = render(sandbox, configured(pos, {"text": "x", "big": False}), {})
    assert not isinstance(made, Failure), made
    assert set(made) == {"kustomization.yaml", "settings.yaml"}
    assert len(kustomize.build(laid_out(tmp_path, made, {}))) == 1
