#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py BUILD - the Python module with the library and what that needs, as BUILD/wheel/plexor-*.whl.
make_wheel.py --metadata FOLDER - only FOLDER/plexor-VERSION.dist-info, for packages that install the module's files.

The wheel needs NumPy, glibc at least as new as here, and libstdc++. All other libraries are inside under names of their
own, so that another module's copies are not taken for them; their licences are inside, too. Needs patchelf and readelf,
no network.
"""
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of every system; a second libstdc++ in one process would break modules that need a newer one.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libpthread|libdl|librt|libstdc\+\+|libgcc_s)[.-]")


def version():
    with open(os.path.join(TOP, "meson.build"), encoding="utf-8") as file:
        return re.search(r"version: '([^']+)'", file.read())[1]


def metadata():
    with open(os.path.join(TOP, "docs", "python.md"), encoding="utf-8") as file:
        description = file.read()
    return (f"Metadata-Version: 2.1\nName: plexor\nVersion: {version()}\n"
            "Summary: Test neural networks from the inside\nLicense: Apache-2.0\nRequires-Python: >=3.9\n"
            "Requires-Dist: numpy\nProvides-Extra: all\nRequires-Dist: pandas; extra == \"all\"\n"
            "Requires-Dist: matplotlib; extra == \"all\"\nRequires-Dist: tqdm; extra == \"all\"\n"
            "Description-Content-Type: text/markdown\n\n" + description)


ENTRY_POINTS = "[pytest11]\nplexor = plexor.pytest_plugin\n"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    """{SONAME: file} of all that a library needs, directly or not."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", path), re.M))
    return {name: file for name, file in found.items() if not SYSTEM.match(name)}


def own_name(soname):
    """Of the same length: it takes the old one's place."""
    return "px-" + soname[3:]


def rename(path, names):
    """Writes new names over those of the libraries that a file is or needs, in its .dynstr alone. So the names beside
    the versions of symbols change as well, which patchelf --replace-needed forgets."""
    section = re.search(r"\.dynstr\s+STRTAB\s+\S+\s+(\S+)\s+(\S+)", run("readelf", "-SW", path))
    begin, size = int(section[1], 16), int(section[2], 16)
    with open(path, "r+b") as file:
        file.seek(begin)
        strings = file.read(size)
        for name in names:
            strings = strings.replace(b"\0" + name.encode() + b"\0", b"\0" + own_name(name).encode() + b"\0")
        file.seek(begin)
        file.write(strings)
    left = set(run("patchelf", "--print-needed", path).split()) & set(names)
    if left:
        sys.exit(f"make_wheel.py: '{path}' still needs {', '.join(sorted(left))}")


def bundle(library, folder):
    """The library and its libraries in `folder`, each finding the others there."""
    os.makedirs(folder)
    libraries = needed(library)
    soname = "libplexor.so.0"
    shutil.copyfile(library, os.path.join(folder, soname))
    for name, file in libraries.items():
        if not name.startswith("lib"):
            sys.exit(f"make_wheel.py: '{name}' does not begin with lib")
        shutil.copyfile(file, os.path.join(folder, own_name(name)))
    for name in [soname, *map(own_name, libraries)]:
        path = os.path.join(folder, name)
        os.chmod(path, 0o755)
        run("patchelf", "--set-rpath", "$ORIGIN", path)
        rename(path, libraries)
    return libraries


def licences(libraries):
    """{file name: text} for what is bundled, as Debian has them."""
    texts = {}
    for file in libraries.values():
        for path in (file, os.path.realpath(file), "/usr" + os.path.realpath(file)):
            said = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False).stdout
            package = said.split(":")[0]
            place = f"/usr/share/doc/{package}/copyright"
            if package and os.path.exists(place):
                with open(place, encoding="utf-8", errors="replace") as text:
                    texts[package + ".txt"] = text.read()
                break
        else:
            sys.exit(f"make_wheel.py: no licence of '{file}' is known; it cannot be passed on")
    return texts


def write_metadata(folder):
    os.makedirs(folder, exist_ok=True)
    for name, text in (("METADATA", metadata()), ("entry_points.txt", ENTRY_POINTS), ("top_level.txt", "plexor\n"),
                       ("INSTALLER", "debian\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    if sys.argv[1] == "--metadata":
        write_metadata(os.path.join(sys.argv[2], f"plexor-{version()}.dist-info"))
        return
    build, info = sys.argv[1], f"plexor-{version()}.dist-info"
    glibc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
    tag = f"py3-none-manylinux_{glibc}_{platform.machine()}"
    files = {}
    for name in sorted(os.listdir(os.path.join(TOP, "python", "plexor"))):
        path = os.path.join(TOP, "python", "plexor", name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                files["plexor/" + name] = file.read()
    with tempfile.TemporaryDirectory(prefix="plexor-wheel-") as folder:
        libraries = bundle(os.path.join(build, "libplexor.so.0"), folder + "/lib")
        run("strip", "--strip-unneeded", folder + "/lib/libplexor.so.0")
        for name in sorted(os.listdir(folder + "/lib")):
            with open(os.path.join(folder, "lib", name), "rb") as file:
                files["plexor/_lib/" + name] = file.read()
    for name, text in sorted(licences(libraries).items()):
        files[f"{info}/licenses/{name}"] = text.encode()
    for name in ("LICENSE", "NOTICE"):
        with open(os.path.join(TOP, name), "rb") as file:
            files[f"{info}/licenses/{name}"] = file.read()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: plexor\nRoot-Is-Purelib: false\nTag: {tag}\n").encode()
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},"
              f"{len(content)}" for name, content in files.items()] + [f"{info}/RECORD,,"]
    files[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()
    os.makedirs(os.path.join(build, "wheel"), exist_ok=True)
    out = os.path.join(build, "wheel", f"plexor-{version()}-{tag}.whl")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes from the same files
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            wheel.writestr(entry, content)
    print(f"{out}: {os.path.getsize(out) / 1e6:.1f} MB, {len(libraries)} libraries besides plexor's own")


main()
