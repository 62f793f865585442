"""Instances over a folder and over strict buckets where results stay: hits, purges, restarts, a store that is full, away, slow or lies;
results that are put where requests want them, and keys that are lent."""
import argparse
import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from alula_tests.instances import Images, SharingInstance, eventually, run_checks
from alula_tests.origins import serving
from alula_tests.store.bucket import ACCESS_KEY, REGION, SECRET_KEY, Bucket, KeyService
from alula_tests.store.cloud import Cloud

KEY = "07" * 32


class Instance(SharingInstance):
    """An instance whose results stay."""
    layer, member, prefix = "alula-store", "resultStore", "alula_result_store"


def post(port, target, value, key=None):
    """Posts JSON, signed with a key if there is one; gives status and JSON."""
    body, fields = json.dumps(value).encode(), {"Content-Type": "application/json", "Accept": "application/json"}
    if key:
        text = "\n".join(["POST", target, hashlib.sha256(body).hexdigest()]).encode()
        code = hmac.digest(bytes.fromhex(key), text, "sha256")
        fields["Alula-Signature"] = base64.urlsafe_b64encode(code).decode().rstrip("=")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", target, body, fields)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@contextlib.contextmanager
def environment(**variables):
    """Sets variables of the environment meanwhile."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


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

    def of_bucket(self, bucket, *settings, host=None, s3=None, up=True):
        os.environ["STORE_ID"], os.environ["STORE_SECRET"] = ACCESS_KEY, SECRET_KEY
        place = f"http://{host}:{bucket.port}/" if host else f"http://127.0.0.1:{bucket.port}/kept/"
        s3 = s3 or {"region": REGION, "accessKey": {"env": "STORE_ID"}, "secretKey": {"env": "STORE_SECRET"}}
        return self.instance({"url": place, "credentials": {"s3": s3}}, *settings, up=up)

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
            files = sorted(self.values(path))
            contents = [file.read_bytes() for file in files]
            for place, (file, content) in enumerate(zip(files, contents)):
                file.unlink()
                match place % 8:
                    case 0: file.write_bytes(content[:len(content) // 2])
                    case 1: file.write_bytes(b"")
                    case 2: file.write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
                    case 3: file.write_bytes(b"x" * 1000)
                    case 4: file.write_bytes(contents[place - 1])
                    case 5: file.symlink_to(files[place - 5])
                    case 6: os.mkfifo(file)
                    case 7: file.mkdir()
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

    def a_full_folder(self):
        """A file system without room: writes are dropped, nothing half stays, and what is there is found."""
        if os.geteuid() != 0:
            return "skipped, because only root may mount"
        with self.store() as path:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=192k,nr_inodes=4k", "alula-full", str(path)], check=True)
            try:
                with self.of_folder(path) as one:
                    first = one.thumbnail(self.url("z"))
                    one.settles()
                    begun = time.monotonic()
                    expected = {width: one.thumbnail(self.url("z"), width)[1:] for width in range(40, 80)}
                    one.settles()
                    dropped, seconds = one.metric("alula_result_store_dropped_total"), time.monotonic() - begun
                    assert dropped > 0 and one.state == "full", (dropped, one.state)
                    assert [file.suffix for file in (path / "alula-1" / "tmp").iterdir()] == [".lock"]
                    for file in self.values(path):
                        file.unlink()
                    # One write is tried every ten seconds.
                    time.sleep(10)
                    one.thumbnail(self.url("z1"))
                    one.settles()
                    tried = len(self.values(path))
                    assert one.state == "up" and tried > 0, (one.state, tried)
                    one.thumbnail(self.url("z2"))
                    one.settles()
                    assert len(self.values(path)) == tried + 2, self.values(path)
                with self.of_folder(path) as other:
                    assert other.is_hit(self.url("z2")) and other.thumbnail(self.url("z"))[1:] == first[1:]
                    assert {width: other.thumbnail(self.url("z"), width)[1:] for width in expected} == expected
            finally:
                subprocess.run(["umount", "--lazy", str(path)])
        return f"{dropped:.0f} of 40 writes dropped, {seconds:.2f} s"

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
            bucket.status = {"PUT": 403}
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

    def lent_keys(self, life=4):
        """Keys of a few seconds: each request is signed with one that has not ended, and few are asked for."""
        bucket = Bucket()
        service = KeyService(bucket, life)
        token = self.folder / "token"
        token.write_text(service.token + "\n")
        s3 = {"region": REGION, "from": "container"}
        with environment(AWS_CONTAINER_CREDENTIALS_FULL_URI=service.url,
                         AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=str(token)), self.of_bucket(bucket, s3=s3) as one:
            end = time.monotonic() + 3 * life
            count = 0
            while time.monotonic() < end:
                one.thumbnail(self.url(f"t{count}"))
                count += 1
                time.sleep(0.05)
            service.token = "another"
            token.write_text("another")
            lent = len(service.lent)
            assert eventually(lambda: one.thumbnail(self.url(f"t{time.monotonic()}")) and len(service.lent) > lent, 3 * life)
            one.settles()
            assert one.state == "up" and one.metric("alula_result_store_dropped_total") == 0
            assert not any(word in line for line in one.lines for word in ("secret/", "session+", "another"))
        assert not bucket.faults, bucket.faults[:3]
        assert len(service.lent) <= 3 * 2 + 4, len(service.lent)
        assert all(later - earlier >= 1 for earlier, later in zip(service.lent, service.lent[1:])), service.lent
        bucket.stop()
        service.stop()
        return f"{len(service.lent)} keys for {len(bucket.requests)} requests"

    def destinations(self):
        """Results that are put where requests, jobs and a batch want them, in a folder and in a bucket."""
        bucket = Bucket()
        with self.store() as path, self.of_folder(path, "--signing-keys", KEY) as one:
            hero = {"url": self.url("to"), "renditions": [{"name": "hero", "query": "w=20", "to": "kept:x/hero.png"}]}
            assert post(one.port, "/thumbnails", hero)[0] == 403
            status, answer = post(one.port, "/thumbnails", hero, KEY)
            part = answer["renditions"][0]
            body = (path / "x" / "hero.png").read_bytes()
            assert status == 200 and part["location"] == "kept:x/hero.png" and part["bytes"] == len(body), answer
            assert "data" not in part and body.startswith(b"\x89PNG")
            for to, code in [("kept:../out", "bad_body"), ("kept:alula-1/v/x", "bad_body"), ("none:a", "origin_not_writable")]:
                hero["renditions"][0]["to"] = to
                status, problem = post(one.port, "/thumbnails", hero, KEY)
                problem = problem["renditions"][0]["problem"]
                assert status in (400, 403) and problem["code"] == code, problem
            assert not (path.parent / "out").exists()
        with self.of_bucket(bucket, "--signing-keys", KEY) as one:
            status, job = post(one.admin_port, "/prefetch", {"sources": [{"url": self.url("to"), "renditions": [
                {"query": "w=30&format=webp", "to": "kept:jobs/a b.webp"}, "w=10", {"query": "w=40", "to": "kept:jobs/c"}]}]})
            assert status == 202, job
            ask = lambda: json.loads(one.ask("GET", f"/prefetch/{job['id']}", operators=True)[2])
            assert eventually(lambda: ask()["left"] == 0)
            report = ask()
            assert report["done"] == 3 and [entry["location"] for entry in report["results"]] == ["kept:jobs/a%20b.webp", "kept:jobs/c"]
            name = "jobs/a%20b.webp"
            assert report["results"][0]["bytes"] == len(bucket.objects[name]) and bucket.objects[name][8:12] == b"WEBP"
            assert bucket.fields[name]["Content-Type"] == "image/webp", bucket.fields[name]
            assert bucket.fields[name]["Cache-Control"] == "public, max-age=86400", bucket.fields[name]
        listed = self.folder / "list.txt"
        listed.write_text("\n".join([self.url("one.png"), self.url("two.png"), self.url("one.png")]))
        batch = [self.alula, "batch", str(listed), "--config", str(self.folder / "settings.json"), "--allowed-networks", "127.0.0.0/8",
                 "--w", "25", "--format", "webp", "-o", "kept:batch/", "--json"]
        made = subprocess.run(batch, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        names = [name for name in bucket.objects if name.startswith("batch/")]
        assert sorted(names) == ["batch/one-2.webp", "batch/one.webp", "batch/two.webp"], names
        again = subprocess.run(batch, capture_output=True, text=True)
        assert again.returncode == 0 and again.stdout.count('"status":"skipped"') == 3, again.stdout
        assert subprocess.run([*batch, "--force"], capture_output=True).returncode == 0
        assert subprocess.run([*batch, "--resume"], capture_output=True).returncode == 2
        assert not bucket.faults, bucket.faults[:3]
        bucket.stop()

    def moto(self):
        """The same with moto's S3 and STS, which check signatures, tokens and policies by botocore's own code."""
        with Cloud(REGION) as cloud:
            self.in_cloud(cloud)

    def in_cloud(self, cloud):
        token = self.folder / "web-token"
        token.write_text("eyJhbGciOiJSUzI1NiJ9.e30.c2ln")
        s3 = {"region": REGION, "from": "web-identity"}
        with environment(AWS_ROLE_ARN=cloud.role, AWS_WEB_IDENTITY_TOKEN_FILE=str(token), AWS_ENDPOINT_URL_STS=cloud.url):
            cloud.demand_signatures(after=1)
            with self.of_bucket(cloud, s3=s3) as one:
                one.thumbnail(self.url("m"))
                job = {"url": self.url("m"), "renditions": [{"query": "w=20&format=webp", "to": "kept:to/m+ü (1).webp"}]}
                status, answer = post(one.admin_port, "/prefetch", {"sources": [job]})
                assert status == 202, answer
                report = lambda: json.loads(one.ask("GET", f"/prefetch/{answer['id']}", operators=True)[2])
                assert eventually(lambda: report()["left"] == 0) and report()["done"] == 1, report()
                one.settles()
        with environment(MOTO_ID=cloud.id, MOTO_SECRET=cloud.secret, MOTO_WRONG="wrong"):
            keys = {"region": REGION, "accessKey": {"env": "MOTO_ID"}, "secretKey": {"env": "MOTO_SECRET"}}
            with self.of_bucket(cloud, s3=keys) as other:
                assert other.is_hit(self.url("m")) and self.hits("m") == 1
            with self.of_bucket(cloud, s3={**keys, "secretKey": {"env": "MOTO_WRONG"}}, up=False) as wrong:
                wrong.thumbnail(self.url("m2"))
                assert wrong.state in ("down", "suspended"), wrong.state
        cloud.demand_signatures(after=1_000)
        assert cloud.fields("to/m+ü (1).webp") == ("image/webp", "public, max-age=86400"), cloud.fields("to/m+ü (1).webp")


CHECKS = ["a_restart", "purges_of_a_fleet", "a_purge_by_tag", "a_purge_by_tag_in_a_bucket",
          "a_purge_by_tag_in_a_bucket_by_host", "damage", "a_key", "an_ephemeral_instance", "a_folder_that_is_lost",
          "a_full_folder", "other_settings", "a_bucket", "a_bucket_by_host", "a_slow_bucket", "a_bucket_that_refuses", "lent_keys",
          "destinations", "moto"]


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
