"""Origins in this process: servers of images for the service under test."""
import contextlib
import http.server
import threading


class ImageHandler(http.server.BaseHTTPRequestHandler):
    """Answers each GET with what `find` returns for its path: a media type and the bytes, or None."""
    protocol_version = "HTTP/1.1"
    cache_control = "max-age=86400"

    def find(self, path):
        raise NotImplementedError

    def do_GET(self):
        found = self.find(self.path)
        kind, body = found or ("text/plain", b"")
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.cache_control:
            self.send_header("Cache-Control", self.cache_control)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class ImageServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """A service that ends, or is killed, leaves its transfers: that is no news."""


@contextlib.contextmanager
def serving(handler, address="127.0.0.1"):
    """Serves on a free port of an address meanwhile; gives the port."""
    server = ImageServer((address, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
