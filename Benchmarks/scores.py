"""SSIMULACRA2 of pixels."""
import ctypes
import os
import subprocess
import tempfile

import numpy
from ssimulacra2 import ssimulacra2


def library():
    """The scorer, compiled on this machine."""
    with tempfile.TemporaryDirectory(prefix="alula-scores-") as folder:
        source, made = f"{os.path.dirname(os.path.abspath(__file__))}/ssimulacra2.c", f"{folder}/scores.so"
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, "-o", made, source, "-lm"], check=True)
        scorer = ctypes.CDLL(made)
    pointer = ctypes.c_void_p
    scorer.ssimulacra2_image.restype, scorer.ssimulacra2_image.argtypes = pointer, [pointer, ctypes.c_int, ctypes.c_int]
    scorer.ssimulacra2_free.argtypes = [pointer]
    scorer.ssimulacra2_score.restype, scorer.ssimulacra2_score.argtypes = ctypes.c_double, [pointer] * 3
    return scorer


SCORER = library()


class Reference:
    """An image that others are compared with.

    Sides are mirrored to 256 pixels, so that there are six scales, of which SSIMULACRA2 is made: it gives the weights of missing ones to others.
    """

    def __init__(self, pixels):
        self.image = self._image(pixels)

    @staticmethod
    def _image(pixels):
        more = [(0, max(0, 256 - side)) for side in pixels.shape[:2]] + [(0, 0)]
        pixels = numpy.ascontiguousarray(numpy.pad(pixels, more, "symmetric"))
        return SCORER.ssimulacra2_image(pixels.ctypes.data, pixels.shape[1], pixels.shape[0])

    def score(self, pixels):
        image = self._image(pixels)
        try:
            return SCORER.ssimulacra2_score(self.image, image, ssimulacra2.weights.ctypes.data)
        finally:
            SCORER.ssimulacra2_free(image)

    def __del__(self):
        SCORER.ssimulacra2_free(self.image)
