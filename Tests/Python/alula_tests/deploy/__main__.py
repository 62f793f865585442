"""Judges the files of deploy/ by the programs that will read them, and tries four instances behind both proxies."""
import argparse
import sys
import tempfile

from alula_tests.deploy import files, fleet, keys, limits, troubles, update, varnish
from alula_tests.deploy.proxies import HAProxy, Nginx
from alula_tests.origins import serving
from alula_tests.report import Report


def try_proxies(alula, report):
    keys.check(report)
    with serving(fleet.CountingOrigin) as port, fleet.Fleet(alula) as instances:
        origin = f"http://127.0.0.1:{port}"
        for proxy_type in (HAProxy, Nginx):
            is_haproxy = proxy_type is HAProxy
            with tempfile.TemporaryDirectory() as folder, proxy_type(instances.ports, folder) as proxy:
                report.line(f"{proxy.name}:")
                fleet.one_place_for_each_source(instances, proxy, origin, report, is_haproxy)
                fleet.a_burst(instances, proxy, origin, report, relief=is_haproxy)
                fleet.a_loss(instances, proxy, origin, report)
                fleet.a_double_loss(instances, proxy, origin, report)
                fleet.a_drain(instances, proxy, origin, report)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the executable")
    parser.add_argument("--only", choices=["files", "limits", "proxies", "troubles", "update", "varnish"], help="one part of the test")
    options = parser.parse_args()
    report = Report()
    if options.only in (None, "files"):
        files.check(options.alula, report)
    if options.only in (None, "troubles"):
        troubles.check(options.alula, report)
    if options.only in (None, "limits"):
        limits.check(options.alula, report)
    if options.only in (None, "update"):
        update.check(options.alula, report)
    if options.only in (None, "varnish"):
        varnish.check(options.alula, report)
    if options.only in (None, "proxies"):
        try_proxies(options.alula, report)
    print(f"FAILED: {len(report.faults)}" if report.faults else "passed")
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    main()
