"""Reads the spans that the service sends, by the published schema of OTLP."""
import urllib.request

from alula_tests.contract.collector import Collector, attributes
from alula_tests.service import Service

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
COLD = {"GET thumbnail", "queue", "download", "decode", "render", "encode"}


def judge(executable, origin_url):
    """The faults of the spans of one cold request and one hot one, both sent in a caller's trace."""
    collector = Collector()
    complaints = []
    settings = ["--trace-endpoint", collector.url + "/v1/traces", "--trace-sample", "0", "--trusted-proxies", "127.0.0.0/8"]
    with Service(executable, *settings) as service:
        target = f"{service.url}/thumbnail?url={origin_url}/images/jpeg&w=32"
        for flags in ["01", "01", "00"]:
            request = urllib.request.Request(target, headers={"traceparent": f"00-{TRACE}-{CALLER}-{flags}"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()
        complaints += service.stop()
    collector.stop()

    complaints += collector.complaints()
    spans = []
    for message in collector.messages("/v1/traces"):
        for resource in message.resource_spans:
            if attributes(resource.resource).get("service.name") != "alula":
                complaints.append("the resource has another name, or none")
            for scope in resource.scope_spans:
                spans += scope.spans
    by_id = {span.span_id: span for span in spans}
    if missing := COLD - {span.name for span in spans}:
        complaints.append(f"spans are missing: {sorted(missing)}")
    if [span.name for span in spans].count("GET thumbnail") != 2:
        complaints.append("two of three requests were sampled, and each has one span")
    for span in spans:
        if span.trace_id.hex() != TRACE:
            complaints.append(f"{span.name} is in another trace")
        if span.end_time_unix_nano < span.start_time_unix_nano:
            complaints.append(f"{span.name} ends before it begins")
        parent = by_id.get(span.parent_span_id)
        if span.name == "GET thumbnail":
            if span.parent_span_id.hex() != CALLER:
                complaints.append("the request's span is no child of the caller's")
        elif parent is None:
            complaints.append(f"{span.name} has no parent")
        elif span.start_time_unix_nano < parent.start_time_unix_nano:
            complaints.append(f"{span.name} begins before {parent.name}")
    print(f"spans by name: {sorted(span.name for span in spans)}")
    return complaints
