"""Runs docs/gallery.md and puts its pictures where the page shows them.

python python/documentation/gallery.py
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))

import pages  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        pages.Page("docs/gallery.md").run()
        for picture in sorted(Path(place).glob("gallery-*.png")):
            shutil.copyfile(picture, ROOT / "docs" / "images" / picture.name)
            print(picture.name)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
