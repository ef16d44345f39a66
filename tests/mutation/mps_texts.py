"""Models in MPS, right ones and wrong ones, that a checker reads."""

HEAD = "NAME X\nROWS\n N obj\n L a\n G b\n"
MPS = [
    HEAD + "COLUMNS\n x obj 1 a 2\n x b -1\n M 'MARKER' 'INTORG'\n y a 1\nRHS\n r a 3\nENDATA\n",
    "* a comment\n" + HEAD + "COLUMNS\n x a 0\n y b 1.5\nENDATA\n",
    HEAD + "COLUMNS\n x c 1\nENDATA\n",
    HEAD + " L a\nCOLUMNS\n x a 1\nENDATA\n",
    HEAD + "COLUMNS\n x a 1\n",
    HEAD + "COLUMNS\n x a 1\n x a 2\nENDATA\n",
    HEAD + "COLUMNS\n x a\nENDATA\n",
]
