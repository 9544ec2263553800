#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes fuzz/corpus/onnx: small models, good and bad, for the fuzz target and the reader's tests.

    /usr/bin/python3 fuzz/make_onnx_corpus.py        # needs python3-onnx; the result is committed

The bytes depend on this script alone. tests/onnx/test_reader.c says what each file must give.
"""
import pathlib

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

OUT = pathlib.Path(__file__).resolve().parent / "corpus" / "onnx"
FLOAT = TensorProto.FLOAT


def ramp(shape):
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.float32).reshape(shape) - count / 2) / 8


def weights(**arrays):
    return [numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items()]


def value(name, shape=None, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initialisers=(), value_info=(), opset=13, ir=7, imports=(), **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initialisers),
                              value_info=list(value_info))
    made = helper.make_model(graph, producer_name="corpus", ir_version=ir,
                             opset_imports=[helper.make_opsetid("", opset), *imports], **more)
    return made


def save(name, made):
    data = made if isinstance(made, bytes) else made.SerializeToString(deterministic=True)
    (OUT / f"{name}.onnx").write_bytes(data)


node = helper.make_node


def small():
    made = model(
        [node("Conv", ["x", "w", "b"], ["c"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
         node("BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["n"], "bn", epsilon=1e-3),
         node("Relu", ["n"], ["r"], "relu"),
         node("GlobalAveragePool", ["r"], ["p"], "pool"),
         node("Flatten", ["p"], ["f"], "flat"),
         node("Gemm", ["f", "v"], ["logits"], "dense", transB=1),
         node("Softmax", ["logits"], ["prob"], axis=-1)],
        [value("x", ["batch", 1, 6, 6])], [value("prob", ["batch", 3])],
        weights(w=ramp((2, 1, 3, 3)), b=ramp((2,)), scale=np.ones(2, np.float32), shift=ramp((2,)),
                mean=ramp((2,)), var=np.ones(2, np.float32), v=ramp((3, 2))),
        [value("r", ["batch", 2, 6, 6]), value("left behind by an exporter", [1])])
    helper.set_model_props(made, {"plexor.scale": "0.5", "plexor.classes": '["a","b","c"]'})
    return made


def residual():
    return model(
        [node("Conv", ["x", "w0"], ["a"], "stem"), node("Relu", ["a"], ["b"], "relu0"),
         node("Conv", ["b", "w1"], ["c"], "conv1"), node("Relu", ["c"], ["d"], "relu1"),
         node("Conv", ["d", "w1"], ["e"], "conv2"), node("Conv", ["b", "w1"], ["s"], "short"),
         node("Neg", ["w0"], ["k"], "folds"), node("Add", ["e", "s"], ["f"], "add"),
         node("Mul", ["f", "k"], ["y"], "mul"), node("Relu", ["s"], ["aux"], "aux")],
        [value("x", [1, 1, 1, 1])], [value("y", [1, 1, 1, 1]), value("aux", [1, 1, 1, 1])],
        weights(w0=ramp((1, 1, 1, 1)), w1=ramp((1, 1, 1, 1))))


DTYPES = {"f32": "FLOAT", "u8": "UINT8", "i8": "INT8", "u16": "UINT16", "i16": "INT16", "i32": "INT32",
          "i64": "INT64", "bool": "BOOL", "f16": "FLOAT16", "f64": "DOUBLE", "u32": "UINT32",
          "u64": "UINT64", "bf16": "BFLOAT16"}


def types(raw):
    initialisers, nodes, outputs = [], [], []
    for name, onnx_name in DTYPES.items():
        number = TensorProto.DataType.Value(onnx_name)
        tensor = TensorProto(name=name, data_type=number, dims=[2])
        bits = {"f16": [0x3C00, 0xC000], "bf16": [0x3F80, 0xC000]}  # 1, -2
        if name in bits:
            if raw:
                tensor.raw_data = np.array(bits[name], np.uint16).tobytes()
            else:
                tensor.int32_data.extend(bits[name])
        else:
            signed = name in ("f32", "f64", "i8", "i16", "i32", "i64")
            array = np.array([1, -2 if signed else 1 if name == "bool" else 2],
                             helper.mapping.TENSOR_TYPE_TO_NP_TYPE[number])
            if raw:
                tensor.raw_data = array.tobytes()
            elif name == "f32":
                tensor.float_data.extend(array.tolist())
            elif name == "f64":
                tensor.double_data.extend(array.tolist())
            elif name == "i64":
                tensor.int64_data.extend(array.tolist())
            elif name in ("u32", "u64"):
                tensor.uint64_data.extend(array.tolist())
            else:
                tensor.int32_data.extend(int(v) for v in array)
        initialisers.append(tensor)
        nodes.append(node("Identity", [name], [f"{name}_out"]))
        outputs.append(value(f"{name}_out", [2], number))
    initialisers.append(TensorProto(name="empty", data_type=FLOAT, dims=[0, 3]))
    initialisers.append(TensorProto(name="scalar", data_type=FLOAT, float_data=[7]))
    return model(nodes, [], outputs, initialisers)


def attributes():
    odd = node("Odd", ["x", "", "x"], ["y", "", "z"], "odd", domain="com.example", i=-3, f=0.5, s="text",
               ints=[1, -2], floats=[0.5, 1.5], strings=["a", "bc"],
               t=numpy_helper.from_array(np.array([4, 5], np.int64)))
    return model([odd, node("Constant", [], ["k"], value=numpy_helper.from_array(ramp((2,)))),
                  node("Constant", [], ["e"], value=numpy_helper.from_array(np.zeros((0,), np.int64)))],
                 [value("x", [1])], [value("y"), value("z"), value("k", [2]), value("e", [0])],
                 imports=[helper.make_opsetid("com.example", 3)])


def function():
    inner = helper.make_function("local", "Scaled", ["a"], ["b"],
                                 [node("Elu", ["a"], ["t"], "elu"), node("Neg", ["t"], ["b"])],
                                 [helper.make_opsetid("", 13)], ["alpha"])
    reference = AttributeProto(name="alpha", ref_attr_name="alpha", type=AttributeProto.FLOAT)
    inner.node[0].attribute.append(reference)
    outer = helper.make_function("local", "Twice", ["p", "q"], ["r"],
                                 [node("Scaled", ["p"], ["m"], "one", domain="local"),
                                  node("Scaled", ["m"], ["n"], "two", domain="local", alpha=0.25),
                                  node("Add", ["n", "q"], ["r"])],
                                 [helper.make_opsetid("", 13), helper.make_opsetid("local", 1)], ["alpha"])
    reference = AttributeProto(name="alpha", ref_attr_name="alpha", type=AttributeProto.FLOAT)
    outer.node[0].attribute.append(reference)
    return model([node("Twice", ["x", "x"], ["t"], "call", domain="local", alpha=0.5),
                  node("Relu", ["t"], ["y"])],
                 [value("x", [2])], [value("y", [2])], ir=8,
                 imports=[helper.make_opsetid("local", 1)], functions=[inner, outer])


def function_bomb():
    """Twelve functions that each call the next one sixteen times."""
    functions = []
    for i in range(12):
        body = [node(f"f{i + 1}", ["a"], [f"t{k}"], domain="local") for k in range(16)]
        body.append(node("Neg", ["a"], ["b"]))
        functions.append(helper.make_function("local", f"f{i}", ["a"], ["b"], body,
                                              [helper.make_opsetid("", 13), helper.make_opsetid("local", 1)]))
    functions.append(helper.make_function("local", "f12", ["a"], ["b"], [node("Neg", ["a"], ["b"])],
                                          [helper.make_opsetid("", 13)]))
    return model([node("f0", ["x"], ["y"], domain="local")], [value("x", [1])], [value("y", [1])], ir=8,
                 imports=[helper.make_opsetid("local", 1)], functions=functions)


def function_recursive():
    endless = helper.make_function("local", "F", ["a"], ["b"], [node("F", ["a"], ["b"], domain="local")],
                                   [helper.make_opsetid("local", 1)])
    return model([node("F", ["x"], ["y"], domain="local")], [value("x", [1])], [value("y", [1])], ir=8,
                 imports=[helper.make_opsetid("local", 1)], functions=[endless])


def loop():
    """A Loop with weights of its own, which reads the graph around it, with an If inside that does so, too."""
    more = [helper.make_graph([node("Add", ["h", n], [f"{n}_y"])], n, [], [value(f"{n}_y", [2])]) for n in ("x", "b")]
    body = helper.make_graph(
        [node("Identity", ["go"], ["goes"]), node("If", ["go"], ["next"], then_branch=more[0], else_branch=more[1]),
         node("Mul", ["next", "b"], ["out"])],
        "body", [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("h", [2])],
        [value("goes", [], TensorProto.BOOL), value("next", [2]), value("out", [2])], weights(b=ramp((2,))))
    return model([node("Loop", ["m", "", "x"], ["y", "all"], "turns", body=body)], [value("x", [2])],
                 [value("y", [2]), value("all", [2, 2])], [numpy_helper.from_array(np.int64(2), "m")])


def subgraph():
    branch = [helper.make_graph([node("Identity", ["x"], [f"{n}_y"])], n, [], [value(f"{n}_y", [1])])
              for n in ("then", "else")]
    return model([node("If", ["c"], ["y"], "choice", then_branch=branch[0], else_branch=branch[1])],
                 [value("c", [], TensorProto.BOOL), value("x", [1])], [value("y", [1])])


def external(location="external.bin", offset="16", length="16"):
    made = model([node("Add", ["x", "w"], ["y"])], [value("x", [4])], [value("y", [4])],
                 [TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)])
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        if text is not None:
            made.graph.initializer[0].external_data.add(key=key, value=text)
    return made


def tensor_model(tensor):
    tensor.name = "w"
    return model([node("Identity", ["w"], ["y"])], [], [value("y")], [tensor])


def deep(levels):
    """An If inside an If inside an If ..."""
    made = model([node("If", ["c"], ["y"], "n")], [value("c", [], TensorProto.BOOL)], [value("y")])
    inner = b""
    field = lambda number, data: varint(number << 3 | 2) + varint(len(data)) + data
    for _ in range(levels):  # graph { node { attribute { g
        inner = field(1, field(5, field(6, inner)))
    made.graph.node[0].ClearField("attribute")
    return made.SerializeToString() + field(20, field(1, inner))  # training_info { initialization


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.glob("*"):
        old.unlink()
    x, y = [value("x", [2])], [value("y", [2])]
    relu = node("Relu", ["x"], ["y"])

    save("small", small())
    save("residual", residual())
    save("types-raw", types(True))
    save("types-typed", types(False))
    save("attributes", attributes())
    save("function", function())
    save("subgraph", subgraph())
    save("loop", loop())
    save("unsorted", model([node("Neg", ["b"], ["y"], "last"), node("Neg", ["x"], ["a"], "first"),
                            node("Neg", ["a"], ["b"], "middle")], x, y))
    save("ir3", model([node("Add", ["x", "w"], ["y"])], x + [value("w", [2])], y,
                      weights(w=ramp((2,))), opset=7, ir=3))
    save("newer", model([relu], x, y, opset=27, ir=9))
    save("outputs", model([relu], x, y + [value("x", [2]), value("w", [2])], weights(w=ramp((2,)))))
    save("sequence", model([node("SequenceLength", ["s"], ["y"])],
                           [helper.make_tensor_sequence_value_info("s", FLOAT, None)],
                           [value("y", [], TensorProto.INT64)]))
    strings = helper.make_tensor("words", TensorProto.STRING, [1], [b"w"])
    save("string-unused", model([relu], x, y, [strings]))
    save("external", external())
    (OUT / "external.bin").write_bytes(b"\0" * 16 + ramp((4,)).tobytes() + b"\0" * 3)

    save("bad-empty", b"")
    save("bad-text", b"this is not a model\n")
    save("bad-cycle", model([node("Add", ["x", "b"], ["a"], "ping"), node("Neg", ["a"], ["b"], "pong"),
                             node("Neg", ["b"], ["y"])], x, y))
    save("bad-missing", model([node("Add", ["x", "nowhere"], ["y"], "sum")], x, y))
    save("bad-two-makers", model([relu, node("Neg", ["x"], ["y"], "again")], x, y))
    save("bad-makes-input", model([relu, node("Neg", ["y"], ["x"], "back")], x, y))
    save("bad-two-inputs", model([relu], x + x, y))
    save("bad-two-initialisers", model([relu], x, y, weights(w=ramp((2,))) + weights(w=ramp((2,)))))
    save("bad-output", model([relu], x, [value("z", [2])]))
    save("bad-no-outputs", model([relu], x, []))
    no_opset = model([relu], x, y)
    del no_opset.opset_import[:]
    save("bad-no-opset", no_opset)
    sparse = model([relu], x, y)
    sparse.graph.sparse_initializer.add(dims=[2]).values.name = "s"
    save("bad-sparse", sparse)
    twice = model([node("Elu", ["x"], ["y"], "elu", alpha=1.0)], x, y)
    twice.graph.node[0].attribute.add().CopyFrom(twice.graph.node[0].attribute[0])
    save("bad-two-attributes", twice)
    save("bad-string", tensor_model(strings))
    save("bad-complex", tensor_model(TensorProto(data_type=TensorProto.COMPLEX64, dims=[1], float_data=[1, 2])))
    save("bad-huge", tensor_model(TensorProto(data_type=FLOAT, dims=[1 << 40], raw_data=b"\0" * 8)))
    save("bad-overflow", tensor_model(TensorProto(data_type=FLOAT, dims=[1 << 40, 1 << 40, 0], raw_data=b"")))
    save("bad-negative", tensor_model(TensorProto(data_type=FLOAT, dims=[-2], raw_data=b"\0" * 8)))
    save("bad-short", tensor_model(TensorProto(data_type=FLOAT, dims=[3], raw_data=b"\0" * 8)))
    save("bad-long", tensor_model(TensorProto(data_type=FLOAT, dims=[1], float_data=[1, 2])))
    save("bad-range", tensor_model(TensorProto(data_type=TensorProto.UINT8, dims=[1], int32_data=[300])))
    save("bad-rank", tensor_model(TensorProto(data_type=FLOAT, dims=[1] * 9, float_data=[1])))
    save("bad-function-bomb", function_bomb())
    save("bad-function-recursive", function_recursive())
    save("bad-deep", deep(200))
    save("bad-external-absolute", external("/etc/passwd"))
    save("bad-external-up", external("../external.bin"))
    save("bad-external-inner-up", external("a/../../external.bin"))
    save("bad-external-gone", external("gone.bin"))
    save("bad-external-offset", external(offset="20"))
    save("bad-external-wrap", external(offset="18446744073709551608"))
    save("bad-external-length", external(length="12"))
    save("bad-external-text", external(offset="-1"))
    save("bad-external-nowhere", external(location=None))


if __name__ == "__main__":
    main()
