"""Artifacts of a published tree, made when they are asked for and again only when they differ.

P1  An artifact depends on the files it holds, on the digests it pins, and on the origin: not on the
    commit, the process or what was packed before.
P2  ``kubectl kustomize`` builds what is unpacked as it builds the same directory of the tree; a
    cluster's artifact builds at its root as well.
P3  An application that cannot be packed is pinned to a digest nothing has. Its reconciler keeps
    what it has and says so; the cluster's other applications go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graph.model.errors import NotFound, TrellisError
from renderer import paths
from renderer.artifact.archive import archive, stretch
from renderer.artifact.artifact import NOWHERE, Artifact, Flavour, pack
from renderer.artifact.edition import Edition, Inputs, Part, Pins, Recipe
from renderer.artifact.gather import Bounds, gather
from renderer.artifact.host import gather_host
from renderer.artifact.kept import Kept
from renderer.artifact.pinned import Origin, pin_objects
from renderer.flow import document
from renderer.plan.pointer import Pointer, read_pointer

MIB = 1024 * 1024
PIN_BYTES, REFERENCE_BYTES = 160, 80
"""What a pin and a reference take in memory, about."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A cluster's artifact, and what it rests on."""

    artifact: Artifact
    inputs: Inputs
    """What is its own."""
    parts: tuple[tuple[str, Part], ...]
    """What it has in common with others, by the directory its pointer names."""

    @property
    def pins(self) -> Pins:
        """Overlays it leads to; ``NOWHERE`` where one could not be packed."""
        return tuple(each for _, part in self.parts for each in part.pins)


class Packer:
    """Packs overlays and clusters, and remembers them by what they were made of."""

    def __init__(
        self, origin: Origin, *, bounds: Bounds | None = None, kept_bytes_max: int = 192 * MIB
    ) -> None:
        self.origin = origin
        self._bounds = bounds or Bounds()
        third = kept_bytes_max // 3
        self._overlays = Kept[Recipe, tuple[Artifact, Inputs]](third, lambda it: it[0].size)
        self._parts = Kept[str, Part](third, lambda it: len(it.stretch) + PIN_BYTES * len(it.pins))
        self._clusters = Kept[str, Packed](
            third, lambda it: it.artifact.size + REFERENCE_BYTES * (len(it.parts) + len(it.inputs))
        )

    def overlay(self, edition: Edition, recipe: Recipe) -> Artifact:
        """An overlay with the base and the components it builds from."""
        found = self._overlay(edition, recipe)
        if found is None:
            raise NotFound(
                edition.refusals[recipe], hint="its owner has to correct it; others are not held up"
            )
        return found

    def cluster(self, edition: Edition, name: str) -> Packed:
        """A cluster's pointer, with everything it names."""
        before = self._clusters.get(name)
        if before and edition.still(before.inputs) and self._same(edition, before.parts):
            return before
        found = self._pack_cluster(edition, name)
        self._clusters.put(name, found)
        return found

    def _same(self, edition: Edition, parts: tuple[tuple[str, Part], ...]) -> bool:
        """Whether parts are still what they were: each is looked at once for all clusters."""
        known = edition.parts
        for directory, part in parts:
            found = known.get(directory) or self._part(edition, directory, part.below)
            if found is not part:
                return False
        return True

    def _hold(self, edition: Edition, pins: Pins) -> bool:
        """Whether overlays are still what they were pinned to."""
        known = edition.overlays
        for recipe, digest in pins:
            found = known[recipe] if recipe in known else self._overlay(edition, recipe)
            if (found.digest if found else NOWHERE) != digest:
                return False
        return True

    def _overlay(self, edition: Edition, recipe: Recipe) -> Artifact | None:
        if recipe in edition.overlays:
            return edition.overlays[recipe]
        before = self._overlays.get(recipe)
        unchanged = before is not None and edition.still(before[1])
        found = before[0] if before and unchanged else self._pack_overlay(edition, recipe)
        edition.overlays[recipe] = found
        return found

    def _pack_overlay(self, edition: Edition, recipe: Recipe) -> Artifact | None:
        try:
            directory = paths.overlay(recipe.application, recipe.key)
            within = f"apps/{recipe.application}"
            gathered = gather(edition, directory, within=within, bounds=self._bounds)
            tar = archive((stretch(gathered.files),))
        except TrellisError as error:
            edition.refusals[recipe] = error.message
            return None
        found = pack(tar, recipe.flavour, self.origin.source)
        self._overlays.put(recipe, (found, tuple(gathered.inputs.items())))
        return found

    def _pack_cluster(self, edition: Edition, name: str) -> Packed:
        directory = paths.pointer(name)
        content = edition.read(f"{directory}/{paths.KUSTOMIZATION}")
        if content is None:
            return self._pack_host(edition, name)
        pointer = read_pointer(name, content)
        shared = [(each, self._part(edition, each, below)) for each, below in directories(pointer)]
        root = {paths.KUSTOMIZATION: root_kustomization(directory)}
        own = {f"{directory}/{paths.KUSTOMIZATION}": content}
        identity = edition.identity(directory)
        parts = [
            *(part for _, part in shared),
            Part("clusters", stretch(own), ((directory, identity),)),
            Part(paths.KUSTOMIZATION, stretch(root), ()),
        ]
        artifact = self._join(parts, _flavour(pointer))
        return Packed(artifact, ((directory, identity),), tuple(shared))

    def _pack_host(self, edition: Edition, name: str) -> Packed:
        found = gather_host(edition, name, self._bounds)
        parts = [Part(below, stretch(each.files), ()) for below, each in found.items()]
        inputs = tuple(each for part in found.values() for each in part.inputs.items())
        return Packed(self._join(parts, Flavour.GENERIC), inputs, ())

    def _join(self, parts: list[Part], flavour: Flavour) -> Artifact:
        parts.sort(key=lambda part: f"{part.below}/")
        return pack(archive(part.stretch for part in parts), flavour, self.origin.source)

    def _part(self, edition: Edition, directory: str, below: str) -> Part:
        """What a line of a pointer leads to: the same for every cluster that has it."""
        found = edition.parts.get(directory)
        if found is None:
            found = self._parts.get(directory)
            if not found or not edition.still(found.inputs) or not self._hold(edition, found.pins):
                found = self._pack_part(edition, directory, below)
                self._parts.put(directory, found)
            edition.parts[directory] = found
        return found

    def _pack_part(self, edition: Edition, directory: str, below: str) -> Part:
        gathered = gather(edition, directory, within=below, bounds=self._bounds)
        pins: dict[Recipe, str] = {}

        def pin(application: str, key: str, flavour: Flavour) -> str:
            recipe = Recipe(application, key, flavour)
            found = self._overlay(edition, recipe)
            pins[recipe] = found.digest if found else NOWHERE
            return pins[recipe]

        files = {
            path: pin_objects(path, content, self.origin, pin)
            for path, content in gathered.files.items()
        }
        return Part(below, stretch(files), tuple(gathered.inputs.items()), tuple(pins.items()))


def directories(pointer: Pointer) -> list[tuple[str, str]]:
    """What a pointer names, each with the directory that bounds it."""
    found = [(paths.fleet(pointer.fleet), "fleet")] if pointer.fleet else []
    for name, key in pointer.namespaces.items():
        found.append((paths.namespace(name, key), f"namespaces/{name}"))
    for application, line in pointer.lines.items():
        found.append((line.directory, f"apps/{application}"))
    return found


def recipes(edition: Edition, application: str) -> Iterator[Recipe]:
    """Overlays of an application that somebody is told of, each for whoever is told."""
    directory = f"apps/{application}/sync"
    seen: set[Recipe] = set()
    for reconciler in edition.names(directory):
        flavour = Flavour.FLUX if reconciler == Flavour.FLUX else Flavour.GENERIC
        for key in edition.names(f"{directory}/{reconciler}"):
            recipe = Recipe(application, key, flavour)
            if recipe not in seen:
                seen.add(recipe)
                yield recipe


def _flavour(pointer: Pointer) -> Flavour:
    """Whom a pointer is for: Flux reads the generic one too, so that is for everybody else.

    Also where some of its lines are still in the words of Flux.
    """
    told = {line.reconciler for line in pointer.lines.values()}
    return Flavour.FLUX if told == {Flavour.FLUX} else Flavour.GENERIC


def root_kustomization(directory: str) -> bytes:
    """So that nobody on a store has to know in which shard it is."""
    return document(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [directory],
        }
    )
