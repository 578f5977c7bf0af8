"""What the owners of the sample's applications keep in the repository: bases and a role.

A base is theirs and is used as it is, so the demo commits these files first, as owners would. All
of them have the same plain shape; what differs is how they are told what they need.
"""

from __future__ import annotations

from string import Template

REGISTRY = "registry.example"

_KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
"""
_DEPLOYMENT = Template("""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $name
spec:
  replicas: 1
  selector:
    matchLabels: {app: $name}
  template:
    metadata:
      labels: {app: $name}
    spec:
      containers:
        - name: $name
          image: $image:1.0.0
          envFrom:
            - configMapRef: {name: $name}
          ports:
            - {name: http, containerPort: 8080}
          resources:
            requests: {cpu: 50m, memory: 64Mi}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            runAsNonRoot: true
            seccompProfile: {type: RuntimeDefault}
""")
_SERVICE = Template("""\
apiVersion: v1
kind: Service
metadata:
  name: $name
spec:
  selector: {app: $name}
  ports:
    - {name: http, port: 80, targetPort: http}
""")
_SETTINGS = Template("""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: $name
data:
  LOG_LEVEL: info
""")
_INGRESS = Template("""\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: $name
spec:
  rules:
    - host: $name.invalid
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service: {name: $name, port: {name: http}}
""")
_COMPONENT = """\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
"""
_OFFLINE_ORDERS = f"""\
{_COMPONENT}resources:
  - claim.yaml
"""
_CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: pos-offline-orders
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests: {storage: 2Gi}
"""
_NODES = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: telemetry-agent
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: telemetry-agent
rules:
  - {apiGroups: [""], resources: [nodes, nodes/metrics], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: telemetry-agent
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: telemetry-agent}
subjects:
  - {kind: ServiceAccount, name: telemetry-agent, namespace: insight}
"""
_PRESENT = """\
- name: Install it
  ansible.builtin.package:
    name: "{{ trellis_values.package }}"
    state: present

- name: Tell it what it needs
  ansible.builtin.copy:
    content: "{{ trellis_values | to_nice_json }}"
    dest: "/etc/{{ trellis_values.package }}.json"
    mode: "0644"
"""
_ABSENT = """\
- name: Remove it
  ansible.builtin.package:
    name: "{{ trellis_values.package }}"
    state: absent

- name: Remove what it was told
  ansible.builtin.file:
    path: "/etc/{{ trellis_values.package }}.json"
    state: absent
"""


def base_files() -> dict[str, bytes]:
    """Owners' files by path: to be in the repository before anything is rendered."""
    found = {
        **_base("pos", "checkout", "base/v12", ingress=True),
        **_base("payment", "checkout", "base/v5"),
        **_base("kiosk", "checkout", "base/v3", ingress=True),
        **_base("kitchen-display", "kitchen", "base/v2", ingress=True),
        **_base("menu-board", "front-of-house", "base/v7"),
        **_base("loyalty", "engagement", "base/v4"),
        **_base("camera-analytics", "insight", "base/v1"),
        **_base("telemetry-agent", "insight", "base/v6", extra={"nodes.yaml": _NODES}),
        "apps/pos/components/offline-orders/kustomization.yaml": _OFFLINE_ORDERS,
        "apps/pos/components/offline-orders/claim.yaml": _CLAIM,
        **_role("telemetry-agent", "base/v6"),
        **_role("till", "base/v2"),
    }
    return {path: text.encode() for path, text in sorted(found.items())}


def _base(
    name: str,
    namespace: str,
    path: str,
    *,
    ingress: bool = False,
    extra: dict[str, str] | None = None,
) -> dict[str, str]:
    patterns = {
        "deployment.yaml": _DEPLOYMENT,
        "service.yaml": _SERVICE,
        "settings.yaml": _SETTINGS,
        **({"ingress.yaml": _INGRESS} if ingress else {}),
    }
    words = {"name": name, "image": f"{REGISTRY}/{namespace}/{name}"}
    files = {file: pattern.substitute(words) for file, pattern in patterns.items()} | (extra or {})
    listed = "".join(f"  - {file}\n" for file in sorted(files))
    files["kustomization.yaml"] = _KUSTOMIZATION + listed
    return {f"apps/{name}/{path}/{file}": text for file, text in files.items()}


def _role(name: str, path: str) -> dict[str, str]:
    tasks = {"main.yaml": _PRESENT, "absent.yaml": _ABSENT}
    return {f"apps/{name}/{path}/tasks/{file}": text for file, text in tasks.items()}
