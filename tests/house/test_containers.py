"""compose.yaml and Dockerfile say what they should; no container engine is needed to see that."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from jsonschema.validators import validator_for

from api.serving.healthy import URL
from api.settings import ApiSettings

ROOT = Path(__file__).parents[2]
APIS = ("api-1", "api-2")
MODULE = "github.com/compose-spec/compose-go/v2"
VERSION = "v2.16.2"
SUM = "h1:pTp1DqQwJzFd85GzlWsSszKA1ABrV/ySqsClujIcWA8="
FETCH_SECONDS = 120


@pytest.fixture(scope="module")
def specification(tmp_path_factory):
    """The Compose specification's own schema, from the Go module that ships it."""
    go = shutil.which("go")
    if go is None:
        _give_up("go is not on the path")
    done = subprocess.run(
        [go, "mod", "download", "-json", f"{MODULE}@{VERSION}"],
        cwd=tmp_path_factory.mktemp("go"),
        env=os.environ | {"GOFLAGS": "-mod=mod", "GOSUMDB": "off"},  # the sum is pinned here
        capture_output=True,
        text=True,
        timeout=FETCH_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        _give_up(f"go could not fetch {MODULE}: {done.stdout[-300:]}{done.stderr[-300:]}")
    module = json.loads(done.stdout)
    assert module["Sum"] == SUM
    return json.loads((Path(module["Dir"]) / "schema" / "compose-spec.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def dockerfile():
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def validator(specification):
    """As the schema itself asks to be read: its draft differs from one release to the next."""
    kind = validator_for(specification)
    kind.check_schema(specification)
    return kind(specification)


def test_compose_keeps_to_the_compose_specification(validator, compose):
    found = [
        f"{'.'.join(map(str, each.absolute_path))}: {each.message}"
        for each in validator.iter_errors(compose)
    ]
    assert found == []


def test_the_specification_would_notice_a_mistake(validator, compose):
    wrong = compose["services"]["api-1"] | {"healthchek": {}}
    assert not validator.is_valid(compose | {"services": {"api-1": wrong}})


def test_every_service_is_pinned_and_every_lasting_one_is_watched_and_started_again(compose):
    for name, service in compose["services"].items():
        assert re.search(r":\d+\.\d+\.\d+", service["image"]), name
        if service["restart"] != "no":
            assert service["healthcheck"]["test"], name
            assert service["restart"] == "unless-stopped", name


def test_two_api_processes_wait_for_a_healthy_neo4j_with_a_store_in_it(compose):
    for name in APIS:
        wanted = compose["services"][name]["depends_on"]
        assert wanted["neo4j"] == {"condition": "service_healthy"}
        assert wanted["prepare"] == {"condition": "service_completed_successfully"}
    assert compose["services"]["neo4j"]["volumes"] == ["neo4j-data:/data"]
    assert "neo4j-data" in compose["volumes"]


def test_the_api_has_no_rights_it_does_not_need(compose):
    for name in (*APIS, "prepare"):
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["user"] == "10001:10001"
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["tmpfs"] == ["/tmp"]


def test_only_the_api_is_reachable_and_only_from_the_machine_itself(compose):
    ports = {
        name: service["ports"]
        for name, service in compose["services"].items()
        if "ports" in service
    }
    assert set(ports) == set(APIS)
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:8000", each) for (each,) in ports.values())
    assert len({each for (each,) in ports.values()}) == len(APIS)


def test_no_password_is_written_down_and_none_has_a_default(compose):
    text = (ROOT / "compose.yaml").read_text("utf-8")
    assert re.findall(r"\$\{(\w+)(:.)", text) == [("TRELLIS_NEO4J_PASSWORD", ":?")]
    for name in APIS:
        assert compose["services"][name]["env_file"] == [".env"]
    assert "/.env" in (ROOT / ".gitignore").read_text("utf-8").split()


def test_stopping_leaves_time_to_drain(compose):
    for name in APIS:
        grace = float(compose["services"][name]["stop_grace_period"].removesuffix("s"))
        assert grace > ApiSettings().notice_seconds + ApiSettings().drain_seconds


def test_the_image_is_pinned_and_built_in_a_stage_of_its_own(dockerfile):
    stages = [line.split() for line in dockerfile if line.startswith("FROM ")]
    assert len(stages) == 2
    assert len({stage[1] for stage in stages}) == 1
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", stages[0][1])


def test_the_image_runs_as_a_user_without_rights_and_checks_itself(dockerfile):
    final = dockerfile[max(i for i, line in enumerate(dockerfile) if line.startswith("FROM ")) :]
    assert "USER 10001:10001" in final
    assert not any(line.startswith("RUN ") for line in final[final.index("USER 10001:10001") :])
    (check,) = (line for line in final if line.startswith("HEALTHCHECK "))
    assert check.endswith('CMD ["python", "-m", "api.serving.healthy"]')
    assert final[-2:] == ['ENTRYPOINT ["trellis"]', 'CMD ["serve"]']
    assert f"EXPOSE {ApiSettings().port}" in final
    assert f":{ApiSettings().port}/" in URL


def test_everything_the_image_installs_is_hashed(dockerfile):
    installs = [part for line in dockerfile if line.startswith("RUN ") for part in line.split("&&")]
    fetched = [each for each in installs if re.search(r"pip install|pip wheel", each)]
    assert len(fetched) == 4
    assert all("--require-hashes" in each or "--no-deps" in each for each in fetched)


def test_what_the_image_copies_exists_and_is_let_through(dockerfile):
    sources = [
        name
        for line in dockerfile
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    ]
    let_through = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert sorted(sources) == sorted(let_through)
    assert all((ROOT / name).exists() for name in sources)


@pytest.mark.parametrize("name", ["requirements-run.lock", "requirements-build.lock"])
def test_the_image_installs_what_was_tested(name):
    part, whole = (_pins(ROOT / each) for each in (name, "requirements.lock"))
    assert part
    assert part.items() <= whole.items()
    assert "://" not in (ROOT / name).read_text("utf-8")


def test_the_image_leaves_the_development_tools_out():
    run = _pins(ROOT / "requirements-run.lock")
    names = {head.partition("==")[0] for head in run}
    assert {"strawberry-graphql", "neo4j", "uvicorn"} <= names
    assert not {"pytest", "playwright", "mypy", "hatchling"} & names


def _pins(path):
    """Each requirement with its hashes."""
    blocks = re.split(r"\n(?=[a-z0-9])", path.read_text("utf-8").strip())
    heads = [block.partition(" \\\n") for block in blocks]
    return {head: sorted(re.findall(r"sha256:\w+", hashes)) for head, _, hashes in heads}


def _give_up(missing):
    if "go" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"the Compose specification is required here: {missing}")
    pytest.skip(f"COMPOSE.YAML WAS NOT CHECKED AGAINST ITS SPECIFICATION: {missing}")
