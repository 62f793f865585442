"""Two instances over a real Redis server: hits, purges, restarts, a server that is full, away, paused or behind TLS."""
import argparse
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from alula_tests.instances import Images, SharingInstance, eventually, run_checks
from alula_tests.origins import serving

PASSWORD = "of-this-test-alone"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    """A Redis server that keeps nothing on the disk."""

    def __init__(self, folder, *settings, certificate=None):
        self.port, self.settings, self.folder = free_port(), list(settings), folder
        self.certificate = certificate
        self.start()

    def start(self):
        place = ["--port", str(self.port)]
        if self.certificate:
            place = ["--port", "0", "--tls-port", str(self.port), "--tls-cert-file", self.certificate[0],
                     "--tls-key-file", self.certificate[1], "--tls-auth-clients", "no"]
        self.process = subprocess.Popen(
            ["redis-server", *place, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", self.folder,
             *self.settings], stdout=subprocess.DEVNULL)
        if not eventually(self.answers):
            raise SystemExit("redis-server does not start")

    def answers(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True

    def call(self, *words):
        command = ["redis-cli", "-p", str(self.port), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    def pipe(self, commands):
        """Sends commands all at once."""
        text = b"".join(
            b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)
            for words in commands)
        subprocess.run(["redis-cli", "-p", str(self.port), "--pipe"], input=text, capture_output=True, check=True)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Instance(SharingInstance):
    """An instance that shares a cache."""
    layer, member, prefix = "alula-shared", "sharedCache", "alula_shared_cache"

    def __init__(self, executable, redis, *settings, scheme="redis", host="127.0.0.1"):
        if "--shared-cache-timeout" not in settings:
            # A loaded machine is no slow server.
            settings = (*settings, "--shared-cache-timeout", "1s")
        super().__init__(executable, "--shared-cache", f"{scheme}://{host}:{redis.port}/0", *settings)


class Trial:
    """The checks, each with two instances of its own over one server."""

    def __init__(self, alula, folder, origin):
        self.alula, self.folder, self.origin = alula, folder, origin

    def url(self, name):
        return f"{self.origin}/{name}"

    def hits(self, name):
        return Images.hits.get(f"/{name}", 0)

    @contextlib.contextmanager
    def fleet(self, *redis_settings, instances=(), **redis_options):
        redis = Redis(self.folder, *redis_settings, **redis_options)
        with contextlib.ExitStack() as stack:
            stack.callback(redis.stop)
            fleet = [stack.enter_context(Instance(self.alula, redis, *settings)) for settings in instances or [(), ()]]
            for instance in fleet:
                instance.reaches("up")
            yield (redis, *fleet)

    def hits_and_purges(self):
        with self.fleet() as (redis, one, other):
            first = one.thumbnail(self.url("a"))
            one.settles()
            second = other.thumbnail(self.url("a"))
            assert second[0] == "alula-result;fwd=uri-miss;stored, alula-shared;hit", second[0]
            assert second[1:] == first[1:] and self.hits("a") == 1
            assert not any("127.0.0.1" in key for key in redis.call("KEYS", "*"))
            lives = [int(redis.call("TTL", key)[0]) for key in redis.call("KEYS", "alula:1:v:*")]
            assert lives and all(0 < seconds <= 172_800 for seconds in lives), lives
            assert one.purge(self.url("a")) == 200
            begun = time.monotonic()
            assert eventually(lambda: other.thumbnail(self.url("a"))[0] != "alula-result;hit")
            assert time.monotonic() - begun < 1 and self.hits("a") == 2
            redis.call("SET", "foreign", "1")
            one.thumbnail(self.url("b"))
            assert one.thumbnail(self.url("b"))[0] == "alula-result;hit"
            assert other.purge() == 200
            # Before the next request, which stores the value again.
            assert eventually(lambda: not redis.call("KEYS", "alula:1:v:*"))
            assert eventually(lambda: one.thumbnail(self.url("b"))[0] != "alula-result;hit"), "a copy stayed"
            assert redis.call("GET", "foreign") == ["1"]
            assert not one.is_hit(self.url("a"), 33)

    def a_purge_by_tag(self):
        with self.fleet(instances=[(), (), ()]) as (_, one, other, third):
            for number in range(30):
                one.thumbnail(self.url(f"t{number}"), tag="season")
            one.thumbnail(self.url("plain"))
            one.settles()
            assert all(other.is_hit(self.url(f"t{number}")) for number in range(30)) and other.is_hit(self.url("plain"))
            assert third.purge(tag="season") == 200
            begun = time.monotonic()
            for number, instance in enumerate((one, other)):
                url = self.url(f"t{number}")
                assert eventually(lambda: instance.thumbnail(url)[0] != "alula-result;hit"), "a copy stayed"
            assert time.monotonic() - begun < 1
            assert not any(third.is_hit(self.url(f"t{number}")) for number in range(2, 30))
            assert third.is_hit(self.url("plain"))

    def a_restarted_server(self):
        with self.fleet() as (redis, one, other):
            for instance in (one, other):
                instance.thumbnail(self.url("r"))
                instance.settles()
            redis.stop()
            one.reaches("down")
            assert one.purge(self.url("r")) == 200
            assert other.thumbnail(self.url("r"))[0] == "alula-result;hit"
            redis.start()
            assert max(one.reaches("up", 5), other.reaches("up", 5)) < 5
            assert eventually(lambda: other.thumbnail(self.url("r"))[0] != "alula-result;hit", 2)
            one.thumbnail(self.url("new"))
            one.settles()
            assert other.is_hit(self.url("new"))

    def a_purge_that_is_missed(self):
        # The disk of an instance that does not run keeps what is purged meanwhile.
        with tempfile.TemporaryDirectory() as disk, self.fleet() as (redis, one, other):
            settings = ("--source-cache-path", disk)
            with Instance(self.alula, redis, *settings) as third:
                third.reaches("up")
                third.thumbnail(self.url("m"))
                complaints = third.stop()
                assert not complaints, complaints
            assert one.purge(self.url("m")) == 200
            before = self.hits("m")
            with Instance(self.alula, redis, *settings) as third:
                third.reaches("up")
                third.thumbnail(self.url("m"))
                assert self.hits("m") == before + 1, "the disk brought it back"

    def a_full_server(self):
        with self.fleet("--maxmemory", "3mb", "--maxmemory-policy", "noeviction") as (redis, one, other):
            number = 0
            while one.metric("alula_shared_cache_dropped_total") == 0 and number < 3_000:
                one.thumbnail(self.url(f"f{number}"), 80)
                number += 1
            assert one.metric("alula_shared_cache_dropped_total") > 0
            assert one.state == "full" and other.is_hit(self.url("f0"), 80), one.state
            assert one.purge(self.url("f0")) == 200
            assert eventually(lambda: other.thumbnail(self.url("f0"), 80)[0] != "alula-result;hit", 2)

    def a_paused_server(self):
        settings = ("--shared-cache-timeout", "50ms")
        with self.fleet(instances=[settings, settings]) as (redis, one, other):
            one.thumbnail(self.url("p"))
            one.settles()
            os.kill(redis.process.pid, signal.SIGSTOP)
            begun = time.monotonic()
            for width in range(30, 40):
                other.thumbnail(self.url("p"), width)
            waited = time.monotonic() - begun
            assert other.state in ("suspended", "down"), other.state
            os.kill(redis.process.pid, signal.SIGCONT)
            assert other.reaches("up", 5) < 5
            assert other.is_hit(self.url("p"))
            return f"{waited:.2f} s for 10 renditions, of which 3 wait"

    def changed_bits(self):
        with self.fleet() as (redis, one, other):
            etags = {}
            for number in range(20):
                etags[number] = one.thumbnail(self.url(f"b{number}"))[1]
            one.settles()
            for place, key in enumerate(redis.call("KEYS", "alula:1:v:*")):
                redis.call("SETBIT", key, str(200 + place * 37), "1")
                redis.call("SETBIT", key, str(600 + place * 37), "0")
            for number, etag in etags.items():
                assert other.thumbnail(self.url(f"b{number}"))[1] == etag
            rejected = other.metric('alula_shared_cache_requests_total{result="rejected"}')
            assert rejected >= 20, rejected
            return f"{rejected:.0f} values rejected"

    def an_ephemeral_instance(self):
        with self.fleet(instances=[(), ("--session-mode", "ephemeral")]) as (redis, one, other):
            one.thumbnail(self.url("e"))
            one.settles()
            before = sorted(redis.call("KEYS", "*"))
            assert other.is_hit(self.url("e"))
            other.thumbnail(self.url("e2"))
            assert sorted(redis.call("KEYS", "*")) == before

    def other_settings(self):
        with self.fleet(instances=[(), ("--webp-effort", "1")]) as (redis, one, other):
            one.thumbnail(self.url("o"))
            one.settles()
            assert not other.is_hit(self.url("o"))
            # A purge knows no settings.
            assert one.purge(self.url("o")) == 200
            assert eventually(lambda: other.thumbnail(self.url("o"))[0] != "alula-result;hit", 2)

    def a_user_and_tls(self):
        folder = pathlib.Path(self.folder)
        for name in ("right", "wrong"):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                 "-addext", f"subjectAltName=DNS:{'localhost' if name == 'right' else 'elsewhere'}",
                 "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"],
                check=True, capture_output=True)
        outcomes = []
        for certificate, authorities, password, state in [
            ("right", "right", PASSWORD, "up"), ("right", "wrong", PASSWORD, "down"),
            ("wrong", "wrong", PASSWORD, "down"), ("right", "right", "another", "down"),
        ]:
            redis = self.guarded(folder, certificate)
            os.environ["ALULA_SHARED_CACHE_USER"], os.environ["ALULA_SHARED_CACHE_PASSWORD"] = "alula", password
            try:
                with Instance(
                        self.alula, redis, "--shared-cache-authorities", str(folder / f"{authorities}.pem"),
                        scheme="rediss", host="localhost") as instance:
                    if state == "up":
                        instance.reaches("up")
                        instance.thumbnail(self.url("t"))
                        instance.settles()
                    else:
                        assert eventually(lambda: any("shared cache" in line for line in instance.lines))
                        assert instance.state == state
                    assert not any(PASSWORD in line for line in instance.lines)
                    outcomes.append(instance.state)
            finally:
                redis.stop()
                del os.environ["ALULA_SHARED_CACHE_USER"], os.environ["ALULA_SHARED_CACHE_PASSWORD"]
        return ", ".join(outcomes)

    def a_neighbor(self):
        """Another client of the server, without the key, writes under the service's names."""
        os.environ["ALULA_SHARED_CACHE_KEY"] = "5a" * 32
        try:
            with self.fleet() as (redis, one, other):
                attacks = [
                    lambda: redis.call("XADD", "alula:1:purges", "18446744073709551615-18446744073709551615", "p", "x"),
                    lambda: redis.call("SET", "alula:1:purges", "x"),
                    lambda: redis.pipe(["XADD", "alula:1:purges", "*", "p", "x" * 40_000] for _ in range(500)),
                    lambda: redis.pipe(["XADD", "alula:1:purges", "*", "p", "x"] for _ in range(50_000)),
                    lambda: redis.call("SET", "alula:1:g", "x"),
                ]
                for number, attack in enumerate(attacks):
                    url = self.url(f"n{number}")
                    for instance in (one, other):
                        instance.thumbnail(url)
                    attack()
                    begun = time.monotonic()
                    # A purge that the server did not take in time says so.
                    assert eventually(lambda: one.purged(url=url)["complete"], 5), number
                    assert eventually(lambda: other.thumbnail(url)[0] != "alula-result;hit", 2), number
                    assert time.monotonic() - begun < 5
                    assert eventually(lambda: self.shares(one, other), 5), number
                self.tags(redis, one, other)
        finally:
            del os.environ["ALULA_SHARED_CACHE_KEY"]

    def shares(self, one, other):
        url = self.url(f"s{time.monotonic_ns()}")
        one.thumbnail(url)
        one.settles()
        return other.is_hit(url)

    def tags(self, redis, one, other):
        one.thumbnail(self.url("victim"), tag="theirs")
        one.settles()
        [theirs] = redis.call("KEYS", "alula:1:t:*")
        one.thumbnail(self.url("mine"), tag="mine")
        one.settles()
        [mine] = set(redis.call("KEYS", "alula:1:t:*")) - {theirs}
        [member] = redis.call("SMEMBERS", theirs)
        redis.call("SADD", mine, member, member[:-43])
        redis.pipe(["SADD", mine, f"{number:086}http://x/"] for number in range(100_000))
        assert other.purged(tag="mine")["complete"]
        assert other.is_hit(self.url("victim")) and not other.is_hit(self.url("mine"))
        redis.pipe([["SADD", mine, "x" * (9 << 20)]])
        assert not other.purged(tag="mine")["complete"]
        other.reaches("up")

    def guarded(self, folder, certificate):
        """A server behind TLS that knows one user, who may do what an instance does, and nothing else."""
        rules = folder / "users.acl"
        rules.write_text(
            f"user default off\nuser alula on >{PASSWORD} ~alula:1:* &alula:1:* -@all "
            "+ping +select +auth +mget +set +expire +del +unlink +xadd +xrange +publish +subscribe +scan +sadd +sscan\n")
        return Redis(
            self.folder, "--aclfile", str(rules),
            certificate=(str(folder / f"{certificate}.pem"), str(folder / f"{certificate}.key")))


CHECKS = ["hits_and_purges", "a_purge_by_tag", "a_restarted_server", "a_purge_that_is_missed", "a_full_server", "a_paused_server",
          "changed_bits", "an_ephemeral_instance", "other_settings", "a_user_and_tls", "a_neighbor"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--alula", required=True)
    arguments.add_argument("--only", nargs="*", default=CHECKS)
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Images) as port:
        trial = Trial(arguments.alula, folder, f"http://127.0.0.1:{port}")
        failures = run_checks(trial, arguments.only)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
