"""The simulation beside a fleet whose caches are so small that all of them evict."""
from alula_tests.fleet import scenarios
from alula_tests.fleet.simulation import Approximation, Configuration, SimulatedFleet, shares
from alula_tests.fleet.traffic import workload

MIB = 1 << 20
SETTINGS = {"--result-cache-capacity": 256 << 10, "--result-cache-preferred": 192 << 10,
            "--decoded-cache-capacity": 384 << 10, "--decoded-cache-preferred": 240 << 10,
            "--source-cache-memory": 512 << 10}
# Percentage points by which forecasts may be wrong.
BOUND = 3


# Room for values in the tier.
TIER = 2 * MIB


def flags():
    return [part for name, size in SETTINGS.items() for part in (name, str(size))]


def check(trial, proxy, is_routed, redis=None):
    """Sends the same requests to the fleet and to both simulations, the first half to fill the caches."""
    title = ("routed" if is_routed else "spread") + (", with a tier" if redis else "")
    trial.instances.forget()
    warm, counted = (scenarios.places(trial.sources, trial.requests, seed) for seed in (20, 21))
    part = f"agreement-{title.replace(', ', '-').replace(' ', '-')}"
    trial.ask([proxy.port], part, warm, f"{title}: filling")
    counter = scenarios.Counter(trial.instances)
    counts = trial.ask([proxy.port], part, counted, f"{title}: counted")
    work = counter.work()
    tier = redis.used_by_values() if redis else 0
    measured = {"memory": counts.found["memory"], "disk": 0, "tier": counts.found["tier"], **work}
    measured = {name: measured[name] / len(counted) for name in ("memory", "tier", "renders", "decodes", "fetches")}
    asked = workload(trial.sources, trial.reference.mean_lengths())
    configuration = Configuration(
        instances=4, is_routed=is_routed, tier=tier, result=256 << 10, decoded=384 << 10, decoded_preferred=0.625,
        source=512 << 10)
    fleet = SimulatedFleet(asked, configuration)
    fleet.run(*asked.requests(trial.requests, 20))
    exact = shares(fleet.run(*asked.requests(trial.requests, 21)))
    approximated = Approximation(asked, configuration).solve().shares
    if redis:
        trial.report.line(f"      {tier:,} bytes of values in the tier")
    trial.report.line(f"      {title}: per cent of {len(counted)} requests     " + "".join(f"{name:>9}" for name in measured))
    for name, found in (("measured", measured), ("request by request", exact), ("approximated", approximated)):
        trial.report.line(f"        {name:<38}" + "".join(f"{100 * found[layer]:>9.2f}" for layer in measured))
    for name, found in (("request by request", exact), ("approximated", approximated)):
        worst = max(100 * abs(found[layer] - measured[layer]) for layer in measured)
        trial.report.check(worst <= BOUND, f"{title}: {name} is within {worst:.2f} points")
