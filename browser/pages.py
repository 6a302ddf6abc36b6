"""The report pages under test: how they are made, and how they are opened in a browser."""

import csv
import functools
import os
import random
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SIZES = {1280: 900, 390: 844}
SCHEMES = ["light", "dark"]
# Only the page may make requests, so the browser's own ones are disabled.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Names that would have an effect if a page treated them as markup.
HOSTILE = [
    "<script>window.__hit=1;alert(1)</script>",
    '"><img src=x onerror=window.__hit=1>',
    "'onmouseover=window.__hit=1 </script><svg onload=window.__hit=1>",
    "</title></style><!-- & &lt; ${window.__hit=1}",
]
# These differ only at the end, and a cut inside a surrogate pair would show.
LONG = ["long " + "x" * 494 + "1", "😀" * 250]
# File names cannot hold a slash.
HOSTILE_FILES = ['"><img src=x onerror=window.__hit=1>', "&lt;b&gt; <b onclick=alert(1)>"]

WINE = ["alcohol", "malic acid", "ash", "alkalinity", "magnesium", "phenols", "flavonoids", "hue"]


def executable(variable, names):
    """The path of a program, by environment variable or else by name; an error names both."""
    given = os.environ.get(variable)
    found = [given] if given else [path for path in map(shutil.which, names) if path]
    if not found:
        raise RuntimeError(f"none of {', '.join(names)} is installed; name one with {variable}")
    return str(Path(found[0]).absolute())


@contextmanager
def browser():
    """A browser without a window."""
    path = executable("CHROMIUM", ["chromium", "chromium-browser", "google-chrome"])
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield launched
        finally:
            launched.close()


@dataclass
class Opened:
    """An open page, and what it did that a page should not do."""

    page: Page
    width: int
    scheme: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def listen(self, address):
        """Records messages and requests of the page; must be called before it is loaded."""

        def on_message(message):
            if message.type in ("error", "warning"):
                self.complaints.append(message.text)

        def on_request(request):
            if request.url.split("#")[0] != address and not request.url.startswith("data:"):
                self.requests.append(request.url)

        def on_dialog(dialog):
            self.dialogs.append(dialog.message)
            dialog.dismiss()

        self.page.on("console", on_message)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", on_request)
        self.page.on("dialog", on_dialog)


@contextmanager
def opened(launched, path, width=1280, scheme="light", anchor="", script=True):
    """Opens a file at a width and in a colour scheme; without animations, so nothing is awaited."""
    context = launched.new_context(
        viewport={"width": width, "height": SIZES[width]},
        color_scheme=scheme,
        reduced_motion="reduce",
        java_script_enabled=script,
        has_touch=width < 600,
    )
    try:
        sheet = Opened(context.new_page(), width, scheme)
        sheet.page.set_default_timeout(5000)
        address = Path(path).as_uri()
        sheet.listen(address)
        sheet.page.goto(address + anchor)
        yield sheet
    finally:
        context.close()


class Bench:
    """A folder in which the program runs; each page is made when it is first needed."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.program = executable("SSDL_PROGRAM", ["ssdl"])
        self.path = functools.cache(self.made)

    def made(self, kind):
        """The page of this kind."""
        page = self.folder / f"{kind}.html"
        MAKERS[kind](self, page.name)
        return page

    def run(self, *arguments):
        """Runs the program; a failure shows its error output."""
        command = [self.program, "--quiet", *map(str, arguments)]
        ran = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, f"{command}: {ran.stderr}"

    def table(self, name, header, rows):
        """Writes a table of samples."""
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        return name

    def model(self, kind, name):
        """The model file that another page leaves behind."""
        self.path(kind)
        return name


def samples(centres, count, labels_of, seed=0, spread=1.0):
    """Rows around the centres of their classes: features, then the label, which only the first
    rows of each class have."""
    draw = random.Random(seed)
    rows = []
    for at in range(count):
        label = list(centres)[at % len(centres)]
        known = at // len(centres) < labels_of(label)
        values = [f"{draw.gauss(middle, spread):.3f}" for middle in centres[label]]
        rows.append([*values, label if known else ""])
    return rows


def centres(names, n_features, seed=1):
    """A centre for each class, near enough to the others for some mistakes."""
    draw = random.Random(seed)
    return {name: [draw.gauss(0, 1.1) for _ in range(n_features)] for name in names}


def wine(bench, name, count, labels):
    """A table of three classes, with named features."""
    of_kinds = centres(["barolo", "grignolino", "barbera"], len(WINE))
    rows = samples(of_kinds, count, lambda _: labels, seed=count, spread=1.6)
    return bench.table(name, [*WINE, "kind"], rows)


def demo(bench, page):
    bench.run("demo")
    shutil.move(bench.folder / "digits-report.html", bench.folder / page)


def fit(bench, page, data, model, *more):
    bench.run("fit", data, "--label-column", "kind", "--model", model, "--report", page, *more)


def of_table(bench, page):
    fit(bench, page, wine(bench, "wine-like.csv", 150, 8), "wine.ssdl")


def of_svm(bench, page):
    """No atoms, iterations or neighbours, but weights of features."""
    fit(bench, page, wine(bench, "svm.csv", 90, 8), "svm.ssdl", "--method", "linear-svm")


def judged(bench, page):
    model = bench.model("demo", "digits.ssdl")
    bench.run("predict", model, "digits-test.csv", "--label-column", "label", "--report", page)


def unjudged(bench, page):
    model = bench.model("table", "wine.ssdl")
    rows = samples(centres(["a", "b", "c"], len(WINE)), 60, lambda _: 0, seed=5)
    data = bench.table("unjudged.csv", WINE, [row[:-1] for row in rows])
    bench.run("predict", model, data, "--out", "unjudged-labels.csv", "--report", page)


def inspected(bench, page):
    bench.run("inspect", bench.model("demo", "digits.ssdl"), "--report", page)


def bare(bench, page):
    """A method whose file holds no training samples."""
    bench.path("demo")
    data = ["digits-train.csv", "--label-column", "label", "--image", "8x8"]
    bench.run("fit", *data, "--method", "ussdl", "--set", "n_atoms=40", "--model", "bare.ssdl")
    bench.run("inspect", "bare.ssdl", "--report", page)


def curve(bench, page):
    """From a copy of the repository's rows, so that nothing is written there."""
    shutil.copy(ROOT / "results" / "unlabelled-curve.csv", bench.folder)
    rows = ["--out", "unlabelled-curve.csv"]
    bench.run("experiment", "unlabelled-curve", "--tables", *rows, "--report", page)


def index(bench, page):
    """The index of all plans, with their pages beside it, from the repository's rows."""
    assert page == "index.html"
    bench.run("experiment", "all", "--tables", "--out", ROOT / "results", "--report", ".")


PLAN = """
kind = "comparison"
title = '{hostile}'

[[data]]
name = '{hostile}'
files = ["plan.csv"]
label_column = "kind"

[[split]]
name = "few"
labelled = 3
unlabelled = 10
test = 12
seeds = [0, 1]

[[run]]
name = '{hostile}'
method = "linear-svm"

[[run]]
name = "ours"
method = "ssdl-ga"
prepare = ["scale=5"]
knobs = {{ n_atoms = 12, max_iterations = 4, n_neighbors = 3 }}
"""


def planned(bench, page):
    """Tables of a few fits, and one of the models in detail."""
    wine(bench, "plan.csv", 90, 30)
    (bench.folder / "plan.toml").write_text(PLAN.format(hostile=HOSTILE[1]), encoding="utf-8")
    bench.run("experiment", "plan.toml", "--data", ".", "--report", page)


def hostile(bench, page):
    """Names of classes and features that look like markup, or are too long."""
    names = HOSTILE + LONG
    header = [*HOSTILE, LONG[0], "plain"]
    rows = samples(centres(names, len(header), 3), 120, lambda _: 6, spread=1.3)
    fit(bench, page, bench.table("hostile.csv", [*header, "kind"], rows), "hostile.ssdl")


def files(bench, page):
    """A folder of images; classes and samples are named after folders and files."""
    draw = random.Random(4)
    for at, kind in enumerate([*HOSTILE_FILES, "unlabelled"]):
        folder = bench.folder / "images" / kind
        folder.mkdir(parents=True)
        for number in range(10):
            greys = bytes(60 * at + draw.randrange(100) for _ in range(12 * 16))
            image = Image.frombytes("L", (12, 16), greys)
            image.save(folder / f"{HOSTILE_FILES[number % 2]}{number}.png")
    bench.run("fit", "images", "--image", "16x12", "--model", "images.ssdl", "--report", page)


def rare(bench, page):
    """A class that lies inside another, so that it is never predicted."""
    of_kinds = {"common": [0.0] * 4, "apart": [9.0] * 4, "rare": [0.0] * 4}
    many = samples({name: of_kinds[name] for name in ["common", "apart"]}, 80, lambda _: 30)
    few = samples({"rare": of_kinds["rare"]}, 2, lambda _: 2, seed=9, spread=0.1)
    data = bench.table("rare.csv", ["one", "two", "three", "four", "kind"], many + few)
    # With measured votes it would be predicted.
    knobs = ["n_atoms=20", "voting=paper", "ridge=1"]
    options = [word for knob in knobs for word in ("--set", knob)]
    fit(bench, page, data, "rare.ssdl", *options, "--prepare", "scale=5")


def many(bench, page):
    """More classes than a table has room for."""
    names = [f"species {at}" for at in range(45)]
    rows = samples(centres(names, 6, 7), 45 * 5, lambda _: 4, spread=0.6)
    header = [f"length {at}" for at in range(6)]
    fit(bench, page, bench.table("many.csv", [*header, "kind"], rows), "many.ssdl")


MAKERS = {
    "demo": demo,
    "table": of_table,
    "svm": of_svm,
    "judged": judged,
    "unjudged": unjudged,
    "inspected": inspected,
    "bare": bare,
    "curve": curve,
    "index": index,
    "planned": planned,
    "hostile": hostile,
    "files": files,
    "rare": rare,
    "many": many,
}
KINDS = list(MAKERS)
# Pages that show one model in detail.
WITH_LOOK = [kind for kind in KINDS if kind not in ("curve", "index")]
