"""The simulation beside a fleet whose caches are so small that all of them evict."""
import dataclasses

from alula_tests.fleet import scenarios
from alula_tests.fleet.simulation import Approximation, Configuration, SimulatedFleet, shares
from alula_tests.fleet.traffic import workload

MIB = 1 << 20
SETTINGS = {"--result-cache-capacity": 256 << 10, "--result-cache-preferred": 192 << 10,
            "--decoded-cache-capacity": 384 << 10, "--decoded-cache-preferred": 240 << 10,
            "--source-cache-memory": 512 << 10}
# Percentage points by which forecasts may be wrong.
BOUND = 3


# Points of an instance on the rings: about those that haproxy.cfg gives it.
POINTS = (1_020, 1_022, 1_024, 1_026)
# Fewer requests say little: they are shown, and not judged.
ENOUGH = 6_000
# Room for values in the shared cache.
SHARED_CACHE = 2 * MIB


def flags():
    return [part for name, size in SETTINGS.items() for part in (name, str(size))]


def simulated(asked, configuration, requests):
    fleet = SimulatedFleet(asked, configuration)
    fleet.run(*asked.requests(requests, 20))
    return shares(fleet.run(*asked.requests(requests, 21)))


def check(trial, proxy, is_routed, redis=None, evicts=False):
    """Sends the same requests to the fleet and to both simulations, the first half to fill the caches."""
    title = ("routed" if is_routed else "spread") + (", with a shared cache" if redis else "")
    trial.instances.forget()
    warm, counted = (scenarios.places(trial.sources, trial.requests, seed) for seed in (20, 21))
    part = f"agreement-{title.replace(', ', '-').replace(' ', '-')}"
    trial.ask([proxy.port], part, warm, f"{title}: filling")
    counter = scenarios.Counter(trial.instances)
    counts = trial.ask([proxy.port], part, counted, f"{title}: counted")
    work = counter.work()
    shared_cache = redis.used_by_values() if redis else 0
    measured = {"memory": counts.found["memory"], **work, "shared_cache": counts.found["shared_cache"]}
    measured = {name: measured[name] / len(counted) for name in ("memory", "shared_cache", "renders", "decodes", "fetches")}
    asked = workload(trial.sources, trial.reference.mean_lengths())
    configuration = Configuration(
        instances=4, is_routed=is_routed, shared_cache=shared_cache, result=256 << 10, decoded=384 << 10, decoded_preferred=0.625,
        source=512 << 10)
    # Which popular sources meet at one instance is chance: the mean of several rings.
    rings = [simulated(asked, dataclasses.replace(configuration, points=points), trial.requests) for points in POINTS]
    exact = {layer: sum(ring[layer] for ring in rings) / len(rings) for layer in rings[0]}
    approximated = Approximation(asked, configuration).solve().shares
    if redis:
        # A shared cache that is late is not asked for a while, and more is rendered.
        late = int(scenarios.figure(trial, 'alula_shared_cache_requests_total{result="timeout"}'))
        trial.report.line(f"      {shared_cache:,} bytes of values in the shared cache, {late} look-ups were late so far")
    trial.report.line(f"      {title}: per cent of {len(counted)} requests     " + "".join(f"{name:>9}" for name in measured))
    for name, found in (("measured", measured), ("request by request", exact), ("approximated", approximated)):
        trial.report.line(f"        {name:<38}" + "".join(f"{100 * found[layer]:>9.2f}" for layer in measured))
    if redis:
        # A shared cache that evicts loses generations too, which no simulation has.
        worst = max(100 * abs(exact[layer] - measured[layer]) for layer in measured)
        claim = f"{title}: request by request is within {worst:.2f} points"
        judge(trial, worst, claim + (", the shared cache evicts" if evicts else ""), is_judged=not evicts)
        return
    for name, found in (("request by request", exact), ("approximated", approximated)):
        worst = max(100 * abs(found[layer] - measured[layer]) for layer in measured)
        judge(trial, worst, f"{title}: {name} is within {worst:.2f} points")


def judge(trial, worst, claim, is_judged=True):
    if is_judged and trial.requests >= ENOUGH:
        trial.report.check(worst <= BOUND, claim)
    else:
        trial.report.line(f"      {claim}")
