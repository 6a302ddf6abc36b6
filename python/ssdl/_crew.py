"""Parts that workers of Dask carry: every step is a round of plain tasks."""

from __future__ import annotations

import json
import os
from typing import Any, TypeAlias
from uuid import uuid4

from . import _parts

# Of Dask, whose functions have no types, and which need not be installed.
Client: TypeAlias = Any
Future: TypeAlias = Any


class DaskCrew:
    """What the library calls where the samples are: all parts take a step, their replies come back.

    The state of a part is a future. A task makes the next state of the one before, so that Dask can
    make it again wherever a worker was lost.
    """

    def __init__(
        self,
        client: Client,
        parts: list[Future],
        needs: list[list[bool]],
        counts: tuple[int, int],
        threads: int,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.n_parts = len(parts)
        self.counts = counts
        self.client = client
        self.parts = parts
        # needs[to][of]: whether a part needs codes of another.
        self.needs = needs
        self.threads = threads
        self.checkpoint = checkpoint
        self.states: list[Any] = [(b"", b"")] * self.n_parts

    def step(self, message: bytes, exchanges: bool, changes: bool) -> list[bytes]:
        """Every part takes a step; the replies in the order of the parts."""
        shared = submit(self.client, _parts.same, message, name="message")
        task = _parts.take if changes else _parts.ask
        after = [
            submit(
                self.client,
                task,
                part,
                state,
                shared,
                self.incoming(at) if exchanges else [],
                self.threads,
                name="step" if changes else "sums",
            )
            for at, (part, state) in enumerate(zip(self.parts, self.states, strict=True))
        ]
        if not changes:
            return list(self.client.gather(after))
        replies = [submit(self.client, _parts.item, pair, 1, name="reply") for pair in after]
        got = list(self.client.gather(replies))
        self.states = after
        return got

    def incoming(self, to: int) -> list[Future]:
        """The codes that a part needs of each of the others, in their order."""
        return [
            submit(self.client, _parts.outgoing, self.parts[at], self.states[at], to, name="halo")
            for at in range(self.n_parts)
            if self.needs[to][at]
        ]

    def keep(self, iteration: int, progress: bytes) -> None:
        """Write a checkpoint every few iterations; what led to it need not be made again."""
        if self.checkpoint is not None and iteration % self.checkpoint.every == 0:
            self.states = self.checkpoint.write(self.client, self.states, iteration, progress)

    def earlier(self) -> tuple[int, bytes] | None:
        """Where an earlier fit of the same parts ended."""
        found = None if self.checkpoint is None else self.checkpoint.read(self.client)
        if found is None:
            return None
        iteration, progress, self.states = found
        return iteration, progress


class Checkpoint:
    """A folder that driver and workers share, with the states of all parts after an iteration."""

    def __init__(self, folder: str, every: int, fingerprint: str, n_parts: int) -> None:
        self.folder = os.path.abspath(folder)
        self.every = every
        self.fingerprint = fingerprint
        self.n_parts = n_parts

    def path(self, iteration: int, at: int) -> str:
        return os.path.join(self.folder, f"part-{at}-{iteration}.state")

    def write(
        self, client: Client, states: list[Any], iteration: int, progress: bytes
    ) -> list[Any]:
        """States first, then the file that names them; so there is always a whole checkpoint."""
        os.makedirs(self.folder, exist_ok=True)
        before = self.latest()
        paths = [self.path(iteration, at) for at in range(self.n_parts)]
        written = [
            submit(client, _parts.write_state, state, path, name="checkpoint")
            for state, path in zip(states, paths, strict=True)
        ]
        client.gather(written)
        facts = {
            "fingerprint": self.fingerprint,
            "iteration": iteration,
            "progress": progress.hex(),
        }
        partial = os.path.join(self.folder, "progress.partial")
        with open(partial, "w", encoding="utf-8") as file:
            json.dump(facts, file)
        os.replace(partial, os.path.join(self.folder, "progress.json"))
        if before is not None and before["iteration"] != iteration:
            for at in range(self.n_parts):
                old = self.path(before["iteration"], at)
                if os.path.exists(old):
                    os.remove(old)
        # A new beginning: what came before need not be remembered.
        return [submit(client, _parts.read_state, path, name="state") for path in paths]

    def latest(self) -> dict[str, Any] | None:
        """The facts of the last checkpoint, if it is of this fit."""
        try:
            with open(os.path.join(self.folder, "progress.json"), encoding="utf-8") as file:
                facts: dict[str, Any] = json.load(file)
        except (OSError, ValueError):
            return None
        return facts if facts.get("fingerprint") == self.fingerprint else None

    def read(self, client: Client) -> tuple[int, bytes, list[Any]] | None:
        facts = self.latest()
        if facts is None:
            return None
        iteration = int(facts["iteration"])
        paths = [self.path(iteration, at) for at in range(self.n_parts)]
        if not all(os.path.exists(path) for path in paths):
            return None
        states = [submit(client, _parts.read_state, path, name="state") for path in paths]
        return iteration, bytes.fromhex(facts["progress"]), states

    def clear(self) -> None:
        """Remove what a finished fit no longer needs."""
        facts = self.latest()
        if facts is None:
            return
        os.remove(os.path.join(self.folder, "progress.json"))
        for at in range(self.n_parts):
            path = self.path(int(facts["iteration"]), at)
            if os.path.exists(path):
                os.remove(path)


def submit(client: Client, task: Any, *arguments: Any, name: str) -> Future:
    """A task under a name of its own: none is taken for another."""
    return client.submit(task, *arguments, key=f"ssdl-{name}-{uuid4().hex}", pure=False)
