"""The unit of systemd: read by its verifier, judged by its security analysis, and compared with what the service does."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from alula_tests.clients import connect, get
from alula_tests.deploy.fleet import until
from alula_tests.deploy.proxies import DEPLOY
from alula_tests.service import Service

UNIT = DEPLOY / "alula.service"
SOCKET = DEPLOY / "alula.socket"
# Tenths of what `systemd-analyze security` calls exposure: 0 is none, 100 all.
MOST_EXPOSURE = 15


def settings(alula):
    """Those of the file that the unit names."""
    printed = subprocess.run(
        [alula, "serve", "--config", DEPLOY / "alula.json5", "--print-config"], capture_output=True, text=True, check=True)
    return {setting["name"]: setting["value"] for setting in json.loads(printed.stdout)["settings"]
            if setting["source"] == "file"}


def check(alula, report):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / UNIT.name
        copy.write_text(UNIT.read_text().replace("/usr/local/bin/alula", str(pathlib.Path(alula).resolve())))
        opened = pathlib.Path(shutil.copy(SOCKET, folder))
        verified = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", copy, opened], capture_output=True, text=True)
        complaints = [line for line in verified.stderr.splitlines() if UNIT.stem in line]
        report.check(verified.returncode == 0 and not complaints, f"systemd reads the units: {complaints or 'no fault'}")
        judged = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSURE}", copy],
            capture_output=True, text=True)
        score = (judged.stdout.splitlines() or [judged.stderr])[-1]
        report.check(judged.returncode == 0, f"its exposure is at most {MOST_EXPOSURE / 10}: {score.strip()}")
        report.check(not re.search("^Environment=", UNIT.read_text(), re.M), "the unit overrides no setting")
        ends = [float(settings(alula)[name].removesuffix("s")) for name in ("drainDelay", "shutdownTimeout")]
        patience = float(re.search(r"^TimeoutStopSec=(\d+)s$", UNIT.read_text(), re.M)[1])
        report.check(sum(ends) < patience, f"it waits {patience} s for the end, which takes {sum(ends)} s at most")
        statuses(alula, report)
        calls(alula, report, folder)


def statuses(alula, report):
    """The service ends with a status on which the unit does not start it again where another try would change nothing."""
    final = set(re.search(r"^RestartPreventExitStatus=(.*)$", UNIT.read_text(), re.M)[1].split())
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        ends = {
            "an unknown setting": (78, ["--no-such-setting", "1"]),
            "a wrong value": (78, ["--max-connections", "none"]),
            "a settings file that is not there": (78, ["--config", f"{folder}/none.json5"]),
            "a port in use": (69, ["--bind", "127.0.0.1", "--port", str(taken.getsockname()[1]), "--admin-port", "0"]),
            "a folder that cannot be": (69, ["--port", "0", "--admin-port", "0", "--source-cache-path", "/dev/null/x"]),
        }
        for cause, (status, arguments) in ends.items():
            ended = subprocess.run([alula, "serve", *arguments], capture_output=True, text=True, timeout=60).returncode
            report.check(ended == status and str(status) in final, f"{cause} ends it with {ended}, for good")


def allowed_calls():
    """The system calls that the unit's filter allows, in the order of its lines."""
    text = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager"], capture_output=True, text=True, check=True).stdout
    sets, current = {}, None
    for line in text.splitlines():
        if line.startswith("@"):
            current = sets.setdefault(line.strip(), [])
        elif line.startswith("    ") and not line.lstrip().startswith("#"):
            current.append(line.strip())

    def members(name):
        if not name.startswith("@"):
            return {name}
        return set().union(*map(members, sets[name]))

    allowed = set()
    for tilde, names in re.findall(r"^SystemCallFilter=(~?)(.*)$", UNIT.read_text(), re.M):
        listed = set().union(*map(members, names.split()))
        allowed = allowed - listed if tilde else allowed | listed
    return allowed


def calls(alula, report, folder):
    """The service and its worker processes start, serve each format and end, and make no system call that the unit forbids."""
    trace = pathlib.Path(folder) / "calls"
    wrapper = pathlib.Path(folder) / "traced"
    wrapper.write_text(f'#!/bin/sh\nexec strace -f -qq -e signal=none -o {trace} {pathlib.Path(alula).resolve()} "$@"\n')
    wrapper.chmod(0o755)
    if not shutil.which("strace"):
        report.check(False, "strace is installed")
        return
    settings = ["--demo", "--source-cache-path", f"{folder}/store", "--shutdown-timeout", "8s"]
    greeting = pathlib.Path(folder) / "greeting"
    with greeting.open("w") as output, Service(str(wrapper), *settings, stdout=output) as service:
        # Whoever ends the tracer sets the service free, so that it has to be ended by itself.
        tracer = service.process.pid
        traced = int(pathlib.Path(f"/proc/{tracer}/task/{tracer}/children").read_text())
        try:
            until(lambda: re.search(r"/thumbnail\S+", greeting.read_text()), "the greeting with its URL")
            source = re.search(r"/thumbnail\S+", greeting.read_text())[0]
            statuses = {format: get(connect(service.port), f"{source}&format={format}")[0].status
                        for format in ("jpeg", "png", "webp", "gif", "avif", "jxl")}
            get(connect(service.admin_port), "/metrics")
        finally:
            os.kill(traced, signal.SIGTERM)
        service.process.wait(30)
    made = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(errors="replace"), re.M))
    # SQLite gives its files to the folder's owner if it runs as root.
    forbidden = sorted(made - allowed_calls() - {"fchown"})
    report.check(set(statuses.values()) == {200} and len(made) > 50 and not forbidden,
                 f"the unit allows the {len(made)} system calls that the service makes: {forbidden or 'all'}")
