"""The encoding of a text table: found by its first bytes and by what its bytes can mean."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from pathlib import Path

from milp_trees.common.errors import DataError

#: Marks at the beginning of a file; the longer one of two that begin alike comes first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Words with a letter beyond ASCII.
_WORD = re.compile(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*")
#: How many bytes are looked at to find out an encoding.
_SAMPLE = 1 << 20


def as_utf8(raw: bytes, file: Path, encoding: str | None = None) -> tuple[bytes, str]:
    """The text of a file as UTF-8 whose lines end with LF, and the encoding that the file has.

    A mark at its beginning or zero bytes tell UTF-16 and UTF-32, and what is valid UTF-8 is UTF-8.
    Anything else is taken as cp1252, which Latin-1 is a part of, if most letters of its words are
    ASCII, as in Western languages.
    """
    try:
        data = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{file} is a damaged gzip file; fetch it again.") from None
    name = encoding or _wide(data) or "utf-8"
    if codecs.lookup(name).name in ("utf-8", "utf-8-sig", "ascii"):
        data = data.removeprefix(codecs.BOM_UTF8)
        if not data.isascii() and not _is_utf8(data):
            if encoding is not None:
                raise _not_text(file, encoding)
            data, name = _western(data, file)
    else:
        try:
            data = data.decode(name).removeprefix("\ufeff").encode("utf-8")
        except (UnicodeError, LookupError):
            raise _not_text(file, name) from None
    if b"\0" in data:
        raise DataError(
            f"{file} holds zero bytes, which no text has; name its encoding with --encoding if it is a table."
        )
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data, name


def _wide(data: bytes) -> str | None:
    """UTF-32 or UTF-16, told by a mark, or by zero bytes in half of all places."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is not None:
        return marked
    sample = data[:_SAMPLE]
    for name, zeros, others in (
        ("utf-16-le", sample[1::2], sample[::2]),
        ("utf-16-be", sample[::2], sample[1::2]),
    ):
        if zeros and zeros.count(0) > len(zeros) / 2 and not others.count(0):
            return name
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        for _ in codecs.iterdecode(
            (data[i : i + _SAMPLE] for i in range(0, len(data), _SAMPLE)), "utf-8"
        ):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _western(data: bytes, file: Path) -> tuple[bytes, str]:
    """Text in cp1252; another encoding is not guessed, because names would be spelled wrong."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise _not_text(file, "utf-8") from None
    letters = "".join(_WORD.findall(text[:_SAMPLE]))
    if sum(not sign.isascii() for sign in letters) > len(letters) / 2:
        raise _not_text(file, "utf-8")
    return text.encode("utf-8"), "cp1252"


def _not_text(file: Path, name: str) -> DataError:
    return DataError(
        f"{file} is not {name.upper()} text; name its encoding with --encoding, for example cp1252, cp1251 or utf-16."
    )
