"""Instances over a folder and over a strict bucket where results stay: hits, purges, restarts, a store that is full, away, slow or lies."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

from alula_tests.instances import Images, SharingInstance, eventually, run_checks
from alula_tests.origins import serving
from alula_tests.store.bucket import ACCESS_KEY, REGION, SECRET_KEY, Bucket


class Instance(SharingInstance):
    """An instance whose results stay."""
    layer, member, prefix = "alula-store", "resultStore", "alula_result_store"


class Trial:
    """The checks, each with a store of its own."""

    def __init__(self, alula, folder, origin):
        self.alula, self.folder, self.origin = alula, pathlib.Path(folder), origin

    def url(self, name):
        return f"{self.origin}/{name}"

    def hits(self, name):
        return Images.hits.get(f"/{name}", 0)

    @contextlib.contextmanager
    def store(self):
        """A folder that takes results."""
        path = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        yield path
        shutil.rmtree(path, ignore_errors=True)

    def instance(self, origin, *settings, up=True):
        """An instance, in use if `up`, whose results stay at an origin of the settings file."""
        config = self.folder / "settings.json"
        config.write_text(json.dumps({"resultStore": "kept", "origins": {"kept": {**origin, "write": True}}}))
        if "--result-store-timeout" not in settings:
            # A loaded machine is no slow store.
            settings = (*settings, "--result-store-timeout", "5s")
        instance = Instance(self.alula, "--config", str(config), *settings)
        if up:
            instance.reaches("up")
        return instance

    def of_folder(self, path, *settings, up=True):
        return self.instance({"folder": str(path)}, *settings, up=up)

    def of_bucket(self, bucket, *settings, host=None, up=True):
        os.environ["STORE_ID"], os.environ["STORE_SECRET"] = ACCESS_KEY, SECRET_KEY
        place = f"http://{host}:{bucket.port}/" if host else f"http://127.0.0.1:{bucket.port}/kept/"
        credentials = {"s3": {"region": REGION, "accessKey": {"env": "STORE_ID"}, "secretKey": {"env": "STORE_SECRET"}}}
        return self.instance({"url": place, "credentials": credentials}, *settings, up=up)

    def values(self, path):
        return [file for file in (path / "alula-1" / "v").rglob("*") if file.is_file()]

    def all_files(self, path):
        return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file() and file.suffix != ".lock"}

    def a_restart(self):
        with self.store() as path:
            with self.of_folder(path) as one:
                first = one.thumbnail(self.url("a"))
                complaints = one.stop()
                assert not complaints, complaints
            assert len(self.values(path)) == 2, "the end did not wait for the writes"
            assert not any(b"127.0.0.1" in str(file).encode() for file in self.values(path))
            with self.of_folder(path) as other:
                second = other.thumbnail(self.url("a"))
                assert second[0] == "alula-result;fwd=uri-miss;stored, alula-store;hit", second[0]
                assert second[1:] == first[1:] and self.hits("a") == 1

    def purges_of_a_fleet(self):
        with self.store() as path, self.of_folder(path) as one, self.of_folder(path) as other:
            one.thumbnail(self.url("p"))
            one.settles()
            assert other.is_hit(self.url("p"))
            assert other.purge(self.url("p")) == 200
            with self.of_folder(path) as third:
                assert not third.is_hit(self.url("p")) and self.hits("p") == 2
                # What the first instance makes of the version before the purge is nobody else's.
                one.thumbnail(self.url("p"), 33)
                one.settles()
                assert not third.is_hit(self.url("p"), 33)
                third.settles()
                assert third.purge() == 200
            with self.of_folder(path) as fourth:
                assert not fourth.is_hit(self.url("p"))

    def a_purge_by_tag(self):
        with self.store() as path, self.of_folder(path) as one, self.of_folder(path) as other:
            self.purge_by_tag(one, other)
            with self.of_folder(path) as third:
                assert not third.is_hit(self.url("tagged")) and third.is_hit(self.url("plain"))

    def a_purge_by_tag_in_a_bucket(self, host=None):
        bucket = Bucket()
        with self.of_bucket(bucket, host=host) as one, self.of_bucket(bucket, host=host) as other:
            self.purge_by_tag(one, other)
            assert not bucket.faults, bucket.faults[:3]
            with self.of_bucket(bucket, host=host) as third:
                assert not third.is_hit(self.url("tagged")) and third.is_hit(self.url("plain"))
        bucket.stop()

    def a_purge_by_tag_in_a_bucket_by_host(self):
        self.a_purge_by_tag_in_a_bucket("localhost")

    def purge_by_tag(self, one, other):
        """An instance purges what another was asked for under a tag."""
        one.thumbnail(self.url("tagged"), tag="product-7")
        one.thumbnail(self.url("plain"))
        one.settles()
        assert other.purge(tag="nobodys") == 200 and other.is_hit(self.url("tagged"))
        assert other.purge(tag="product-7") == 200

    def damage(self):
        with self.store() as path:
            etags = {}
            with self.of_folder(path) as one:
                for number in range(20):
                    etags[number] = one.thumbnail(self.url(f"d{number}"))[1]
                one.settles()
            for place, file in enumerate(sorted(self.values(path))):
                content = file.read_bytes()
                match place % 4:
                    case 0: file.write_bytes(content[:len(content) // 2])
                    case 1: file.write_bytes(b"")
                    case 2: file.write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
                    case 3: file.write_bytes(b"x" * 1000)
            with self.of_folder(path) as other:
                for number, etag in etags.items():
                    assert other.thumbnail(self.url(f"d{number}"))[1] == etag
                rejected = other.metric('alula_result_store_requests_total{result="rejected"}')
                assert rejected > 5, rejected
                return f"{rejected:.0f} values rejected"

    def a_key(self):
        with self.store() as path:
            os.environ["ALULA_SHARED_CACHE_KEY"] = "01" * 32
            try:
                with self.of_folder(path) as one:
                    one.thumbnail(self.url("k"))
                    one.settles()
                with self.of_folder(path) as other:
                    assert other.is_hit(self.url("k"))
            finally:
                del os.environ["ALULA_SHARED_CACHE_KEY"]
            with self.of_folder(path) as other:
                assert not other.is_hit(self.url("k"))

    def an_ephemeral_instance(self):
        with self.store() as path:
            with self.of_folder(path, "--session-mode", "ephemeral", up=False) as reader:
                reader.thumbnail(self.url("e"))
                reader.stop()
            assert not list(path.iterdir()), list(path.iterdir())
            with self.of_folder(path) as one:
                one.thumbnail(self.url("e"))
                one.settles()
            before = self.all_files(path)
            with self.of_folder(path, "--session-mode", "ephemeral") as reader:
                assert reader.is_hit(self.url("e"))
                reader.thumbnail(self.url("e2"))
                reader.stop()
            assert self.all_files(path) == before

    def a_folder_that_is_lost(self):
        with self.store() as path, self.of_folder(path) as one:
            one.thumbnail(self.url("l"))
            one.settles()
            away = path.with_suffix(".away")
            path.rename(away)
            for width in range(30, 36):
                one.thumbnail(self.url("l2"), width)
            one.reaches("suspended" if one.state == "suspended" else "down")
            away.rename(path)
            one.reaches("up", 5)
            one.thumbnail(self.url("l3"))
            one.settles()
            with self.of_folder(path) as other:
                assert other.is_hit(self.url("l")) and other.is_hit(self.url("l3"))

    def other_settings(self):
        with self.store() as path, self.of_folder(path) as one, self.of_folder(path, "--webp-effort", "1") as other:
            one.thumbnail(self.url("o"))
            one.settles()
            assert not other.is_hit(self.url("o"))
            assert len(self.values(path)) >= 2

    def a_bucket(self, host=None):
        bucket = Bucket()
        with self.of_bucket(bucket, host=host) as one:
            first = one.thumbnail(self.url("b"), 60)
            complaints = one.stop()
            assert not complaints, complaints
        values = [name for name in bucket.objects if name.startswith("alula-1/v/")]
        assert len(values) == 2, bucket.objects.keys()
        before = self.hits("b")
        with self.of_bucket(bucket, host=host) as other:
            assert other.thumbnail(self.url("b"), 60)[0].endswith("alula-store;hit") and self.hits("b") == before
            asked = len(bucket.requests)
            assert other.thumbnail(self.url("b"), 60)[1:] == first[1:]
            assert len(bucket.requests) == asked, "a hit asked the bucket"
            assert other.purge(self.url("b")) == 200
            other.stop()
        with self.of_bucket(bucket, host=host) as third:
            assert not third.is_hit(self.url("b"), 60)
            assert not any(SECRET_KEY in line for line in third.lines)
        assert not bucket.faults, bucket.faults[:3]
        bucket.stop()
        return f"{len(bucket.requests)} requests"

    def a_bucket_by_host(self):
        return self.a_bucket(host="localhost")

    def a_slow_bucket(self):
        bucket = Bucket()
        with self.of_bucket(bucket, "--result-store-timeout", "200ms") as one:
            bucket.seconds = 3
            begun = time.monotonic()
            for width in range(30, 40):
                one.thumbnail(self.url("s"), width)
            waited = time.monotonic() - begun
            assert one.state == "suspended", one.state
            assert waited < 3, waited
            begun = time.monotonic()
            one.thumbnail(self.url("s"), 30)
            hit = time.monotonic() - begun
            assert hit < 0.1, hit
            bucket.seconds = 0
            one.reaches("up", 30)
        bucket.stop()
        return f"{waited:.2f} s for 10 renditions, of which 3 wait"

    def a_bucket_that_refuses(self):
        bucket = Bucket()
        with self.of_bucket(bucket) as one:
            bucket.status = {"PUT": 507}
            one.thumbnail(self.url("f"))
            one.settles()
            assert one.metric("alula_result_store_dropped_total") > 0 and one.state == "up"
            bucket.status = {"PUT": 503, "GET": 503}
            for width in range(30, 40):
                one.thumbnail(self.url("f2"), width)
            assert one.state in ("suspended", "down")
            assert one.purge(self.url("f")) == 200
            bucket.status = {}
            one.reaches("up", 10)
            assert eventually(lambda: [name for name in bucket.objects if "/g/" in name and "everything" not in name])
        bucket.stop()
        with self.of_bucket(bucket, up=False) as one:
            one.thumbnail(self.url("f3"))
            one.reaches("down")
            assert not any(SECRET_KEY in line for line in one.lines)

    def kills(self, count=20):
        """What a killed instance wrote is whole or not there, and what it left is removed."""
        with self.store() as path:
            expected = {}
            with self.of_folder(path, "--result-cache-capacity", "64KiB", "--result-cache-preferred", "32KiB") as one:
                for number in range(count):
                    expected[number] = one.thumbnail(self.url(f"c{number}"))[1:]
            for number in range(count):
                with self.of_folder(path) as one:
                    for width in range(20, 30):
                        one.thumbnail(self.url(f"c{number}"), width)
                    os.kill(one.process.pid, signal.SIGKILL)
            with self.of_folder(path) as last:
                for number in range(count):
                    assert last.thumbnail(self.url(f"c{number}"))[1:] == expected[number]
                rejected = last.metric('alula_result_store_requests_total{result="rejected"}')
                assert rejected == 0, rejected
                left = [file.name for file in (path / "alula-1" / "tmp").iterdir()]
                assert len(left) == 1 and left[0].endswith(".lock"), left


CHECKS = ["a_restart", "purges_of_a_fleet", "a_purge_by_tag", "a_purge_by_tag_in_a_bucket",
          "a_purge_by_tag_in_a_bucket_by_host", "damage", "a_key", "an_ephemeral_instance", "a_folder_that_is_lost",
          "other_settings", "a_bucket", "a_bucket_by_host", "a_slow_bucket", "a_bucket_that_refuses", "kills"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--alula", required=True)
    arguments.add_argument("--only", nargs="*", default=CHECKS)
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Images) as port:
        failures = run_checks(Trial(arguments.alula, folder, f"http://127.0.0.1:{port}"), arguments.only)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
