#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_packages.py TOP BUILD - the Python module as people install it: by pip without a network, and by apt. Speaks TAP.

The wheel is made of BUILD and installed into a fresh virtual environment; then, for each folder in PLEXOR_ROOTS, in a
copy of that root of Debian, without a network. Where BUILD/deb has packages (`make deb`), those that a root's release
can install are, with what they need from its mirror. Roots are made by

    debootstrap --variant=minbase --include=python3,python3-numpy,python3-venv bookworm ROOTS/bookworm
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

TOP, BUILD = map(os.path.abspath, sys.argv[1:3])
ROOTS = os.environ.get("PLEXOR_ROOTS")

# What somebody does first; argv: a network, and where the module must be.
TRY = """
import sys
import numpy, plexor as px
from importlib import metadata
from plexor import _library
assert px.__file__.startswith(sys.argv[2]), px.__file__
digits = px.Data("digits")
found = px.load(sys.argv[1]).eval((digits.x[:500], digits.y[:500]))
assert found.accuracy > 0.9, found
assert [(p.group, p.name) for p in metadata.distribution("plexor").entry_points] == [("pytest11", "plexor")]
loaded = [line.split()[-1] for line in open("/proc/self/maps") if "libplexor" in line]
print(px.__version__, sys.version.split()[0], numpy.__version__, sorted(set(loaded))[0])
"""


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    assert done.returncode == 0, f"{' '.join(command[:6])}: {done.stdout[-3000:]}"
    return done.stdout


def make_wheel():
    run(sys.executable, os.path.join(TOP, "scripts", "make_wheel.py"), BUILD)
    return max(glob.glob(os.path.join(BUILD, "wheel", "plexor-*.whl")), key=os.path.getmtime)


def in_venv(wheel, folder):
    """NumPy is the system's, whatever else there is is not asked for."""
    venv = os.path.join(folder, "venv")
    run("/usr/bin/python3", "-m", "venv", "--system-site-packages", venv)
    python = os.path.join(venv, "bin", "python3")
    run(python, "-m", "pip", "install", "--no-index", "--quiet", wheel)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PLEXOR", "LD_"))}
    return run(python, "-c", TRY, os.path.join(TOP, "tests", "cli", "models", "digits.onnx"), venv, cwd=folder, env=clean)


class Root:
    """A copy of a root, which is thrown away."""

    def __init__(self, path, folder):
        self.path = os.path.join(folder, os.path.basename(path))
        run("cp", "-a", path, self.path)
        shutil.copy(os.path.join(TOP, "tests", "cli", "models", "digits.onnx"), os.path.join(self.path, "digits.onnx"))
        with open(os.path.join(self.path, "try.py"), "w", encoding="utf-8") as file:
            file.write(TRY)

    def put(self, path):
        shutil.copy(path, self.path)
        return "/" + os.path.basename(path)

    def run(self, words, network=False):
        """In the root, with its own /proc."""
        inside = f'mount -t proc proc "{self.path}/proc" && exec chroot "{self.path}" /bin/sh -ec "$1"'
        return run("unshare", "--mount", *([] if network else ["--net"]), "sh", "-c", inside, "sh",
                   "export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root DEBIAN_FRONTEND=noninteractive; " + words)


def wheel_in(root, wheel):
    name = root.put(wheel)
    return root.run(f"python3 -m venv --system-site-packages /venv; /venv/bin/pip install --no-index --quiet {name}; "
                    "cd /tmp; /venv/bin/python3 /try.py /digits.onnx /venv")


def packages_in(root, packages):
    names = " ".join(root.put(p) for p in packages)
    shutil.copy("/etc/resolv.conf", os.path.join(root.path, "etc"))
    root.run(f"apt-get update -qq; apt-get install -y -qq --no-install-recommends {names}", network=True)
    return root.run("cd /tmp; python3 /try.py /digits.onnx /usr/lib/python3")


def release(root):
    with open(os.path.join(root, "etc", "os-release"), encoding="utf-8") as file:
        return dict(line.strip().split("=", 1) for line in file if "=" in line).get("VERSION_CODENAME", "")


def plan():
    """(title, function of a folder and the wheel, or why it is skipped)."""
    yield "the wheel in a virtual environment", lambda folder, wheel: in_venv(wheel, folder)
    if not ROOTS or os.geteuid() != 0 or not shutil.which("unshare"):
        yield "in roots of Debian", "PLEXOR_ROOTS names no folder of roots, or this is not root"
        return
    packages = [p for n in ("python3-plexor", "libplexor0") for p in glob.glob(os.path.join(BUILD, "deb", n + "_*.deb"))]
    for path in sorted(p for p in glob.glob(os.path.join(ROOTS, "*")) if os.path.exists(p + "/usr/bin/python3")):
        yield f"the wheel in {os.path.basename(path)}", lambda folder, wheel, path=path: wheel_in(Root(path, folder), wheel)
        with open("/etc/os-release", encoding="utf-8") as file:
            same = f"VERSION_CODENAME={release(path)}\n" in file
        if len(packages) == 2 and same:
            yield (f"the packages in {os.path.basename(path)}",
                   lambda folder, _, path=path: packages_in(Root(path, folder), packages))
        else:
            yield (f"the packages in {os.path.basename(path)}",
                   "they are for the release they were made on" if packages else "there are none; run 'make deb'")


def main():
    for program in ("patchelf", "readelf"):
        if not shutil.which(program):
            print(f"1..0 # SKIP {program} is not installed")
            return 0
    wheel, failed, cases = make_wheel(), False, list(plan())
    print(f"1..{len(cases)}", flush=True)
    for number, (title, work) in enumerate(cases, 1):
        if isinstance(work, str):
            print(f"ok {number} - {title} # SKIP {work}", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="plexor-install-") as folder:
            try:
                print(f"ok {number} - {title}\n# {work(folder, wheel).strip()}", flush=True)
            except AssertionError as fault:
                failed = True
                print(f"not ok {number} - {title}\n# " + str(fault).replace("\n", "\n# "), flush=True)
    return 1 if failed else 0


sys.exit(main())
