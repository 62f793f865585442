"""What a fleet must hold: work done once, losses that nobody notices, and a shared cache that costs nothing but its hits."""
import collections
import itertools
import json
import statistics
import time
import urllib.parse

from alula_tests.clients import connect, get, metrics
from alula_tests.deploy.fleet import until
from alula_tests.deploy.proxies import HAProxy
from alula_tests.fleet.traffic import RENDITIONS, WIDTHS, DistinctOrigin, PlainConnection, Run, target, workload

REJECTED = 'alula_shared_cache_requests_total{result="rejected"}'
NAMES = {"alula_decodes_total": "decodes", "alula_renders_total": "renders"}


def places(sources, count, seed):
    """A sequence of requests by Zipf's law, as pairs of a source and a rendition."""
    ranks, numbers = workload(sources).requests(count, seed)
    return list(zip(ranks.tolist(), numbers.tolist()))


def distinct(sequence):
    """How many sources, levels of sources, and results a sequence names."""
    return {"fetches": len({source for source, _ in sequence}),
            "decodes": len({(source, RENDITIONS[WIDTHS[number]][1]) for source, number in sequence}),
            "renders": len(set(sequence))}


class Counter:
    """Work of the fleet since the counter was made: fetches by the origin's own count, the rest by the instances' metrics."""

    def __init__(self, instances):
        self.instances, self.before = instances, self._work(instances)
        DistinctOrigin.fetches.clear()

    @staticmethod
    def _work(instances):
        found = collections.Counter()
        for instance in instances.instances:
            if instance.process.poll() is None:
                for name, value in metrics(instance).items():
                    if name.partition("{")[0] in NAMES:
                        found[NAMES[name.partition("{")[0]]] += int(value)
                    if name == 'alula_shared_cache_requests_total{result="hit"}':
                        found["shared_cache"] += int(value)
        return found

    def work(self):
        """An instance that was started again since then makes the figures of decodes and renders too small."""
        return {**(self._work(self.instances) - self.before),
                # The instance that makes the references fetches for itself.
                "fetches": sum(count for path, count in DistinctOrigin.fetches.items() if not path.startswith("/reference/"))}


class Trial:
    """A fleet, the origin, the reference and the report that the scenarios share."""

    def __init__(self, instances, origin, reference, report, sources, requests):
        self.instances, self.origin, self.reference, self.report = instances, origin, reference, report
        self.sources, self.requests = sources, requests
        self.answers = self.wrong = 0

    def start(self, ports, part, sequence):
        self.reference.learn(self.origin, sequence)
        return Run(ports, self.origin, part, sequence, self.reference)

    def judge(self, counts, what, may_fail=False):
        """No answer failed, and none was wrong."""
        self.answers += counts.requests
        self.wrong += len(counts.wrong)
        details = "".join(f"\n        {fault}" for fault in (counts.failures + counts.wrong)[:3])
        self.report.check(not counts.wrong and (may_fail or not counts.failures),
                          f"{what}: {len(counts.failures)} of {counts.requests} requests failed, "
                          f"{len(counts.wrong)} wrong answers; {dict(counts.found)}{details}")

    def ask(self, ports, part, sequence, what):
        counts = self.start(ports, part, sequence).finish()
        self.judge(counts, what)
        return counts


def work_is_done_once(trial, proxy):
    """With routing: one fetch for each source and one decode for each level in the whole fleet."""
    sequence = places(trial.sources, trial.requests, 1)
    trial.reference.learn(trial.origin, sequence)
    trial.instances.forget()
    counter, goal = Counter(trial.instances), distinct(sequence)
    trial.ask([proxy.port], "once", sequence, "Zipf traffic with routing")
    work = counter.work()
    for kind, bound in (("fetches", 1.02), ("decodes", 1.05), ("renders", 1.05)):
        trial.report.check(work[kind] <= bound * goal[kind],
                           f"{kind}: {work[kind]} of {goal[kind]}, {work[kind] / goal[kind]:.3f} of at most {bound}")
    shares = trial.instances.downloads()
    trial.report.line(f"      downloads by instance: {[int(share) for share in shares]}")


def one_is_lost_and_comes_back(trial, proxy):
    """Under traffic one of four is killed, and starts again with nothing: no request fails, and its share alone moves."""
    instances, report = trial.instances, trial.report
    instances.forget()
    warm = places(trial.sources, trial.requests, 2)
    before = instances.downloads()
    trial.ask([proxy.port], "loss", warm, "before the loss")
    shares = [int(after - start) for after, start in zip(instances.downloads(), before)]
    share, total = shares[1], sum(shares)
    known = {f"/loss/{source}.png" for source, _ in warm}
    DistinctOrigin.fetches.clear()
    run = trial.start([proxy.port], "loss", places(trial.sources, trial.requests, 3))
    run.answer(trial.requests // 10)
    instances.instances[1].kill()
    run.answer(trial.requests // 2)
    trial.judge(run.finish(), "one of four was killed")
    again = sum(count for path, count in DistinctOrigin.fetches.items() if path in known)
    report.check(again <= share + 0.05 * total,
                 f"added fetches: {again} of {total} known sources; its share was {share}")
    DistinctOrigin.fetches.clear()
    run = trial.start([proxy.port], "loss", places(trial.sources, trial.requests, 4))
    run.answer(trial.requests // 10)
    instances.start_again(1)
    trial.judge(run.finish(), "it came back empty")
    again = sum(count for path, count in DistinctOrigin.fetches.items() if path in known)
    report.check(again <= share + 0.05 * total, f"added fetches: {again} of {total}")


def purges_are_seen_by_all(trial):
    """By URL and by tag, under traffic: each instance drops its copy within a second, whoever was asked under the tag."""
    instances, ports = trial.instances.instances, trial.instances.ports
    run = trial.start(ports, "beside", places(trial.sources, trial.requests // 2, 8))
    for kind in ("url", "tag"):
        name = target(trial.origin, f"purged-{kind}", 0, 0)
        query = {"url": urllib.parse.parse_qs(name.partition("?")[2])["url"][0], "tag": "season-1"}

        def is_hit(port):
            return get(connect(port), name)[0].getheader("Cache-Status") == "alula-result;hit"

        get(connect(ports[0]), f"{name}&tag=season-1")
        for port in ports:
            until(lambda: is_hit(port), "every instance has a copy")
        connection, begun = connect(instances[3].admin_port), time.monotonic()
        connection.request("DELETE", f"/cache?{urllib.parse.urlencode({kind: query[kind]})}")
        removed, waiting = json.loads(connection.getresponse().read())["entries"], set(ports)
        while waiting and time.monotonic() - begun < 10:
            waiting -= {port for port in waiting if not is_hit(port)}
        seconds = time.monotonic() - begun
        trial.report.check(removed > 0 and not waiting and seconds < 1,
                           f"a purge by {kind} is seen by all four after {seconds:.2f} s of at most 1")
    trial.judge(run.finish(), "traffic beside purges")


def results_are_shared(trial, folder):
    """Without routing, with a shared cache: a result is rendered once in the whole fleet, but for those that are made at once."""
    with HAProxy(trial.instances.ports, folder, is_routing=False) as proxy:
        trial.instances.forget()
        sequence = places(trial.sources, trial.requests, 5)
        trial.reference.learn(trial.origin, sequence)
        counter, goal = Counter(trial.instances), distinct(sequence)
        counts = trial.ask([proxy.port], "shared", sequence, "Zipf traffic without routing, with a shared cache")
        work = counter.work()
        trial.report.check(work["renders"] <= 1.15 * goal["renders"],
                           f"renders: {work['renders']} of {goal['renders']}, {work['renders'] / goal['renders']:.3f} of at most 1.15")
        trial.report.line(f"      fetches {work['fetches']} of {goal['fetches']}, decodes {work['decodes']} of {goal['decodes']}, "
                          f"answers from the shared cache {counts.found['shared_cache']}")


def time_of_a_shared_cache_hit(trial, redis, report, bound=None):
    """An instance that has nothing in memory answers from the shared cache; one request after another."""
    sequence = sorted(set(places(trial.sources, min(trial.requests, 2_000), 6)))
    trial.ask([trial.instances.ports[0]], "hits", sequence, "results go to the shared cache")
    until(lambda: len(redis.keys()) >= len(sequence), "results in the shared cache")
    trial.instances.instances[0].kill()
    trial.instances.start_again(0)
    connection, seconds, missed = PlainConnection(trial.instances.ports[0]), [], 0
    for place in sequence:
        start = time.monotonic()
        _, header, _ = connection.get(target(trial.origin, "hits", *place))
        if "alula-shared;hit" in header.replace("; ", ";"):
            seconds.append(time.monotonic() - start)
        else:
            missed += 1
    connection.close()
    report.check(len(seconds) >= 0.95 * len(sequence), f"{len(seconds)} of {len(sequence)} results came from the shared cache")
    if seconds:
        middle, last = statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]
        text = f"an answer from the shared cache: p50 {1e3 * middle:.2f} ms, p99 {1e3 * last:.2f} ms"
        report.line(f"      {text}") if bound is None else report.check(middle <= bound, text)


def figure(trial, name):
    return sum(metrics(instance).get(name, 0) for instance in trial.instances.instances)


def is_shared_again(trial, part, sources):
    """Whether an instance finds in the shared cache what another has just made."""
    name = target(trial.origin, part, next(sources), 0)
    get(connect(trial.instances.ports[1]), name)
    answer, _ = get(connect(trial.instances.ports[2]), name)
    return "alula-shared;hit" in (answer.getheader("Cache-Status") or "").replace("; ", ";")


def is_hit_again(trial, part, sequence):
    """Whether an instance finds one of these in the shared cache; memory is emptied by asking instances in turn."""
    connection = connect(trial.instances.ports[2])
    for place in sequence:
        answer, _ = get(connection, target(trial.origin, part, *place))
        if "alula-shared;hit" in (answer.getheader("Cache-Status") or "").replace("; ", ";"):
            return True
    return False


def what_may_happen_to_the_shared_cache(trial, proxy, redis, wire):
    """Slow, cut, silent, lying, full, gone, restarted: every answer is right and in time, and hits come back within 5 s.

    A full server is tried every 10 s."""
    report = trial.report
    part_of = iter(range(1_000))

    def disturbed(what, begin, end, keeps_values=True, rejects=False, within=5):
        part = f"shared_cache{next(part_of)}"
        before, during, after = (places(trial.sources, trial.requests // 2, 10 + index) for index in range(3))
        for place_list in (before, during, after):
            trial.reference.learn(trial.origin, place_list)
        trial.ask([proxy.port], part, before, f"{what}: before")
        rejected = figure(trial, REJECTED)
        begin()
        # Each instance lacks three quarters of what the others made, so that it asks the shared cache.
        counts = trial.ask(trial.instances.ports, part, during, f"{what}: meanwhile")
        slowest = max(counts.seconds["memory"], default=0)
        end()
        ended = time.monotonic()
        fresh, unknown = iter(sorted(set(before))), itertools.count(10**6)
        try:
            if keeps_values:
                until(lambda: is_hit_again(trial, part, [next(fresh) for _ in range(20)]), "a hit")
            else:
                until(lambda: is_shared_again(trial, part, unknown), "a hit")
            passed = time.monotonic() - ended
            report.check(passed <= within, f"{what}: hits again after {passed:.1f} s")
        except (TimeoutError, StopIteration, RuntimeError):
            report.check(False, f"{what}: no hit after {time.monotonic() - ended:.1f} s")
        if rejects:
            rejected = int(figure(trial, REJECTED) - rejected)
            report.check(rejected > 0, f"{what}: {rejected} values were rejected")
        trial.ask(trial.instances.ports, part, after, f"{what}: after")
        report.line(f"      slowest hit in memory meanwhile {1e3 * slowest:.0f} ms")

    def mode(name):
        return lambda: wire.set(name)

    disturbed("slow by 200 ms", mode("slow"), mode("pass"))
    disturbed("silent", mode("silent"), mode("pass"))
    disturbed("cut", mode("cut"), mode("pass"))
    disturbed("wrong bits on the wire", mode("lying"), mode("pass"))
    disturbed("a bit flipped in every value", lambda: report.line(f"      {redis.flip_bits()} values"), lambda: None,
              keeps_values=False, rejects=True)
    disturbed("every value under another key", lambda: report.line(f"      {redis.swap_values()} values"), lambda: None,
              keeps_values=False, rejects=True)
    disturbed("restarted", lambda: (redis.kill(), redis.start_again()), lambda: None, keeps_values=False)
    disturbed("killed", redis.kill, redis.start_again, keeps_values=False)

    def fill():
        redis.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        redis.ask("CONFIG", "SET", "maxmemory", "1mb")

    def empty():
        redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        redis.ask("CONFIG", "SET", "maxmemory", redis.maxmemory)

    disturbed("full", fill, empty, keeps_values=False, within=15)
    report.check(trial.wrong == 0, f"{trial.wrong} wrong answers in {trial.answers:,}")


