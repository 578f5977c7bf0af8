"""A real registry client against what is served."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import tarfile
from hashlib import sha256

from artifact_server import Published, served
from crane import crane, crane_program
from published import ARGO_CD, FLUX, GRILL, HOST, PLAIN, POS
from renderer import paths
from renderer.serve.settings import ServeSettings


def test_crane_finds_every_artifact_well_formed():
    with served(Published()) as registry:
        for cluster in (FLUX, ARGO_CD, PLAIN, HOST):
            crane("validate", "--remote", f"{registry.address}/clusters/{cluster}:current")
        for name in (f"pos:{POS}", f"pos:{POS}-oci", f"grill:{GRILL}"):
            crane("validate", "--remote", f"{registry.address}/apps/{name}")
        name = f"{registry.address}/clusters/{FLUX}:current"
        digest = crane("digest", name).strip()
        manifest = json.loads(crane("manifest", f"{registry.address}/clusters/{FLUX}@{digest}"))
        blob = f"{registry.address}/clusters/{FLUX}@{manifest['layers'][0]['digest']}"
        layer = subprocess.run(
            [str(crane_program()), "blob", blob], capture_output=True, timeout=60, check=True
        ).stdout
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        assert f"{paths.pointer(FLUX)}/kustomization.yaml" in tar.getnames()


def test_crane_shows_a_token_as_a_clusters_secret_does(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{sha256(b'hidden').hexdigest()} {FLUX}\n")
    settings = ServeSettings(port=0, tokens_file=str(tokens))
    with served(Published(), serve=settings) as registry:
        auth = base64.b64encode(b"store:hidden").decode()
        config = {"auths": {registry.address: {"auth": auth}}}
        (tmp_path / "config.json").write_text(json.dumps(config))
        name = f"{registry.address}/clusters/{FLUX}:current"
        crane("validate", "--remote", name, config=tmp_path)
        refused = subprocess.run(
            [str(crane_program()), "manifest", name],
            env={"HOME": str(tmp_path / "nobody"), "PATH": ""},
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert refused.returncode != 0
    assert b"UNAUTHORIZED" in refused.stderr
