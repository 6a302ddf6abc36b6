"""`ssdl label` under test: a server that may be killed and started again, and its page."""

import gzip
import json
import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

from pages import ROOT, SIZES, Opened, executable

N_PIXELS = 64


def true_digits():
    """The labels of the bundled digits, which the demo hides."""
    bundled = ROOT / "crates" / "ssdl-data" / "data" / "digits.bin.gz"
    raw = gzip.decompress(bundled.read_bytes())
    return [str(raw[at + N_PIXELS]) for at in range(0, len(raw), N_PIXELS + 1)]


class Labelling:
    """A server in a folder of its own."""

    def __init__(self, folder, *arguments):
        self.folder = Path(folder)
        self.arguments = [str(word) for word in arguments]
        self.start()

    def start(self):
        """Starts the server, again where it was; returns when it listens."""
        program = executable("SSDL_PROGRAM", ["ssdl"])
        command = [program, "--quiet", "--json", "label", "--no-browser", *self.arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=self.folder, **pipes)
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(self.process.stdout.readline())
            assert lines[-1], self.process.stderr.read()
        facts = json.loads("".join(lines))
        self.addresses = {one["person"]: one["address"] for one in facts["addresses"]}
        self.address = facts["addresses"][0]["address"]
        self.journal = self.folder / facts["journal"]
        self.labels = self.folder / facts["labels"]

    def kill(self):
        """Ends it at once, in the middle of whatever it does."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def stop(self):
        """Ends it as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()

    def entries(self, act="answer"):
        """Whole lines of the journal."""
        lines = self.journal.read_text(encoding="utf-8").splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [entry for entry in found if entry["act"] == act and entry["person"] != "given"]

    def answered(self):
        """Sample and label of all answers, in order."""
        all_answers = [answer for entry in self.entries() for answer in entry["answers"]]
        return [(answer["sample"], answer.get("label")) for answer in all_answers]

    def peak_memory(self):
        """The most memory that it has used, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024


class Page(Opened):
    """An open page for labelling."""

    def listen(self, address):
        own = address.split("/?")[0]
        super().listen(address)

        def on_request(request):
            if not request.url.startswith(own):
                self.outside.append(request.url)

        self.outside = []
        self.page.on("request", on_request)

    def ready(self):
        """Waits until a sample is shown and everything is saved."""
        self.page.wait_for_selector("#sample img, #sample table")
        self.saved()

    def saved(self, words="Saved"):
        self.page.wait_for_function(
            "(words) => document.getElementById('saved').textContent === words", arg=words
        )

    def sample(self):
        """The number of the sample that is shown, once there is one."""
        self.page.wait_for_function("() => document.getElementById('name').textContent")
        return int(self.page.inner_text("#name").split()[1])

    def count(self):
        return int(self.page.inner_text("#labelled"))

    def counted(self, count):
        self.page.wait_for_function(
            "(count) => document.getElementById('labelled').textContent === String(count)",
            arg=count,
        )

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)


@contextmanager
def labelling_page(launched, address, width=1280, scheme="light"):
    """Opens the page of a person."""
    context = launched.new_context(
        viewport={"width": width, "height": SIZES[width]},
        color_scheme=scheme,
        reduced_motion="reduce",
        has_touch=width < 600,
    )
    try:
        sheet = Page(context.new_page(), width, scheme)
        sheet.page.set_default_timeout(30000)
        sheet.listen(address)
        sheet.page.goto(address)
        sheet.ready()
        yield sheet
    finally:
        context.close()
