"""Colours of lines can be told apart, also by colour-blind readers, on light and on dark paper."""

import itertools
import re
from importlib.resources import files

import numpy as np
from row_tests import each_row

CSS = (files("milp_trees.exports.pages") / "assets" / "plots.css").read_text("utf-8")
#: How colours look without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1).
SEEN = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
#: From linear sRGB to CIE XYZ, relative to white.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour):
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def palettes():
    return {
        tuple(colour for _, colour in sorted(re.findall(r"--series-(\d): (#\w{6})", block)))
        for block in re.findall(r"\{([^{}]*--series-0[^{}]*)\}", CSS)
    }


def test_there_is_a_palette_for_light_and_one_for_dark_paper():
    assert len(palettes()) == 2
    assert all(len(colours) == 7 for colours in palettes())


@each_row("reader", SEEN)
def test_any_two_colours_are_far_apart(reader):
    for colours in palettes():
        places = [lab(np.asarray(SEEN[reader]) @ linear(colour)) for colour in colours]
        apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(places, 2)]
        assert min(apart) > 12  # units of CIE Lab, of which 2 are just seen
