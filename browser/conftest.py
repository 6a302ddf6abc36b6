"""Shared fixtures: one browser, and the pages, each made once."""

import pytest

from pages import KINDS, SCHEMES, SIZES, Bench, browser, opened


def pytest_collection_modifyitems(items):
    """Tests that look at one page share a process: there it is made and opened once."""
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        kind = params.get("still") or params.get("sheet", [None])[0]
        if kind:
            item.add_marker(pytest.mark.xdist_group(kind))


@pytest.fixture(scope="session")
def launched():
    with browser() as one:
        yield one


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("pages"))


def views(kinds):
    """Every page at every width in every scheme."""
    return [(kind, width, scheme) for kind in kinds for width in SIZES for scheme in SCHEMES]


@pytest.fixture(scope="module", params=views(KINDS), ids=lambda view: "-".join(map(str, view)))
def sheet(request, launched, bench):
    """A page that tests only read, so that they can share it."""
    kind, width, scheme = request.param
    with opened(launched, bench.path(kind), width, scheme) as one:
        yield one


@pytest.fixture(scope="module", params=KINDS)
def still(request, launched, bench):
    """A page on a phone with everything unfolded, which tests only read."""
    with opened(launched, bench.path(request.param), 390) as one:
        one.page.evaluate(
            "document.querySelectorAll('details').forEach((part) => part.open = true)"
        )
        yield one


@pytest.fixture
def shown(launched, bench):
    """Opens a page for one test, which may change it."""
    contexts = []

    def show(kind, **how):
        contexts.append(opened(launched, bench.path(kind), **how))
        return contexts[-1].__enter__()

    yield show
    for context in contexts:
        context.__exit__(None, None, None)
