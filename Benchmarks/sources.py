"""The sources for both lanes: one photograph at 0.5, 1 and 2.2 times its size, baseline and progressive."""
import os
import shutil
import subprocess


def make(lanes, photo, folder):
    """Writes the sources into `folder`; their paths, by size, baseline before progressive."""
    width = width_of(photo)
    paths = []
    for side in (width // 2, width, width * 22 // 10):
        path = f"{folder}/{side}.jpg"
        if side == width:
            shutil.copy(photo, path)
        else:
            subprocess.run(
                [lanes, "--lane", "vips", "--enlarge", "--quality", "86", "--rounds", "0", "--write", folder, str(side), photo],
                check=True, stdout=subprocess.DEVNULL)
            os.rename(f"{folder}/{os.path.basename(photo)}-{side}-vips.jpg", path)
        paths.append(path)
    for path in paths[1:]:
        scans = path.replace(".jpg", "-progressive.jpg")
        with open(scans, "wb") as file:
            subprocess.run(["jpegtran", "-progressive", path], check=True, stdout=file)
        paths.append(scans)
    return paths


def width_of(photo):
    """Width as stored, in pixels."""
    head = subprocess.run(["djpeg", "-fast", "-ppm", photo], check=True, capture_output=True).stdout[:40]
    return int(head.split()[1])
