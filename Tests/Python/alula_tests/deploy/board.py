"""Renders the dashboard and the alerts from the one table of what operators watch, deploy/monitoring.yaml."""
import json
import pathlib
import sys

import yaml

from alula_tests.deploy.proxies import DEPLOY

TABLE = DEPLOY / "monitoring.yaml"
DASHBOARD = DEPLOY / "grafana-dashboard.json"
ALERTS = DEPLOY / "prometheus-alerts.yaml"

DATA = {"type": "prometheus", "uid": "${datasource}"}
# The grid of Grafana.
COLUMNS = 24
FORMS = {
    "stat": (4, 4, {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "area"}),
    "timeseries": (6, 8, {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}),
}


def rows():
    return yaml.safe_load(TABLE.read_text())["rows"]


def panels():
    """Each panel with its row."""
    for row in rows():
        for panel in row["panels"]:
            yield row, panel


def panel_expression(text):
    return text.replace("{@", '{job="alula",instance=~"$instance"').replace(",@}", ',job="alula",instance=~"$instance"}') \
        .replace("[$]", "[$__rate_interval]")


def alert_expression(text):
    return text.replace("{@", '{job="alula"').replace(",@}", ',job="alula"}').strip()


def dashboard():
    parts, top = [], 0
    for row in rows():
        parts.append({"id": len(parts) + 1, "type": "row", "title": row["title"], "collapsed": False,
                      "gridPos": {"h": 1, "w": COLUMNS, "x": 0, "y": top}, "panels": []})
        left, top, height = 0, top + 1, 0
        for panel in row["panels"]:
            kind = panel.get("kind", "timeseries")
            width, own_height, options = FORMS[kind]
            width = panel.get("width", width)
            if left + width > COLUMNS:
                left, top, height = 0, top + height, 0
            parts.append(graph(len(parts) + 1, panel, kind, options, {"h": own_height, "w": width, "x": left, "y": top}))
            left, height = left + width, max(height, own_height)
        top += height
    instances = 'label_values(up{job="alula"}, instance)'
    return {
        "uid": "alula", "title": "Alula",
        "description": "A row for each question. Rendered from deploy/monitoring.yaml; see docs/operating.md.",
        "tags": ["alula"], "timezone": "browser", "editable": True, "graphTooltip": 1, "schemaVersion": 39, "version": 2,
        "refresh": "30s", "time": {"from": "now-3h", "to": "now"}, "timepicker": {}, "annotations": {"list": []}, "links": [],
        "templating": {"list": [
            {"name": "datasource", "label": "Source", "type": "datasource", "query": "prometheus", "current": {}, "hide": 0},
            {"name": "instance", "label": "Instance", "type": "query", "datasource": DATA,
             "query": {"query": instances, "refId": "instances"}, "definition": instances, "includeAll": True, "multi": True,
             "allValue": ".*", "current": {"text": "All", "value": "$__all"}, "refresh": 2, "sort": 1}]},
        "panels": parts}


def graph(number, panel, kind, options, place):
    about = " ".join([panel["about"], *(f"Alert: {alert['alert']}." for alert in panel.get("alerts", []))])
    return {
        "id": number, "type": kind, "title": panel["title"], "description": about, "datasource": DATA, "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel["unit"], "min": 0}, "overrides": []}, "options": options,
        "targets": [{"refId": chr(ord("A") + index), "datasource": DATA, "expr": panel_expression(text), "legendFormat": legend}
                    for index, (legend, text) in enumerate(panel["show"].items())]}


class Literal(str):
    """Text that is written as a block of lines."""


yaml.SafeDumper.add_representer(
    Literal, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None))


def alerts():
    groups = []
    for row in rows():
        rules = []
        for panel in row["panels"]:
            for alert in panel.get("alerts", []):
                rule = {"alert": alert["alert"], "expr": Literal(alert_expression(alert["expr"]))}
                if "for" in alert:
                    rule["for"] = alert["for"]
                runbook = f"{alert['runbook']} Panel: {panel['title']}."
                rules.append(rule | {"labels": {"severity": alert["severity"]},
                                     "annotations": {"summary": alert["summary"], "runbook": runbook}})
        groups.append({"name": "alula: " + row["title"].lower().rstrip("?"), "rules": rules})
    return {"groups": groups}


def rendered():
    """The content of each file."""
    heading = "# Alerts on Alula, each with a runbook. `severity: page` needs someone immediately, `ticket` can wait. See docs/operating.md.\n" \
        "# Rendered from monitoring.yaml by `make manifests`. Do not edit.\n"
    return {
        DASHBOARD: json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n",
        ALERTS: heading + yaml.safe_dump(alerts(), sort_keys=False, width=1_000, allow_unicode=True)}


def check(report):
    for path, text in rendered().items():
        report.check(path.read_text() == text, f"{path.name} is what `make manifests` renders from {TABLE.name}")
    tests = "".join((pathlib.Path(__file__).parent / name).read_text() for name in ("alerts.yaml", "troubles.py"))
    untested = [alert["alert"] for _, panel in panels() for alert in panel.get("alerts", []) if f'"{alert["alert"]}"' not in tests
                and f"alertname: {alert['alert']}" not in tests]
    report.check(not untested, f"each alert has a test: {untested or 'all'}")


if __name__ == "__main__":
    for path, text in rendered().items():
        path.write_text(text)
    sys.exit(0)
