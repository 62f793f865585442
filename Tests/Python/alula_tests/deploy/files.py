"""The files of deploy/, judged by the programs and schemas that they are written for, and by what the service knows."""
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

from alula_tests.clients import connect, get
from alula_tests.deploy import board, chart, monitoring, systemd
from alula_tests.deploy.proxies import DEPLOY
from alula_tests.service import Service

# Printed only with a shared cache, or by Prometheus.
OTHER_METRICS = {
    "alula_shared_cache_up", "alula_shared_cache_requests_total", "alula_shared_cache_queue_bytes",
    "alula_shared_cache_dropped_total", "alula_shared_cache_full", "alula_reloads_total"}


def check(alula, report):
    run(report, "haproxy.cfg is valid", "haproxy", "-c", "-f", DEPLOY / "haproxy.cfg")
    nginx(report)
    board.check(report)
    run(report, "prometheus.yml is valid", "promtool", "check", "config", DEPLOY / "prometheus.yml")
    run(report, "alerts fire when they should, and only then", "promtool", "test", "rules",
        pathlib.Path(__file__).parent / "alerts.yaml")
    schemas(report)
    chart.check(alula, report)
    systemd.check(alula, report)
    values(report)
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "settings.json"
        config.write_text(json.dumps({"resultStore": "kept", "origins": {"kept": {"folder": folder, "write": True}}}))
        with Service(alula, "--source-cache-path", f"{folder}/store", "--config", str(config)) as service:
            metrics(service, report)
    monitoring.check(alula, list(panels()), report)
    settings(alula, report)


def run(report, claim, *command, **options):
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    report.check(ended.returncode == 0, claim)
    if ended.returncode:
        report.line(ended.stdout + ended.stderr)
    return ended.stdout


def nginx(report):
    """nginx looks the instances up when it reads its configuration; here they are addresses."""
    with tempfile.TemporaryDirectory() as folder:
        text = re.sub(r"alula-\d:", "127.0.0.1:", (DEPLOY / "nginx.conf").read_text())
        copy = pathlib.Path(folder) / "nginx.conf"
        copy.write_text(text.replace("/tmp/nginx", f"{folder}/nginx"))
        run(report, "nginx.conf is valid", "nginx", "-t", "-c", copy)


def schemas(report):
    tools = pathlib.Path(sys.executable).parent
    run(report, "compose.yaml agrees with the schema of Compose", tools / "check-jsonschema",
        "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")
    run(report, "namespace.yaml agrees with the schemas of Kubernetes", tools / "kubernetes-validate", "--strict", DEPLOY / "namespace.yaml")
    listed = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["resources"]
    report.check(all((DEPLOY / name).is_file() for name in listed), f"{', '.join(listed)} of kustomization.yaml exist")


def documents(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def seconds(text):
    return float(text.removesuffix("s"))


def values(report):
    """What has to agree between files."""
    haproxy, compose = (DEPLOY / "haproxy.cfg").read_text(), documents(DEPLOY / "compose.yaml")[0]
    inter, fall = re.search(r"inter (\d+)s fall (\d+)", haproxy).groups()
    instances = set(re.findall(r"alula-\d:8080", haproxy))
    report.check(instances == set(re.findall(r"alula-\d:8080", (DEPLOY / "nginx.conf").read_text())),
                 f"both proxies name the same {len(instances)} instances")
    services = {name: service for name, service in compose["services"].items() if name.startswith("alula-")}
    report.check({f"{name}:8080" for name in services} == instances, "compose.yaml starts these")
    fleet = chart.fleet()
    file, = (json.loads(part["data"]["alula.json5"]) for part in fleet if "alula.json5" in part.get("data", {}))
    in_pods = {"ALULA_" + re.sub("([A-Z])", r"_\1", name).upper(): value for name, value in file.items()}
    places = re.findall(r"presetenv (ALULA_\w+_PATH) (\S+)", haproxy)
    for owner, environment, patience in (
            ("compose.yaml", services["alula-1"]["environment"], services["alula-1"]["stop_grace_period"]),
            ("kubernetes.yaml", in_pods, f"{chart.alula_pods(fleet)['terminationGracePeriodSeconds']}s")):
        drain, shutdown = (seconds(environment[f"ALULA_{name}"]) for name in ("DRAIN_DELAY", "SHUTDOWN_TIMEOUT"))
        report.check(drain >= int(inter) * int(fall) + 1, f"{owner} drains a second longer than HAProxy looks away")
        report.check(seconds(patience) > drain + shutdown, f"{owner} leaves time to end")
        report.check(environment.get("ALULA_TRUSTED_PROXIES"), f"{owner} believes its proxies which client asks")
        report.check(all(environment.get(name, place) == place for name, place in places), f"{owner} has HAProxy's places of dialects")
    scaler, = (part for part in fleet if part["kind"] == "HorizontalPodAutoscaler")
    report.check(scaler["spec"]["maxReplicas"] == len(instances), "as many pods at most as HAProxy names")
    for name, service in compose["services"].items():
        report.check(service.get("read_only") and service.get("cap_drop") == ["ALL"],
                     f"compose.yaml: {name} has a read-only root and no capabilities")


def expressions():
    """All expressions in the language of Prometheus: those of the alerts, and those of the dashboard, by where they stand."""
    for group in documents(DEPLOY / "prometheus-alerts.yaml")[0]["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    yield from panels()


def panels():
    """The expressions of the dashboard, by panel."""
    for panel in json.loads((DEPLOY / "grafana-dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def metrics(service, report):
    """Alerts and panels ask for what the running service prints."""
    printed = re.findall(r"^# TYPE (\S+) (\S+)", get(connect(service.admin_port), "/metrics")[1].decode(), re.M)
    names = {name for name, _ in printed} | OTHER_METRICS
    for name, kind in printed:
        if kind == "histogram":
            names |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    asked = {(place, name) for place, text in expressions() for name in re.findall(r"\b(?:alula|process)_\w+", text)}
    report.check(len(asked) > 40, f"{len(asked)} uses of metrics in alerts and panels")
    unknown = sorted(f"{place}: {name}" for place, name in asked if name not in names)
    report.check(not unknown, f"the service prints them: {unknown or 'all'}")
    dashboard(report)


def dashboard(report):
    """Grafana's JSON: panels that do not overlap, with a source of data and expressions that Prometheus can read."""
    content = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    parts = content["panels"]
    report.check(len({panel["id"] for panel in parts}) == len(parts), f"{len(parts)} panels have numbers of their own")
    cells = [(panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y) for panel in parts
             for x in range(panel["gridPos"]["w"]) for y in range(panel["gridPos"]["h"])]
    report.check(len(cells) == len(set(cells)) and all(x < 24 for x, _ in cells), "they do not overlap")
    graphs = [panel for panel in parts if panel["type"] != "row"]
    report.check(all(panel["datasource"]["uid"] == "${datasource}" and panel["targets"] for panel in graphs)
                 and {"datasource", "instance"} == {item["name"] for item in content["templating"]["list"]},
                 "each has the source of data that is chosen at the top")
    rules = [{"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m").replace("$instance", ".*")}
             for number, (_, expression) in enumerate(expressions())]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}, file)
        file.flush()
        run(report, f"Prometheus can read {len(rules)} expressions", "promtool", "check", "rules", file.name)
    runbooks = [rule["annotations"].get("runbook") for group in documents(DEPLOY / "prometheus-alerts.yaml")[0]["groups"]
                for rule in group["rules"]]
    report.check(all(runbooks), f"each of {len(runbooks)} alerts says what to do")


def settings(alula, report):
    """The files set nothing that the service does not know, and the service takes the values."""
    help_text = subprocess.run([alula, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    known = {"ALULA_" + name.upper().replace("-", "_") for name in re.findall(r"^  --([a-z-]+)", help_text, re.M)}
    of_unit = {"ALULA_" + re.sub("([A-Z])", r"_\1", name).upper(): value for name, value in systemd.settings(alula).items()}
    used = documents(DEPLOY / "compose.yaml")[0]["services"]["alula-1"]["environment"] | of_unit
    unknown = sorted(used.keys() - known)
    report.check(len(used) > 8 and not unknown, f"{len(used)} settings are known to the service: {unknown or 'all'}")
    values = {name: value for name, value in used.items() if name in known and value is not None}
    # The port is read from the log.
    values |= {"ALULA_PORT": "", "ALULA_SOURCE_CACHE_PATH": "", "ALULA_REQUIRE_SANDBOX": "off", "ALULA_LOG_FORMAT": "json"}
    options = [part for name, value in values.items() if value
               for part in (f"--{name.removeprefix('ALULA_').lower().replace('_', '-')}", value)]
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(Service(alula, *options))
            report.check(True, "the service starts with their values")
        except Exception as failure:
            report.check(False, f"the service starts with their values: {failure}")
