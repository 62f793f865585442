"""A collector of OpenTelemetry that judges what it is sent by the published schema of OTLP."""
import base64
import http.server
import json
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}


class Collector:
    """Takes documents on a free port of 127.0.0.1; answers the first ones with these statuses, and 200 then."""

    def __init__(self, *statuses):
        collector = self
        self.requests = []
        self._statuses = list(statuses)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.requests.append((self.path, self.headers, body))
                status = collector._statuses.pop(0) if collector._statuses else 200
                self.send_response(status)
                if status == 503:
                    self.send_header("Retry-After", "1")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self):
        self._server.shutdown()

    def messages(self, path):
        """The messages that were sent to a path; whatever the schema does not know is an error."""
        return [parsed(body, MESSAGES[path]()) for sent_to, _, body in self.requests if sent_to == path]

    def complaints(self):
        """The faults of the requests as such."""
        return [f"a document went to {path} as {fields['Content-Type']}"
                for path, fields, _ in self.requests if path not in MESSAGES or fields["Content-Type"] != "application/json"]


def parsed(document, message):
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

    return json_format.ParseDict(rewrite(json.loads(document)), message)


def attributes(owner):
    """The attributes of a resource, a span or a point, by name."""
    return {attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in owner.attributes}
