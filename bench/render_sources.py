"""What the applications of the rendered fleet are made of: owners' bases for most, templates else.

Seven of ten have a base, whose files owners have pushed before anything is rendered: a Deployment,
a Service, a ConfigMap and an Ingress. Three have a template of as many objects.
A late-bound host name goes into one field, so that pointers carry patches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from string import Template as Text

from graph.model.workload import (
    Application,
    Base,
    Binding,
    BindingKind,
    FieldTarget,
    LateBound,
    Template,
)

BASE = "base/v1"
_BASES_OF_TEN = 7

_KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [config.yaml, deployment.yaml, ingress.yaml, service.yaml]
"""
_CONFIG = Text("""\
apiVersion: v1
kind: ConfigMap
metadata: {name: $name}
data: {logLevel: info, tax: "0"}
""")
_DEPLOYMENT = Text("""\
apiVersion: apps/v1
kind: Deployment
metadata: {name: $name}
spec:
  replicas: $replicas
  selector: {matchLabels: {app: $name}}
  template:
    metadata: {labels: {app: $name}}
    spec:
      containers:
        - name: main
          image: registry.example/$name:$tag
          envFrom: [{configMapRef: {name: $name}}]
          ports: [{name: http, containerPort: 8080}]
          resources: {requests: {cpu: 50m, memory: 64Mi}}
          securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true}
""")
_SERVICE = Text("""\
apiVersion: v1
kind: Service
metadata: {name: $name}
spec:
  selector: {app: $name}
  ports: [{name: http, port: 80, targetPort: http}]
""")
_INGRESS = Text("""\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: $name}
spec:
  rules:
    - host: $name.invalid
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: $name, port: {name: http}}}
""")
_TEMPLATED_CONFIG = Text("""\
apiVersion: v1
kind: ConfigMap
metadata: {name: $name}
data:
  logLevel: {{ values.logLevel | json | quote }}
  features: {{ values.features | json | quote }}
""")


def sourced(application: Application) -> Application:
    """The application with what it is made of."""
    name, number = application.name, int(application.name.rpartition("-")[2])
    target = FieldTarget(f"Ingress/{name}", "/spec/rules/0/host")
    late = tuple(LateBound(each.key, each.source, (target,)) for each in application.late_bound)
    based = number % 10 < _BASES_OF_TEN
    return replace(application, source=_base(name) if based else _template(name), late_bound=late)


def owners_files(applications: Iterable[Application]) -> dict[str, bytes]:
    """By path: what has to be in the repository before anything is rendered."""
    found: dict[str, str] = {}
    for each in applications:
        if isinstance(each.source, Base):
            at = f"apps/{each.name}/{BASE}"
            found[f"{at}/kustomization.yaml"] = _KUSTOMIZATION
            found |= {f"{at}/{file}": text for file, text in _objects(each.name).items()}
    return {path: text.encode() for path, text in found.items()}


def _objects(name: str, *, replicas: str = "1", tag: str = "v0") -> dict[str, str]:
    words = {"name": name, "replicas": replicas, "tag": tag}
    return {
        "config.yaml": _CONFIG.substitute(words),
        "deployment.yaml": _DEPLOYMENT.substitute(words),
        "ingress.yaml": _INGRESS.substitute(words),
        "service.yaml": _SERVICE.substitute(words),
    }


def _base(name: str) -> Base:
    return Base(
        BASE,
        (
            Binding("image.tag", BindingKind.IMAGE, f"registry.example/{name}"),
            Binding("replicas", BindingKind.REPLICAS, name),
            Binding("logLevel", BindingKind.CONFIG_MAP, name, "logLevel"),
            Binding("tax", BindingKind.CONFIG_MAP, name, "tax"),
        ),
    )


def _template(name: str) -> Template:
    filled = {"replicas": "{{ values.replicas }}", "tag": "{{ values.image.tag }}"}
    config = _TEMPLATED_CONFIG.substitute(name=name)
    return Template({**_objects(name, **filled), "config.yaml": config})
