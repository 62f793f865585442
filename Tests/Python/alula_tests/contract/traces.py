"""Reads the spans that the service sends, by the published schema of OTLP."""
import base64
import http.server
import json
import threading
import urllib.request

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from alula_tests.service import Service

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
COLD = {"GET thumbnail", "queue", "download", "decode", "render", "encode"}


class Collector:
    """Takes spans on a free port of 127.0.0.1."""

    def __init__(self):
        collector = self
        self.documents = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                collector.documents.append(
                    (self.path, self.headers["Content-Type"], self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"

    def stop(self):
        self._server.shutdown()


def parsed(document):
    """The message that a document is; OTLP writes identifiers in hexadecimal, where protobuf's JSON has Base64."""

    def rewrite(value):
        if isinstance(value, list):
            return [rewrite(member) for member in value]
        if not isinstance(value, dict):
            return value
        return {
            name: base64.b64encode(bytes.fromhex(member)).decode()
            if name in ("traceId", "spanId", "parentSpanId") else rewrite(member)
            for name, member in value.items()
        }

    return json_format.ParseDict(rewrite(json.loads(document)), ExportTraceServiceRequest())


def judge(executable, origin_url):
    """The faults of the spans of one cold request and one hot one, both sent in a caller's trace."""
    collector = Collector()
    complaints = []
    settings = ["--trace-endpoint", collector.url, "--trace-sample", "0", "--trusted-proxies", "127.0.0.0/8"]
    with Service(executable, *settings) as service:
        target = f"{service.url}/thumbnail?url={origin_url}/images/jpeg&w=32"
        for flags in ["01", "01", "00"]:
            request = urllib.request.Request(target, headers={"traceparent": f"00-{TRACE}-{CALLER}-{flags}"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()
        complaints += service.stop()
    collector.stop()

    spans = []
    for path, media_type, document in collector.documents:
        if (path, media_type) != ("/v1/traces", "application/json"):
            complaints.append(f"spans went to {path} as {media_type}")
        for resource in parsed(document).resource_spans:
            if "service.name" not in [attribute.key for attribute in resource.resource.attributes]:
                complaints.append("the resource has no name")
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
