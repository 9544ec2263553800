# SPDX-License-Identifier: Apache-2.0
"""The pytest plug-in: `pytest --plexor` runs gates of networks as tests, one case for each gate and class.

    # test_network.py
    import plexor as px

    test_accuracy = px.gate("accuracy>=0.9")
    test_classes = px.gate("accuracy>=0.8", each_class=names)
    test_robust = px.gate("robust_accuracy>=0.5", of="attack", method="pgd", eps="2/255", limit=200)

The network and the data are the fixtures plexor_network and plexor_data. They are what --plexor-network and
--plexor-data name, or in the configuration of pytest

    [pytest]
    plexor_network = net.onnx
    plexor_data = photos/test
    plexor_options =
        preprocess=imagenet
        threads=4

and a file, or conftest.py, may have fixtures of its own under these names:

    @pytest.fixture(scope="module")
    def plexor_data():
        return px.Data(x_test, y_test, classes=names)

Gates with the same command and options share one call per file.
--plexor-report=FOLDER keeps results.json and a page. Without --plexor gates are skipped.
"""
import json
import pathlib

import pytest

from .data import Data
from .gate import Gate
from .network import load

_RESULTS, _CALLS = pytest.StashKey(), pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("plexor", "gates of neural networks")
    group.addoption("--plexor", action="store_true", help="run gates of networks: px.gate(...)")
    group.addoption("--plexor-report", metavar="FOLDER", help="run them, and keep results.json and index.html there")


    group.addoption("--plexor-network", metavar="FILE", help="the ONNX file that the fixture plexor_network loads")
    group.addoption("--plexor-data", metavar="SPEC", help="what the fixture plexor_data is: a folder, a file, a name")
    parser.addini("plexor_network", "the same, relative to the root of the tests")
    parser.addini("plexor_data", "the same, relative to the root of the tests where there is such a file")
    parser.addini("plexor_options", "options of the network, a line NAME=VALUE each", type="linelist")


def _named(config, what):
    """What an option says, as typed, or the configuration, as seen from where it is."""
    typed, kept = config.getoption("--plexor-" + what), config.getini("plexor_" + what)
    if not _wanted(config):
        pytest.skip("gates run with --plexor")
    if not typed and not kept:
        pytest.fail(f"there is no {what}: give --plexor-{what}, or plexor_{what} in the configuration of pytest, or a "
                    f"fixture plexor_{what}", pytrace=False)
    beside = config.rootpath / kept
    return typed or (str(beside) if beside.exists() else kept)


@pytest.fixture(scope="session")
def plexor_network(request):
    """The network that gates are about."""
    options = dict(line.split("=", 1) for line in request.config.getini("plexor_options"))
    return load(_named(request.config, "network"), **{k.strip(): v.strip() for k, v in options.items()})


@pytest.fixture(scope="session")
def plexor_data(request):
    """The data that gates are about."""
    return Data(_named(request.config, "data"))


def pytest_configure(config):
    config.addinivalue_line("markers", "plexor: a gate of a network; runs with --plexor")
    config.stash[_RESULTS] = []


def pytest_pycollect_makeitem(collector, name, obj):
    """A gate under the name test_... becomes a function, with a case for each class where it asks for that."""
    if not isinstance(obj, Gate) or not name.startswith("test"):
        return None

    if obj.classes is None:
        def test(request, plexor_network, plexor_data):
            _judge(obj, request, plexor_network, plexor_data, None)
    else:
        @pytest.mark.parametrize("plexor_class", obj.classes)
        def test(request, plexor_network, plexor_data, plexor_class):
            _judge(obj, request, plexor_network, plexor_data, plexor_class)
    test.__doc__ = str(obj)
    test = pytest.mark.plexor(test)
    setattr(collector.obj, name, test)  # where pytest looks for it again
    return list(collector._genfunctions(name, test))  # pylint: disable=protected-access


def _judge(gate, request, network, data, case):
    if not _wanted(request.config):
        pytest.skip("gates run with --plexor")
    calls = request.node.getparent(pytest.Module).stash.setdefault(_CALLS, {})
    if gate.key not in calls:
        calls[gate.key] = gate.call(network, data)
    held, said = gate.judge(calls[gate.key], case)
    request.config.stash[_RESULTS].append(
        {"test": request.node.nodeid, "gate": str(gate), "held": held, "said": said, "result": calls[gate.key]})
    assert held, said


def _wanted(config):
    return config.getoption("--plexor") or config.getoption("--plexor-report")


def pytest_sessionfinish(session):
    folder, results = session.config.getoption("--plexor-report"), session.config.stash[_RESULTS]
    if not folder or not results:
        return
    from . import _html  # pylint: disable=import-outside-toplevel
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    shown = [{k: v for k, v in r.items() if k != "result"} for r in results]
    calls = list({id(r["result"]): r["result"] for r in results}.values())
    content = {"gates": shown, "results": [c.to_dict() for c in calls]}
    (folder / "results.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    body = _html.table([{**r, "held": "yes" if r["held"] else "no"} for r in shown])
    body += "".join(c._repr_html_() for c in calls)  # pylint: disable=protected-access
    (folder / "index.html").write_text(f'<!doctype html><meta charset="utf-8"><title>plexor</title>{body}\n',
                                       encoding="utf-8")


def pytest_terminal_summary(terminalreporter, config):
    folder = config.getoption("--plexor-report")
    if folder and config.stash[_RESULTS]:
        terminalreporter.write_line(f"plexor: {folder}/index.html has the results of the gates")
