"""The sizes that the service promises, worked out a second time with exact fractions."""
from fractions import Fraction
from math import floor


def rounded(value):
    """Half up, never below 1."""
    return max(1, floor(value + Fraction(1, 2)))


def box(job, source):
    """The box in pixels."""
    width, height = source
    dpr = Fraction(job.dpr)
    if job.w and job.h:
        return rounded(job.w * dpr), rounded(job.h * dpr)
    if job.w:
        side = rounded(job.w * dpr)
        return side, rounded(Fraction(side * height, width))
    if job.h:
        side = rounded(job.h * dpr)
        return rounded(Fraction(side * width, height)), side
    return rounded(width * dpr), rounded(height * dpr)


def scaled(source, box_size, choose, enlarge):
    factor = choose(Fraction(box_size[0], source[0]), Fraction(box_size[1], source[1]))
    if not enlarge:
        factor = min(factor, Fraction(1))
    return rounded(source[0] * factor), rounded(source[1] * factor)


def inner(job, source):
    """The size of the image inside a `contain` box."""
    return scaled(source, box(job, source), min, job.enlarge)


def expected(job, source):
    """The thumbnail's size for a source of this upright size."""
    width, height = box(job, source)
    if job.fit == "inside":
        return one_sided(job, source) or scaled(source, (width, height), min, job.enlarge)
    if job.fit == "outside":
        return one_sided(job, source) or scaled(source, (width, height), max, job.enlarge)
    if job.fit == "contain":
        return width, height
    if job.enlarge:
        return width, height
    if job.fit == "fill":
        return min(width, source[0]), min(height, source[1])
    shrink = min(Fraction(1), Fraction(source[0], width), Fraction(source[1], height))
    return rounded(width * shrink), rounded(height * shrink)


def one_sided(job, source):
    """With one side given that side alone decides; the box's other side is rounded already."""
    if bool(job.w) == bool(job.h):
        return None
    side = box(job, source)[0 if job.w else 1]
    factor = Fraction(side, source[0 if job.w else 1])
    if not job.enlarge:
        factor = min(factor, Fraction(1))
    return rounded(source[0] * factor), rounded(source[1] * factor)
