from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kustomize
from ansible_run import listed, play, write
from format_samples import AWKWARD, DINING, KEY, STRUCTURED
from graph.model.inventory import Reconciler
from graph.model.values import Value
from graph.model.workload import Application, Base, Template
from renderer import paths
from renderer.failure import Unrenderable
from renderer.flow import flow
from renderer.formats.ansible import (
    Ansible,
    host_overlay,
    late_of,
    late_text,
    overlay_vars,
    runs_on_hosts_alone,
    site_files,
)
from renderer.plan.inventory import read_shard, shard_content
from renderer.plan.pointer import Line, Pointer
from renderer.settings import FormatSettings

HOST = "kiosk-0001"
VALUES: dict[str, Value] = {"text": dict(AWKWARD), "shop": {"open": True}, **STRUCTURED}
LATE: dict[str, Value] = {
    "shop.host": AWKWARD["jinja"],
    "store": "00042",
    "all": dict(AWKWARD),
    r"app\.properties.LOG_LEVEL": "debug",
}
COMPOSED = VALUES | {
    "shop": {"open": True, "host": AWKWARD["jinja"]},
    "app.properties": {"LOG_LEVEL": "debug"},
}
RECORD = """\
- name: Write down what was given
  ansible.builtin.copy:
    content: "{{ [trellis_values, trellis_fleet] | to_json }}"
    dest: "{{ trellis_root }}/given-{{ trellis_application }}.json"
    mode: "0600"
"""
FORGET = """\
- name: Take it away
  ansible.builtin.file:
    path: "{{ trellis_root }}/given-{{ trellis_application }}.json"
    state: absent
"""
FAIL = """\
- name: Fail
  ansible.builtin.fail:
    msg: on purpose
"""
PACKAGE = """\
- name: Install a package of Debian
  ansible.builtin.apt:
    name: "{{ trellis_values.package }}"
    state: present
    update_cache: false
"""


def role(name: str, *needs: str) -> Application:
    return Application(
        name,
        "dining",
        reconcilers=(Reconciler.ANSIBLE,),
        source=Base("base/v1"),
        depends_on=needs,
    )


class Site:
    """A repository for one host."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.inventory = root / paths.inventory(HOST)
        settings = FormatSettings(ansible_facts_directory=str(root / "facts"))
        write(root, site_files(settings))
        write(root, {f"{paths.fleet(KEY)}/settings.json": orjson.dumps({"proxy": "{{ 1 + 1 }}"})})

    def role(self, application: Application, main: str, **values: Value) -> None:
        name = application.name
        given = host_overlay(application, DINING, KEY, values)
        write(self.root, {f"{paths.overlay(name, KEY)}/{n}": c for n, c in given.items()})
        tasks = {"main.yaml": main, "absent.yaml": FORGET}
        write(self.root, {f"apps/{name}/base/v1/tasks/{n}": c for n, c in tasks.items()})

    def assign(self, **late: dict[str, Value]) -> None:
        lines = {
            name: Line(paths.overlay(name, KEY), flow(given) if given else "")
            for name, given in late.items()
        }
        pointer = Pointer(HOST, KEY, {}, lines)
        write(self.root, {paths.inventory(HOST): shard_content({HOST: pointer})})

    def play(self, *arguments: str, fails: bool = False) -> str:
        done = play(self.root, self.inventory, *arguments)
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stdout

    def given(self) -> dict[str, object]:
        return {
            each.stem.removeprefix("given-"): orjson.loads(each.read_bytes())[0]
            for each in self.root.glob("given-*.json")
        }

    def remembered(self) -> list[str]:
        told = orjson.loads((self.root / "facts" / "trellis.fact").read_bytes())
        return [each["application"] for each in told["applications"]]

    def kept(self) -> set[str]:
        return {each.name for each in (self.root / "facts" / "trellis.roles").iterdir()}


@pytest.fixture
def site(tmp_path) -> Site:
    return Site(tmp_path)


def test_a_role_is_given_its_values_as_they_are_and_goes_as_its_owner_says(site):
    site.role(role("till", "menu"), RECORD, **VALUES)
    site.role(role("menu"), RECORD, price="9.50")
    site.assign(till=LATE, menu={})
    out = site.play()
    assert site.given() == {
        "till": COMPOSED | {"store": "00042", "all": AWKWARD},
        "menu": {"price": "9.50"},
    }
    assert out.index("item=menu") < out.index("item=till"), "what others need comes first"
    fleet = orjson.loads((site.root / "given-menu.json").read_bytes())[1]
    assert fleet == {"proxy": "{{ 1 + 1 }}"}
    assert site.remembered() == ["menu", "till"]

    site.assign(menu={})
    shutil.rmtree(site.root / paths.overlay("till", KEY))  # nothing leads there any more
    site.play()
    assert set(site.given()) == {"menu"}
    assert site.remembered() == ["menu"]


def test_one_that_fails_stops_only_what_needs_it_and_is_remembered_for_the_day_it_goes(site):
    site.role(role("broken"), FAIL)
    site.role(role("leaning", "broken"), RECORD)
    site.role(role("menu"), RECORD)
    site.assign(broken={}, leaning={}, menu={})
    out = site.play(fails=True)
    assert "did not come to what is assigned: broken, leaning" in out
    assert set(site.given()) == {"menu"}
    assert site.remembered() == ["broken", "leaning", "menu"]


def test_a_host_takes_an_application_away_whose_role_is_nowhere_but_on_the_host(site):
    site.role(role("till"), RECORD, price="9.50")
    site.role(role("menu"), RECORD)
    site.assign(till={}, menu={})
    write(site.root, {"apps/till/base/v1/tasks/absent.yml": FAIL})  # it would come before .yaml
    site.play()
    (site.root / "apps/till/base/v1/tasks/absent.yml").unlink()
    site.play()
    assert site.kept() == {"menu", "till"}

    site.assign(menu={})
    shutil.rmtree(site.root / "apps/till")
    site.play("--check")
    assert set(site.given()) == {"menu", "till"}, "a dry run takes nothing away"
    site.play()
    assert set(site.given()) == {"menu"}
    assert site.remembered() == ["menu"]
    assert site.kept() == {"menu"}


def test_a_role_that_cannot_go_as_it_came_goes_as_its_owner_mended_it(site):
    site.role(role("till"), RECORD)
    write(site.root, {"apps/till/base/v1/tasks/absent.yaml": FAIL})
    site.assign(till={})
    site.play()
    site.assign()
    assert "did not come to what is assigned: till" in site.play(fails=True)
    assert (site.remembered(), site.kept()) == (["till"], {"till"})
    write(site.root, {"apps/till/base/v1/tasks/absent.yaml": FORGET})
    site.play()
    assert (site.remembered(), site.kept(), site.given()) == ([], set(), {})


def test_the_playbook_passes_a_syntax_check_and_a_dry_run_that_installs_a_package(site):
    site.role(role("tools"), PACKAGE, package="hello")
    site.assign(tools={})
    site.play("--syntax-check")
    if shutil.which("apt-get") is None:
        pytest.skip("NOT RUN: this machine has no apt")
    out = site.play("--check")
    assert "Install a package of Debian" in out
    assert not (site.root / "facts").exists(), "a dry run remembers nothing"


def test_an_inventory_loads_with_every_line_of_its_hosts(site):
    site.assign(till=LATE, menu={})
    applications = listed(site.root, site.inventory)[HOST]["trellis_applications"]
    assert applications["menu"] == {"overlay": KEY, "late": ""}
    assert late_of(applications["till"]["late"]) == LATE
    assert read_shard(site.inventory.read_bytes())[HOST].lines["till"].late_values == LATE


NESTED = st.recursive(st.text('{%#}"\\ a\n', max_size=8), st.lists, max_leaves=5)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(st.text("ab{}%#.", max_size=5), NESTED, max_size=4))
def test_no_template_begins_in_the_text_of_late_bound_values(late: dict[str, Value]):
    text = late_text(late)
    assert not any(begin in text for begin in ("{{", "{%", "{#"))
    assert late_of(text) == late


def test_the_overlay_of_a_host_builds_to_what_the_role_is_given(tmp_path):
    given = host_overlay(role("till"), DINING, KEY, VALUES)
    write(tmp_path, given)
    (one,) = kustomize.build(tmp_path)
    assert one["metadata"]["labels"]["trellis.dev/application"] == "till"
    assert orjson.loads(one["data"]["vars.json"])["values"] == VALUES


@pytest.mark.parametrize(
    "application",
    [
        replace(role("till"), reconcilers=()),
        replace(role("till"), reconcilers=(Reconciler.FLUX,)),
        replace(role("till"), source=Template({"a.yaml": "kind: A"})),
        replace(role("till"), source=None),
    ],
)
def test_an_application_that_is_no_role_cannot_run_on_a_host(application: Application):
    with pytest.raises(Unrenderable) as refused:
        overlay_vars(application, DINING, {})
    assert "reconcilers" in refused.value.failure.hint


def test_lines_of_hosts_lead_to_overlays_and_nobody_is_told():
    assert Ansible().leads_to("till", KEY) == paths.overlay("till", KEY)
    assert Ansible().patches(role("till"), LATE) == ()
    assert runs_on_hosts_alone(role("till"))
