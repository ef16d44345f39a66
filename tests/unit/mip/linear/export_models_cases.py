"""What an exported model says of itself."""

import json
from pathlib import Path


def described(written):
    return json.loads(Path(written["description"]).read_text(encoding="utf-8"))
