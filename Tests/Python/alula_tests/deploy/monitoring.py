"""A real Prometheus asks an instance, reads the alerts, and answers what the panels of the dashboard ask; `troubles` has what they show."""
import contextlib
import http.client
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.parse

import yaml

from alula_tests.clients import connect, get, thumbnail
from alula_tests.deploy.fleet import CountingOrigin, until
from alula_tests.deploy.proxies import DEPLOY, free_port
from alula_tests.origins import serving
from alula_tests.service import Program, Service


class Prometheus(Program):
    """The server with the configuration of deploy/, but one target, asked each second."""

    def __init__(self, service, folder):
        self.port = free_port()
        settings = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
        settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        settings["rule_files"] = [str(DEPLOY / name) for name in settings["rule_files"]]
        job, = (job for job in settings["scrape_configs"] if job["job_name"] == "alula")
        job["static_configs"] = [{"targets": [f"127.0.0.1:{service.admin_port}"]}]
        settings["scrape_configs"] = [job]
        path = pathlib.Path(folder) / "prometheus.yml"
        path.write_text(yaml.safe_dump(settings))
        super().__init__(
            ["prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def ask(self, path, **query):
        """What the interface answers; None if it does not answer yet."""
        try:
            answer, body = get(connect(self.port), f"/api/v1/{path}?{urllib.parse.urlencode(query)}")
        except (OSError, http.client.HTTPException):
            return None
        return json.loads(body)["data"] if answer.status == 200 else None

    def series(self, expression):
        found = self.ask("query", query=expression)
        return None if found is None else found["result"]


def check(alula, expressions, report):
    with serving(CountingOrigin) as origin, tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        service = stack.enter_context(Service(alula, "--source-cache-path", f"{folder}/store"))
        prometheus = stack.enter_context(Prometheus(service, folder))
        until(lambda: prometheus.series("up == 1"), f"Prometheus asked the instance: {prometheus.lines}")
        connection = connect(service.port)
        for width in range(20, 40):
            get(connection, thumbnail(f"http://127.0.0.1:{origin}/watched.png", w=width))
        # Rates need two samples, and series with labels begin with their first event.
        until(lambda: all(prometheus.series(f"rate({name}[1m])") for name in (
            "alula_requests_total", "alula_downloads_total", "alula_decodes_total", "alula_renders_total")), "rates")
        metrics = get(connect(service.admin_port), "/metrics")[1]
        checked = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True)
        report.check(checked.returncode == 0, f"names and units follow Prometheus' rules: {checked.stderr.decode() or 'all'}")
        refused = [f"{place}: {text}" for place, text in expressions if prometheus.series(_filled(text)) is None]
        report.check(not refused, f"Prometheus answers {len(expressions)} expressions: {refused or 'all'}")
        firing = [alert["labels"]["alertname"] for alert in prometheus.ask("alerts")["alerts"]]
        report.check(not firing, f"no alert fires for an instance that is well: {firing or 'none'}")


def _filled(expression):
    """An expression with values for what Grafana fills in."""
    return re.sub(r"\$__rate_interval", "1m", expression).replace("$instance", ".*")
