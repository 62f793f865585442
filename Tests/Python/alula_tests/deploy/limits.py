"""The limits per client that haproxy.cfg and nginx.conf have as examples: switched on, and tried from two addresses."""
import contextlib
import http.client
import pathlib
import re
import tempfile

from alula_tests.deploy import proxies
from alula_tests.service import Service


def switched_on(path, folder):
    """A copy with the lines of the example, and a limit that a test reaches."""
    text = re.sub(r"^( *)#limit ", r"\1", path.read_text(), flags=re.M)
    assert text != path.read_text(), f"{path.name} has no example of a limit"
    text = text.replace("gt 1000", "gt 20").replace("rate=100r/s", "rate=1r/s").replace("burst=200", "burst=20")
    copy = pathlib.Path(folder) / path.name
    copy.write_text(text)
    return copy


def statuses(port, address, count):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20, source_address=(address, 0))
    found = []
    for _ in range(count):
        connection.request("GET", "/health/live")
        answer = connection.getresponse()
        answer.read()
        found.append(answer.status)
    return found


def check(alula, report):
    with Service(alula) as service:
        for proxy_type, name in ((proxies.HAProxy, "haproxy.cfg"), (proxies.Nginx, "nginx.conf")):
            with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
                path = switched_on(proxies.DEPLOY / name, folder)
                proxy = stack.enter_context(proxy_type([service.port] * 4, folder, path=path))
                flood, other = statuses(proxy.port, "127.0.0.2", 60), statuses(proxy.port, "127.0.0.3", 10)
                report.check(200 in flood and 20 <= flood.count(429) <= 45, f"{proxy.name} answers 429 to a client above its limit: {flood.count(429)} of 60")
                report.check(other == [200] * 10, f"{proxy.name} serves another client meanwhile")
