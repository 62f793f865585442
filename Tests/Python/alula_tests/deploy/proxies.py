"""The proxies of deploy/ in front of instances on this machine."""
import http.client
import os
import pathlib
import re
import socket
import subprocess
import time

from alula_tests.clients import connect, get
from alula_tests.service import Program, StartFailure

DEPLOY = pathlib.Path(__file__).parents[4] / "deploy"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Proxy(Program):
    """A proxy on a free port; it is up when it passes a request on to an instance."""

    def __init__(self, command, port, seconds=20, **streams):
        super().__init__(command, stderr=subprocess.PIPE, **streams)
        self.port = port
        end = time.monotonic() + seconds
        while not self._answers():
            if time.monotonic() > end or self.process.poll() is not None:
                self.kill()
                raise StartFailure(f"{command[0]} did not start: {self.lines}")
            time.sleep(0.05)

    def _answers(self):
        try:
            return get(connect(self.port, 2), "/health/ready")[0].status == 200
        except (OSError, http.client.HTTPException):
            return False


class HAProxy(Proxy):
    name = "HAProxy"

    def __init__(self, ports, folder, path=DEPLOY / "haproxy.cfg", is_routing=True, **variables):
        port = free_port()
        places = {f"ALULA_{index}": f"127.0.0.1:{place}" for index, place in enumerate(ports, 1)}
        if not is_routing:
            text = re.sub(r"balance hash .*|hash-type .*|hash-balance-factor .*", "", path.read_text())
            path = pathlib.Path(folder) / "haproxy.cfg"
            path.write_text(text.replace("backend alula\n", "backend alula\n    balance random\n"))
        super().__init__(
            ["haproxy", "-f", str(path)], port, stdout=subprocess.DEVNULL,
            env={**os.environ, **places, **variables, "ALULA_BIND": f"127.0.0.1:{port}"})


class Nginx(Proxy):
    """nginx.conf takes nothing from the environment, so that a copy with other addresses is used."""
    name = "nginx"

    def __init__(self, ports, folder, path=DEPLOY / "nginx.conf"):
        port = free_port()
        text = path.read_text()
        text = re.sub(r"alula-(\d):8080", lambda found: f"127.0.0.1:{ports[int(found[1]) - 1]}", text)
        text = text.replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/tmp/nginx", f"{folder}/nginx")
        path = pathlib.Path(folder) / "nginx.conf"
        path.write_text(text)
        super().__init__(["nginx", "-c", str(path), "-g", "daemon off;"], port)

    def kill(self):
        # The master process ends its workers only if it is asked to.
        self.process.terminate()
        self.process.wait(10)
        super().kill()
