"""Reads the metrics that the service sends, by the published schema of OTLP, and compares them with those that Prometheus gets."""
import os
import re
import time
import urllib.request

from alula_tests.contract.collector import Collector, attributes
from alula_tests.service import Service

CUMULATIVE, DELTA = 2, 1
# The conventions' names that must be there, with their units.
NAMES = {
    "http.server.request.duration": "s", "http.server.active_requests": "{request}", "http.client.request.duration": "s",
    "http.client.active_requests": "{request}", "process.cpu.time": "s", "process.memory.usage": "By",
    "alula.decodes": "{image}", "alula.cache.size": "By", "alula.queue.duration": "s",
}
REQUESTS = 3


def sent(collector):
    """The metrics of each document by name."""
    documents = []
    for message in collector.messages("/v1/metrics"):
        assert len(message.resource_metrics) == 1
        metrics = {}
        for scope in message.resource_metrics[0].scope_metrics:
            for metric in scope.metrics:
                assert metric.name not in metrics, f"{metric.name} twice in a document"
                metrics[metric.name] = metric
        documents.append((attributes(message.resource_metrics[0].resource), metrics))
    return documents


def points(metric):
    return getattr(metric, metric.WhichOneof("data")).data_points


def point_faults(metric):
    """The faults of a metric by itself."""
    kind = metric.WhichOneof("data")
    if not metric.description or not metric.unit:
        yield "has no description or unit"
    if not points(metric):
        yield "has no points"
    if kind == "sum" and not metric.sum.is_monotonic and metric.sum.aggregation_temporality != CUMULATIVE:
        yield "is a level that is told as a delta"
    for point in points(metric):
        if not 0 < point.start_time_unix_nano <= point.time_unix_nano:
            yield "ends before it begins"
        if len(attributes(point)) != len(point.attributes):
            yield "has an attribute twice"
        if kind == "histogram":
            if len(point.bucket_counts) != len(point.explicit_bounds) + 1 or sum(point.bucket_counts) != point.count:
                yield "has buckets that do not fit its bounds or its count"
            if list(point.explicit_bounds) != sorted(set(point.explicit_bounds)):
                yield "has bounds out of order"


def answered(metric):
    """Thumbnails with status 200 that a document tells."""
    return sum(point.count for point in points(metric) if attributes(point).items() >= {
        "http.request.method": "GET", "url.scheme": "http", "http.route": "thumbnail", "http.response.status_code": 200}.items())


def names_of(text):
    """The metrics that have values in Prometheus' text, which names others as well."""
    lines = text.splitlines()
    return {name for name in re.findall(r"^# TYPE (\S+)", text, re.MULTILINE) if any(line.startswith(name) for line in lines)}


def run(executable, origin_url, preference, *statuses):
    """The documents of a service that has made some thumbnails, what Prometheus read, and the faults."""
    collector = Collector(*statuses)
    environment = os.environ | {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "images", "OTEL_METRIC_EXPORT_INTERVAL": "300",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=a%2Cb", "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "api-key=a%20b",
        "OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": preference,
        "OTEL_TRACES_SAMPLER": "no_such_sampler"}
    with Service(executable, env=environment) as service:
        for width in range(REQUESTS):
            with urllib.request.urlopen(f"{service.url}/thumbnail?url={origin_url}/images/jpeg&w={32 + width}", timeout=60) as answer:
                answer.read()
        with urllib.request.urlopen(service.admin_url + "/metrics", timeout=60) as answer:
            prometheus = answer.read().decode()
        end = time.monotonic() + 30
        while len(collector.requests) < 4 + len(statuses) and time.monotonic() < end:
            time.sleep(0.05)
        complaints = service.stop()
        if not any("OTEL_TRACES_SAMPLER" in line and "warning" in line for line in service.lines):
            complaints.append("nothing was said of a sampler that does not exist")
    collector.stop()
    complaints += collector.complaints()
    if any(fields["api-key"] != "a b" for _, fields, _ in collector.requests):
        complaints.append("a document came without its field")
    if collector.messages("/v1/traces"):
        complaints.append("spans were sent, although OTEL_TRACES_EXPORTER is none")
    return collector, prometheus, complaints


def judge_document(resource, metrics):
    if (resource.get("service.name"), resource.get("deployment.environment.name")) != ("images", "a,b"):
        yield f"the resource is {resource}"
    for metric in metrics.values():
        yield from (f"{metric.name} {fault}" for fault in point_faults(metric))


def judge(executable, origin_url):
    """The faults of the metrics of a service with some traffic, as totals and as deltas."""
    collector, prometheus, complaints = run(executable, origin_url, "cumulative", 503)
    documents = sent(collector)
    for resource, metrics in documents:
        complaints += judge_document(resource, metrics)
    last = documents[-1][1]
    for name, unit in NAMES.items():
        if name not in last or last[name].unit != unit:
            complaints.append(f"{name} is missing or has another unit than {unit}")
    # Documents have the start of the process and the build elsewhere.
    if len(last) < len(names_of(prometheus)) - 2:
        complaints.append(f"{len(last)} metrics were sent, and Prometheus read {len(names_of(prometheus))}")
    if answered(last["http.server.request.duration"]) != REQUESTS:
        complaints.append("another number of requests was answered")
    totals = [answered(metrics["http.server.request.duration"]) for _, metrics in documents]
    if totals != sorted(totals) or len({point.start_time_unix_nano for _, metrics in documents
                                        for metric in metrics.values() for point in points(metric)}) != 1:
        complaints.append("totals fall, or begin at several times")
    if collector.requests[0][2] != collector.requests[1][2]:
        complaints.append("a document that was answered 503 was not sent again")
    print(f"{len(documents)} documents of {len(last)} metrics")

    collector, _, more = run(executable, origin_url, "delta")
    complaints += more
    documents = sent(collector)
    ends = {}
    told = 0
    for resource, metrics in documents:
        complaints += judge_document(resource, metrics)
        for name in ("http.server.request.duration", "alula.cache_requests"):
            if name in metrics:
                data = getattr(metrics[name], metrics[name].WhichOneof("data"))
                if data.aggregation_temporality != DELTA:
                    complaints.append(f"{name} is no delta")
        if "http.server.request.duration" in metrics:
            told += answered(metrics["http.server.request.duration"])
        for metric in metrics.values():
            kind = metric.WhichOneof("data")
            if kind == "gauge" or getattr(metric, kind).aggregation_temporality != DELTA:
                continue
            for point in points(metric):
                key = (metric.name, tuple(sorted(attributes(point).items())))
                if point.start_time_unix_nano < ends.get(key, 0):
                    complaints.append(f"{metric.name} tells of a time twice")
                ends[key] = point.time_unix_nano
    if told != REQUESTS:
        complaints.append(f"the deltas add up to {told} requests of {REQUESTS}")
    return complaints
