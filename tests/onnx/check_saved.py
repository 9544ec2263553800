#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What plexor saves, as ONNX's own checker and reader see it: check_saved.py RESAVE CORPUS"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

# attributes.onnx has an operator that the checker does not know, newer.onnx an opset
FILES = ["small", "residual", "types-raw", "types-typed", "function", "unsorted", "ir3", "outputs", "external"]


def arrays(model, folder):
    import numpy as np
    import onnx
    from onnx import numpy_helper

    def content(t):
        if t.data_type == onnx.TensorProto.BFLOAT16:  # onnx 1.17 returns memory that it never wrote
            return t.raw_data or np.array(t.int32_data, "<u2").tobytes()
        return numpy_helper.to_array(t).tobytes()

    onnx.external_data_helper.load_external_data_for_model(model, str(folder))
    return {t.name: (t.data_type, tuple(t.dims), content(t)) for t in model.graph.initializer}


def compare(resave, corpus, name, folder):
    """None, or what is wrong."""
    import onnx

    saved = folder / f"{name}.onnx"
    subprocess.run([resave, corpus / f"{name}.onnx", saved], check=True)
    before = onnx.load(corpus / f"{name}.onnx", load_external_data=False)
    after = onnx.load(saved)
    onnx.checker.check_model(after)
    if arrays(before, corpus) != arrays(after, folder):
        return "initialisers differ"
    for part in ("input", "output"):
        if {v.name: v.type for v in getattr(before.graph, part)} != {v.name: v.type for v in getattr(after.graph, part)}:
            return f"{part}s differ"
    key = lambda n: (n.output[0], n.op_type, tuple(n.input), sorted(a.SerializeToString() for a in n.attribute))
    if name != "function" and sorted(map(key, before.graph.node)) != sorted(map(key, after.graph.node)):
        return "nodes differ"
    if {p.key: p.value for p in before.metadata_props} != {p.key: p.value for p in after.metadata_props}:
        return "metadata differs"
    return None


def main(resave, corpus):
    print(f"1..{len(FILES)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(FILES, 1):
            try:
                trouble = compare(resave, corpus, name, pathlib.Path(folder))
            except Exception as error:  # the checker's own classes, a failed resave
                trouble = str(error).splitlines()[0]
            print(f"ok {number} - {name}" if trouble is None else f"not ok {number} - {name}: {trouble}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if importlib.util.find_spec("onnx") is None:
        system = "/usr/bin/python3"  # Debian's modules belong to Debian's interpreter
        if sys.executable != system and os.access(system, os.X_OK) and "PLEXOR_RETRY" not in os.environ:
            os.execve(system, [system, *sys.argv], {**os.environ, "PLEXOR_RETRY": "1"})
        print("1..0 # SKIP python3-onnx is not installed")
        sys.exit(0)
    main(pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute())
