"""Starting servers on loopback and reading their CPU time and memory."""
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


class Server:
    """A process with its children, on one port."""

    def __init__(self, name, command, port, **options):
        self.name, self.port = name, port
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
        self.process = subprocess.Popen(command, **options)
        wait_for(port)

    def tree(self):
        found = [self.process.pid]
        for pid in found:
            try:
                # A process that a thread has started is that thread's child.
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children") as children:
                        found += [int(child) for child in children.read().split()]
            except OSError:
                pass
        return found

    def cpu(self):
        """User and system seconds so far, with those of processes that have ended and were waited for, such as replaced workers."""
        total = 0
        for pid in self.tree():
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
                total += sum(map(int, fields[11:15]))
            except OSError:
                pass
        return total / TICKS

    def peak(self):
        """Largest resident sizes so far of all processes, added up, in MiB."""
        return self._added("status", "VmHWM:")

    def proportional(self):
        """Memory now, in MiB, of all processes together; pages that several of them map are counted once."""
        return self._added("smaps_rollup", "Pss:")

    def _added(self, file, field):
        """Sum over all processes, in MiB, of a figure that the kernel gives in kB."""
        total = 0
        for pid in self.tree():
            try:
                with open(f"/proc/{pid}/{file}") as lines:
                    total += next(int(line.split()[1]) for line in lines if line.startswith(field))
            except (OSError, StopIteration):
                pass  # The process has just ended.
        return total / 1024

    @contextlib.contextmanager
    def watched(self, seconds=0.2):
        """Reads the memory repeatedly while the body runs; yields a list with the largest figure."""
        largest, over = [0], threading.Event()

        def look():
            while not over.wait(seconds):
                largest[0] = max(largest[0], self.proportional())

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield largest
        finally:
            over.set()
            thread.join()

    def stop(self):
        children = self.tree()[1:]
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        # thumbor's first process ends without the others.
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def nginx(folder, port, body, workers=2):
    """nginx in the foreground with `body` as its server block's content."""
    configuration = os.path.join(folder, f"nginx-{port}.conf")
    modules = "/usr/lib/nginx/modules/ngx_http_image_filter_module.so"
    load = f"load_module {modules};" if os.path.exists(modules) else ""
    with open(configuration, "w") as file:
        file.write(
            f"""{load}
user root; worker_processes {workers}; daemon off; pid {folder}/nginx-{port}.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 10000000;
  open_file_cache max=10000; open_file_cache_valid 60s;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  types {{ image/jpeg jpg jpeg; image/png png; image/webp webp; image/gif gif; }}
  server {{ listen 127.0.0.1:{port} backlog=4096; {body} }}
}}
"""
        )
    return Server("nginx", ["/usr/sbin/nginx", "-p", folder, "-c", configuration], port)
