"""Four instances behind HAProxy, with and without a shared cache, under Zipf traffic: how often work is done, and what is lost."""
import argparse
import contextlib
import json
import pathlib
import sys
import tempfile

from alula_tests.clients import metrics
from alula_tests.deploy.fleet import Fleet, until
from alula_tests.deploy.proxies import HAProxy
from alula_tests.fleet import agreement, latency, scenarios, versions
from alula_tests.fleet.shared_cache import Redis, Wire
from alula_tests.fleet.traffic import DistinctOrigin, Reference
from alula_tests.origins import serving
from alula_tests.report import Report
from alula_tests.service import Service, StartFailure

# So much that nothing is evicted.
ROOMY = ["--result-cache-capacity", "512MiB", "--result-cache-preferred", "400MiB", "--decoded-cache-capacity", "512MiB",
         "--decoded-cache-preferred", "400MiB", "--source-cache-memory", "256MiB", "--memory-budget", "4GiB",
         "--max-active-downloads-per-host", "32"]
PATIENT = ["--memory-budget", "1GiB"]


def without_shared_cache(options, origin, reference, report, folder):
    with Fleet(options.alula, *ROOMY) as instances, HAProxy(instances.ports, folder) as proxy:
        trial = scenarios.Trial(instances, origin, reference, report, options.sources, options.requests)
        scenarios.work_is_done_once(trial, proxy)
        scenarios.one_is_lost_and_comes_back(trial, proxy)


def with_shared_cache(options, origin, reference, report, folder):
    with Redis() as redis, Wire(redis.port) as wire:
        shared_cache = ["--shared-cache", f"redis://127.0.0.1:{wire.port}/0"]
        try:
            fleet = Fleet(options.alula, *ROOMY, *shared_cache)
        except StartFailure as failure:
            report.line(f"skipped: no shared cache in this build: {failure}")
            return
        with fleet as instances, HAProxy(instances.ports, folder) as proxy:
            trial = scenarios.Trial(instances, origin, reference, report, options.sources, options.requests)
            scenarios.results_are_shared(trial, folder)
            scenarios.purges_are_seen_by_all(trial)
            scenarios.time_of_a_shared_cache_hit(trial, redis, report, options.shared_hit and options.shared_hit / 1e3)
            scenarios.what_may_happen_to_the_shared_cache(trial, proxy, redis, wire)
            if options.latency:
                with Service(options.alula, *ROOMY, "--access-log", "off") as plain:
                    found = latency.hits_beside_misses(trial, plain, wire, redis)
                    report.check(max(found.values()) <= 1.1, "p99 of hits is within 10 % of an instance without a shared cache")


def with_store(options, origin, reference, report, folder):
    """One folder where results stay, with a shared cache that tells of purges."""
    store, config = pathlib.Path(folder, "store"), pathlib.Path(folder, "store.json")
    store.mkdir()
    config.write_text(json.dumps({"resultStore": "kept", "origins": {"kept": {"folder": str(store), "write": True}}}))
    kept = ["--config", str(config), "--result-store-timeout", "5s"]

    def is_up(instance):
        return metrics(instance)["alula_result_store_up"] == 1

    @contextlib.contextmanager
    def fresh():
        with Service(options.alula, *kept) as instance:
            until(lambda: is_up(instance), "the store is in use")
            yield instance

    with serving(versions.ChangingOrigin) as changing, Redis() as redis, \
            Fleet(options.alula, "--shared-cache", f"redis://127.0.0.1:{redis.port}/0", *kept) as instances:
        until(lambda: all(map(is_up, instances.instances)), "the store is in use")
        versions.check(instances.instances, f"http://127.0.0.1:{changing}", report, fresh)


def forecasts(options, origin, reference, report, folder):
    with Fleet(options.alula, *PATIENT, *agreement.flags()) as instances:
        trial = scenarios.Trial(instances, origin, reference, report, options.sources, options.requests)
        with HAProxy(instances.ports, folder) as proxy:
            agreement.check(trial, proxy, is_routed=True)
        with HAProxy(instances.ports, folder, is_routing=False) as proxy:
            agreement.check(trial, proxy, is_routed=False)
    with Redis() as redis, contextlib.ExitStack() as stack:
        try:
            instances = stack.enter_context(
                Fleet(options.alula, *PATIENT, *agreement.flags(), "--shared-cache", f"redis://127.0.0.1:{redis.port}/0"))
        except StartFailure:
            return
        trial = scenarios.Trial(instances, origin, reference, report, options.sources, options.requests)
        for evicts in (False, True):
            for is_routed in (True, False):
                if evicts:
                    redis.ask("CONFIG", "SET", "maxmemory", redis.used() + agreement.SHARED_CACHE)
                with HAProxy(instances.ports, folder, is_routing=is_routed) as proxy:
                    agreement.check(trial, proxy, is_routed, redis, evicts)


PARTS = {"work": without_shared_cache, "shared_cache": with_shared_cache, "store": with_store, "forecasts": forecasts}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the executable")
    parser.add_argument("--sources", type=int, default=20_000)
    parser.add_argument("--requests", type=int, default=50_000, help="of one scenario")
    parser.add_argument("--quick", action="store_true", help="few sources and requests: some minutes of a debug build")
    parser.add_argument("--latency", action="store_true", help="measure p99 of hits too; needs a quiet machine and wrk")
    parser.add_argument("--shared-hit", type=float, help="milliseconds that the median answer from the shared cache may take")
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    if options.quick:
        options.sources, options.requests = 400, 2_000
    report = Report()
    with serving(DistinctOrigin) as port, tempfile.TemporaryDirectory(prefix="alula-fleet-") as folder, \
            Service(options.alula, "--access-log", "off", *PATIENT) as service:
        reference = Reference(service)
        for name, part in PARTS.items():
            if options.only in (None, name):
                report.line(f"{name}:")
                part(options, f"http://127.0.0.1:{port}", reference, report, folder)
    print(f"FAILED: {len(report.faults)}" if report.faults else "passed")
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    main()
