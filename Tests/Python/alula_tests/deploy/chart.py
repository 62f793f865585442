"""The Helm chart, linted and rendered by Helm with several values, and checked by Kubernetes' schemas, yamllint and the service.

As a program it prints the objects of a fleet for those without Helm: deploy/kubernetes.yaml.
"""
import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import helm_python
import yaml

from alula_tests.deploy.proxies import DEPLOY

CHART = DEPLOY / "helm" / "alula"
FLEET = yaml.safe_load((DEPLOY / "helm" / "fleet.yaml").read_text())
MANIFESTS = DEPLOY / "kubernetes.yaml"
# Each switch of the chart at its other side, and each list filled.
EVERYTHING = {
    "image": {"repository": "registry.example.com:5000/alula", "tag": "1.0.1"}, "imagePullSecrets": [{"name": "registry"}],
    "settings": {
        "allowedSources": ["https://images.example.com/*"], "autoFormats": ["avif", "webp"], "imgproxyPath": "/img", "renderWorkers": 3,
        "origins": {"photos": {"url": "https://photos.example.com/originals/", "headers": {"X-Key": {"env": "PHOTOS_KEY"}}}}},
    "existingSecret": "keys", "extraEnv": [{"name": "PHOTOS_KEY", "value": "0123456789"}],
    "autoscaling": {"queueMetric": True}, "proxy": {"enabled": True, "inFront": "10.1.0.0/16"}, "sharedCache": {"enabled": True},
    "service": {"type": "LoadBalancer", "annotations": {"example.com/internal": "true"}},
    "ingress": {"enabled": True, "className": "nginx", "annotations": {"example.com/a": "b"}, "hosts": ["images.example.com"],
                "tls": [{"secretName": "tls", "hosts": ["images.example.com"]}]},
    "networkPolicy": {"enabled": True, "clients": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress"}}}],
                      "egress": [{"to": [{"podSelector": {"matchLabels": {"app": "photos"}}}], "ports": [{"port": 8080}]}]},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}}, "grafanaDashboard": {"enabled": True},
    "serviceAccountName": "alula", "podAnnotations": {"example.com/team": "images"}, "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "images", "operator": "Exists"}], "affinity": {"nodeAffinity": {}},
    "extraVolumes": [{"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}],
    "extraVolumeMounts": [{"name": "cache", "mountPath": "/var/cache/alula"}]}
SETS = {
    "the defaults": {},
    "a fleet": FLEET,
    "everything": EVERYTHING,
    "one pod and an external Redis": {
        "replicaCount": 1, "autoscaling": {"enabled": False}, "podDisruptionBudget": {"enabled": False},
        "settings": {"sharedCache": "rediss://redis.example.com:6379/0", "allowedSources": ["https://images.example.com/*"]}},
}
WRONG = {
    "a value that does not exist": {"replicas": 3},
    "no pods": {"replicaCount": 0},
    "an image without a version": {"image": {"tag": "latest"}},
    "a service of an unknown type": {"service": {"type": "External"}},
    "a host that is a list": {"ingress": {"enabled": True, "hosts": [["images.example.com"]]}},
    "more pods than HAProxy names": {"proxy": {"enabled": True}, "autoscaling": {"maxReplicas": 5}},
}
# Defined by the Prometheus operator, not by Kubernetes.
CUSTOM = {"ServiceMonitor", "PrometheusRule"}
YAML_RULES = "{extends: default, rules: {braces: {max-spaces-inside: 1}, document-start: disable, indentation: {indent-sequences: whatever}, line-length: disable}}"


@contextlib.contextmanager
def loaded():
    """The folder of the chart with the files that it links to, and the chart. Helm logs each link."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(CHART, pathlib.Path(folder) / "alula")
        with helm_python.Chart.load(copy) as chart:
            yield copy, chart


def rendered(chart, values):
    """The text of the chart's objects, and its notes."""
    files = chart.render(values, name="alula", namespace="alula", is_install=True)
    notes = files.pop("alula/templates/NOTES.txt")
    return "---\n".join(f"{text.strip()}\n" for _, text in sorted(files.items()) if text.strip()), notes


def objects(text):
    return [document for document in yaml.safe_load_all(text) if document]


def fleet():
    """The objects of a fleet."""
    return objects(MANIFESTS.read_text())


def check(alula, report):
    tools = pathlib.Path(sys.executable).parent
    with loaded() as (folder, chart), tempfile.TemporaryDirectory() as output:
        for name, values in SETS.items():
            findings = helm_python.lint(folder, values, strict=True)
            messages = [message["error"] for message in findings["messages"] if message["severity"] > 1]
            report.check(not messages and not findings["errors"], f"Helm finds no fault in the chart with {name}: {messages}")
            text, notes = rendered(chart, values)
            parts = objects(text)
            # Templates that print nothing but a separator leave empty documents.
            report.check(notes.strip() and len(parts) == len(list(yaml.safe_load_all(text))), f"{len(parts)} objects with {name}")
            path = pathlib.Path(output) / "objects.yaml"
            path.write_text(text)
            program(report, f"yamllint accepts {name}", tools / "yamllint", "--strict", "--config-data", YAML_RULES, path)
            path.write_text(yaml.safe_dump_all(part for part in parts if part["kind"] not in CUSTOM))
            program(report, f"Kubernetes' schemas accept {name}", tools / "kubernetes-validate", "--strict", path)
            faults = [*references(parts), *hardening(parts)]
            report.check(not faults, f"the objects of {name} fit together: {faults or 'all'}")
            settings(alula, report, name, parts, output)
        for name, values in WRONG.items():
            try:
                helm_python.Chart.render(chart, values, name="alula", namespace="alula")
                report.check(False, f"Helm refuses {name}")
            except helm_python.HelmError as failure:
                report.check(True, f"Helm refuses {name}: {str(failure).splitlines()[-1].strip()}")
        report.check(MANIFESTS.read_text() == manifests(chart), "kubernetes.yaml is the chart for a fleet (make manifests)")
        monitoring(report, objects(rendered(chart, EVERYTHING)[0]), output)


def program(report, claim, *command):
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    report.check(ended.returncode == 0, claim)
    if ended.returncode:
        report.line(ended.stdout + ended.stderr)


def settings(alula, report, name, parts, folder):
    """The service takes the settings file, and the environment names nothing that it does not know."""
    path = pathlib.Path(folder) / "alula.json5"
    text, = (part["data"]["alula.json5"] for part in parts if "alula.json5" in part.get("data", {}))
    path.write_text(text)
    program(report, f"the service takes the settings of {name}", "env", "PHOTOS_KEY=0123456789", alula, "serve", "--check-config", path)
    drain, shutdown = (float(json.loads(text)[key].removesuffix("s")) for key in ("drainDelay", "shutdownTimeout"))
    pods = alula_pods(parts)
    report.check(pods["terminationGracePeriodSeconds"] > drain + shutdown, f"{name} leaves time to end")


def alula_pods(parts):
    pods, = (part["spec"]["template"]["spec"] for part in parts
             if part["kind"] in ("Deployment", "StatefulSet") and part["metadata"]["name"] == "alula")
    return pods


def workloads(parts):
    return [part for part in parts if part["kind"] in ("Deployment", "StatefulSet")]


def references(parts):
    """Names that no other object has."""
    names = {(part["kind"], part["metadata"]["name"]) for part in parts}
    pods = [(part["spec"]["template"]["metadata"]["labels"], part["spec"]["template"]["spec"]["containers"][0]) for part in workloads(parts)]

    def selected(labels):
        return [container for found, container in pods if labels.items() <= found.items()]

    if len(names) != len(parts):
        yield "two objects have one name"
    for part in parts:
        kind, spec = part["kind"], part.get("spec", {})
        name = f"{kind} {part['metadata']['name']}"
        if kind == "Service":
            ports = {port["name"] for container in selected(spec["selector"]) for port in container["ports"]}
            if not {port["targetPort"] for port in spec["ports"]} <= ports:
                yield f"{name}: no pod has its ports"
        if kind in ("PodDisruptionBudget", "NetworkPolicy") and len(selected((spec.get("selector") or spec["podSelector"])["matchLabels"])) != 1:
            yield f"{name} selects no pods, or those of others"
        if kind == "HorizontalPodAutoscaler" and (spec["scaleTargetRef"]["kind"], spec["scaleTargetRef"]["name"]) not in names:
            yield f"{name} scales nothing"
        if kind == "ServiceMonitor":
            services = [other for other in parts if other["kind"] == "Service"
                        and spec["selector"]["matchLabels"].items() <= other["metadata"]["labels"].items()
                        and any(port["name"] == endpoint["port"] for port in other["spec"]["ports"] for endpoint in spec["endpoints"])]
            if len(services) != 1:
                yield f"{name} finds {len(services)} services"
        if kind == "Ingress":
            for rule in spec["rules"]:
                for path in rule["http"]["paths"]:
                    if ("Service", path["backend"]["service"]["name"]) not in names:
                        yield f"{name}: no such service"
        if kind == "StatefulSet" and ("Service", spec["serviceName"]) not in names:
            yield f"{name}: no such service"
    for part in workloads(parts):
        for volume in part["spec"]["template"]["spec"].get("volumes", []):
            if "configMap" in volume and ("ConfigMap", volume["configMap"]["name"]) not in names:
                yield f"{part['metadata']['name']}: no ConfigMap {volume['configMap']['name']}"


def hardening(parts):
    for part in workloads(parts):
        pod = part["spec"]["template"]["spec"]
        for container in pod["containers"]:
            security = container["securityContext"]
            if not (security["readOnlyRootFilesystem"] and security["capabilities"]["drop"] == ["ALL"]
                    and not security["allowPrivilegeEscalation"] and pod["securityContext"]["runAsNonRoot"]):
                yield f"{container['name']} has more privileges than it needs"
            if container["image"].endswith(":latest") or ":" not in container["image"]:
                yield f"{container['image']} names no version"


def monitoring(report, parts, folder):
    """The rules are those of deploy/, and Prometheus reads them."""
    rule, = (part["spec"] for part in parts if part["kind"] == "PrometheusRule")
    report.check(rule == yaml.safe_load((DEPLOY / "prometheus-alerts.yaml").read_text()), "PrometheusRule has the alerts of deploy/")
    path = pathlib.Path(folder) / "rules.yaml"
    path.write_text(yaml.safe_dump(rule))
    program(report, "Prometheus reads them", "promtool", "check", "rules", path)


def manifests(chart):
    return f"# Rendered from helm/alula with helm/fleet.yaml by `make manifests`. Do not edit.\n---\n{rendered(chart, FLEET)[0]}"


if __name__ == "__main__":
    with loaded() as (_, chart):
        print(manifests(chart), end="")
