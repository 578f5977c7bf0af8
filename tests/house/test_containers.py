"""compose.yaml and Dockerfile say what they should; no container engine is needed to see that."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
import yaml
from jsonschema.validators import validator_for

from api.serving.healthy import URL
from api.settings import ApiSettings
from cli.main import trellis
from cli.settings import read_settings
from renderer.publish.git import GitPublisher
from renderer.serve.settings import ServeSettings
from renderer.tree import Told

ROOT = Path(__file__).parents[2]
APIS = ("api-1", "api-2")
OURS = (*APIS, "prepare", "worker", "git")
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


def test_what_is_ours_has_no_rights_it_does_not_need(compose):
    for name in OURS:
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["user"] == "10001:10001"
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["tmpfs"] == ["/tmp"]


def test_what_is_reachable_is_reachable_from_the_machine_itself_alone(compose):
    ports = {
        name: service["ports"]
        for name, service in compose["services"].items()
        if "ports" in service
    }
    inside = {"worker": ServeSettings().port, "git": 9418} | dict.fromkeys(APIS, ApiSettings().port)
    assert set(ports) == set(inside)
    for name, (each,) in ports.items():
        assert re.fullmatch(rf"127\.0\.0\.1:\d+:{inside[name]}", each), name
    assert len({each.split(":")[1] for (each,) in ports.values()}) == len(ports)


def test_no_password_is_written_down_and_none_has_a_default(compose):
    text = (ROOT / "compose.yaml").read_text("utf-8")
    needed = [("TRELLIS_NEO4J_PASSWORD", ":?"), ("TRELLIS_SOURCE_TOKEN", ":?")]
    assert re.findall(r"\$\{(\w+)(:.)", text) == needed
    for name in APIS:
        assert compose["services"][name]["env_file"] == [".env"]
    kept_out = (ROOT / ".gitignore").read_text("utf-8").split()
    assert {"/.env", "/store-tokens"} <= set(kept_out)


def test_the_worker_is_given_nothing_but_what_it_needs(compose):
    worker = compose["services"]["worker"]
    assert "env_file" not in worker
    given = {name: value for name, value in worker["environment"].items() if "$" not in value}
    settings = read_settings(given | {"TRELLIS_SOURCE_TOKEN": "a-token"})
    source = urlsplit(settings.source.url)
    assert (source.scheme, source.hostname, source.port) == ("ws", "api-1", ApiSettings().port)
    assert "NEO4J" not in "".join(worker["environment"])
    assert settings.serve.tokens_file == f"/run/secrets/{worker['secrets'][0]}"
    assert worker["healthcheck"]["test"][-1] == f"http://127.0.0.1:{ServeSettings().port}/readyz"
    assert trellis.get_command(click.Context(trellis), worker["command"][0]) is not None


def test_the_git_server_hands_out_what_the_worker_writes(compose):
    worker, git = (compose["services"][name] for name in ("worker", "git"))
    (written,), (read,) = worker["volumes"], git["volumes"]
    assert read == written
    assert written.split(":")[0] in compose["volumes"]
    place = worker["environment"]["TRELLIS_RENDER_OUTPUT"].removeprefix("git:").partition("#")[0]
    root = written.split(":")[1]
    assert place.startswith(f"{root}/")
    assert git["entrypoint"][-1] == root
    assert git["healthcheck"]["test"][-1] == f"git://127.0.0.1{place.removeprefix(root)}"


def test_the_git_server_as_it_is_started_hands_a_repository_out(compose, tmp_path):
    repository = tmp_path / "served" / "gitops.git"
    publisher = GitPublisher.open(str(repository), now=lambda: 0)
    with closing(publisher):
        draft = publisher.begin(publisher.head())
        draft.write("fleet/x.yaml", b"x: 1\n")
        draft.commit(Told("Something", "", "1.0", "1.0"))
    service = compose["services"]["git"]
    root, port = service["volumes"][0].split(":")[1], _free_port()
    words = [each.replace(root, str(repository.parent)) for each in service["entrypoint"]]
    words[2:2] = ["--listen=127.0.0.1", f"--port={port}"]
    address = f"git://127.0.0.1:{port}/gitops.git"
    daemon = subprocess.Popen(words, env=os.environ | service["environment"])
    try:
        _wait_for(port, daemon)
        asked = [each.replace("git://127.0.0.1/gitops.git", address) for each in _check_of(service)]
        subprocess.run(asked, check=True, timeout=30)
        clone = ["git", "clone", "--quiet", address, str(tmp_path / "copy")]
        subprocess.run(clone, check=True, timeout=30)
        assert (tmp_path / "copy" / "fleet" / "x.yaml").read_text() == "x: 1\n"
        assert _pushed(tmp_path / "copy", "a base of theirs") == 0
        assert _pushed(tmp_path / "copy", "another past", "--amend") != 0
        assert _said(repository, "log", "--format=%s", "main") == "a base of theirs\nSomething\n"
    finally:
        daemon.terminate()
        daemon.wait(30)


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
    assert {f"EXPOSE {ApiSettings().port}", f"EXPOSE {ServeSettings().port}"} <= set(final)
    assert any(" git " in line for line in final if line.startswith("RUN apt-get"))
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


def _pushed(copy, message, *how):
    """How a push of one more commit ends, forced as somebody in a hurry would."""
    person = ["-c", "user.name=Ana", "-c", "user.email=ana@example.com"]
    commit = [*person, "commit", "--quiet", "--allow-empty", "--message", message, *how]
    subprocess.run(["git", "-C", str(copy), *commit], check=True, timeout=30)
    push = ["git", "-C", str(copy), "push", "--quiet", "--force", "origin", "HEAD:main"]
    return subprocess.run(push, timeout=30, stderr=subprocess.DEVNULL, check=False).returncode


def _said(repository, *words):
    asked = ["git", "-C", str(repository), *words]
    return subprocess.run(asked, check=True, timeout=30, capture_output=True, text=True).stdout


def _check_of(service):
    kind, *words = service["healthcheck"]["test"]
    assert kind == "CMD"
    return words


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _wait_for(port, process):
    until = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < until, "it does not listen"
            time.sleep(0.02)


def _give_up(missing):
    if "go" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"the Compose specification is required here: {missing}")
    pytest.skip(f"COMPOSE.YAML WAS NOT CHECKED AGAINST ITS SPECIFICATION: {missing}")
