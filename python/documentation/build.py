"""Build the documentation as a site: the pages of the repository and the reference of the package.

Usage: python python/documentation/build.py [FOLDER]

Needs `pip install ".[site]"`, but neither a compiler nor the compiled package: the reference is
read from the sources. The site lands in FOLDER, by default target/site, and is complete without a
server; the documentation of the Rust library is put beside it where `cargo doc` has made one. A
link that leads nowhere fails the build.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
# Files that pages link to, beside pages and pictures.
FILES = ["CITATION.cff", "crates/ssdl-data/data/README.md"]
MODULES = {
    "estimators": ("Estimators", "ssdl._methods"),
    "base": ("What all classifiers share", "ssdl._base.FewLabelClassifier"),
    "coding": ("Coding and dictionaries", "ssdl.coding"),
    "preparation": ("Preparation", "ssdl.preparation"),
    "model_selection": ("Folds and scores", "ssdl.model_selection"),
    "searches": ("Grid and random search", "ssdl._grids"),
    "halving": ("Search in rounds", "ssdl._halving"),
    "explanations": ("Explanations", "ssdl._explained.Explanation"),
    "files": ("Model files", "ssdl._files.load"),
    "folds": ("Folds", "ssdl._folds.FewLabelSplit"),
    "wrappers": ("Around other classifiers", "ssdl.wrappers"),
    "calibration": ("Calibration", "ssdl._calibration.HiddenCalibration"),
    "labelling": ("Labelling", "ssdl.labelling"),
    "graphs": ("Graphs", "ssdl.graphs"),
    "datasets": ("Data sets", "ssdl.datasets"),
    "plotting": ("Plots", "ssdl.plotting"),
    "progress": ("Progress", "ssdl.progress"),
    "dask": ("Clusters", "ssdl.dask"),
    "errors": ("Errors and warnings", "ssdl.errors"),
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def gather(folder):
    """Put everything that the site is made of into a folder, laid out as in the repository."""
    for name in [*PAGES, *FILES]:
        copy(ROOT / name, folder / name)
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix in (".md", ".png"):
            copy(path, folder / path.relative_to(ROOT))
    for path in folder.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(with_links(text, path.relative_to(folder), folder), encoding="utf-8")
    copy(HERE / "site.css", folder / "site.css")
    write_reference(folder / "api")


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def with_links(text, page, folder):
    """The page, with links to parts of the repository that are not part of the site as text."""

    def replaced(match):
        words, target = match[1], match[2]
        if target.startswith(("http:", "https:", "mailto:")):
            return match[0]
        there = (page.parent / target).as_posix()
        inside = (folder / there).resolve()
        if not inside.is_file() and (ROOT / there).exists():
            return words
        return match[0]

    return LINK.sub(replaced, COMMENT.sub("", text))


def write_reference(folder):
    """A page for each module, filled from its docstrings."""
    folder.mkdir()
    lines = ["# Reference", "", "Read from the sources of the Python package.", ""]
    for name, (title, place) in MODULES.items():
        lines.append(f"- [{title}]({name}.md)")
        text = f"# {title}\n\n::: {place}\n"
        if (ROOT / "python" / f"{place.replace('.', '/')}.py").exists():
            # The title stands for the module.
            text += (
                "    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n"
            )
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def build(work, target):
    """Build the site of the pages in `work` into a folder; what mkdocs says, if it fails."""
    text = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    text = text.replace("SOURCES", (ROOT / "python").as_posix()).replace("HERE", HERE.as_posix())
    (work / "mkdocs.yml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "mkdocs", "build", "--strict"]
    command += ["--config-file", work / "mkdocs.yml", "--site-dir", target.resolve()]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=work, env=quiet, capture_output=True, text=True)
    return done.stderr + done.stdout if done.returncode else ""


def main():
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "site"
    with tempfile.TemporaryDirectory() as place:
        gather(Path(place) / "pages")
        failure = build(Path(place), target)
    if failure:
        raise SystemExit(failure)
    rust = ROOT / "target" / "doc"
    if rust.is_dir():
        shutil.copytree(rust, target / "rust", dirs_exist_ok=True)
    print(target / "index.html")


if __name__ == "__main__":
    main()
