#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compare_exports.py PLEXOR [--full] [--keep DIR] [NAME...] - what exporters write, against PyTorch

Exports every architecture of torch_nets.py and hand_nets.py, then compares outputs (`plexor run`, several batch
sizes and numbers of threads) and the gradient of the loss with respect to the input (`plexor grad`) with PyTorch's,
and shows throughput (`plexor bench`). An error is ||a - b|| / ||b||, the worst of all samples. A network of Relu and
MaxPool has kinks: an input within rounding of one has two gradients. A sample whose error is too large is excused
where PyTorch's own gradient jumps as far when the input moves by a millionth; the table counts such samples. Speaks
TAP; skips as a whole without torch, torchvision and onnx (Debian: python3-torchvision, python3-onnx). NAME: only
networks whose names contain it.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # spinning OpenMP threads lose more than they gain on small networks
try:
    import numpy as np
    import torch
    import hand_nets
    import torch_nets
except ImportError as missing:
    print(f"1..0 # SKIP no PyTorch to export from: {missing}")
    sys.exit(0)

TOLERANCE = 1e-4
SAMPLES = 5
RUNS = [["--threads", "1"], ["--threads", "5"], ["--batch", "1"], ["--batch", "3"]]
JITTERS = 12


def plexor(*arguments):
    done = subprocess.run([OPTIONS.plexor, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"plexor {arguments[0]}: {done.stderr.strip() or done.returncode}")
    return done


def distances(got, wanted):
    """Per sample."""
    if got.shape != wanted.shape:
        raise RuntimeError(f"shape {got.shape}, expected {wanted.shape}")
    got, wanted = (a.reshape(len(a), -1).astype(np.float64) for a in (got, wanted))
    return np.linalg.norm(got - wanted, axis=1) / np.linalg.norm(wanted, axis=1)


def gradients(function, x, labels):
    x = x.detach().requires_grad_(True)
    torch.nn.functional.cross_entropy(function(x)[1], labels, reduction="sum").backward()
    return x.grad.numpy()


def jump(function, x, label):
    """How far the gradient of one sample moves when the sample moves a little."""
    here = x.repeat(JITTERS, *(1,) * (x.dim() - 1))
    there = here * (1 + 2e-6 * torch.randn_like(here))
    labels = label.repeat(JITTERS)
    return distances(gradients(function, there, labels), gradients(function, here, labels)).max()


def compare(model, function, shape, folder):
    """The errors of output and gradient, samples at a kink, throughput, and what plexor remarked."""
    torch.manual_seed(1)
    x = torch.randn(SAMPLES, *shape)
    labels = torch.arange(SAMPLES) * 3 % 10
    files = {name: os.path.join(folder, name + ".npy") for name in ("x", "labels", "y", "g")}
    np.save(files["x"], x.numpy())
    np.save(files["labels"], labels.numpy())
    with torch.no_grad():
        outputs = function(x)[0].numpy()
    error_out, remarks, results = 0.0, set(), []
    for options in RUNS:
        done = plexor("run", model, "--input", files["x"], "-o", files["y"], *options)
        remarks |= set(done.stderr.splitlines())
        results.append(np.load(files["y"]))
        error_out = max(error_out, distances(results[-1], outputs).max())
    if results[0].tobytes() != results[1].tobytes():
        raise RuntimeError("the output depends on the number of threads")
    plexor("grad", model, "--input", files["x"], "--labels", files["labels"], "-o", files["g"], "--of", "loss")
    errors = distances(np.load(files["g"]), gradients(function, x, labels))
    kinks = [i for i in range(SAMPLES)
             if errors[i] > TOLERANCE and errors[i] < 4 * jump(function, x[i:i + 1], labels[i:i + 1])]
    speed = json.loads(plexor("bench", model, "--rounds", "1", "--seconds", "0.1", "--threads", "1", "--json").stdout)
    return error_out, max(np.delete(errors, kinks), default=np.inf), len(kinks), speed, remarks


def main():
    cases = [(net.name, net.export, net.shape, net.loops) for net in torch_nets.NETS
             if OPTIONS.full or not net.full]
    cases += [(name, make, None, False) for name, make in hand_nets.NETS]
    cases = [case for case in cases if not OPTIONS.names or any(name in case[0] for name in OPTIONS.names)]
    print(f"1..{len(cases)}")
    print(f"# {'':26}{'output':>10}{'gradient':>10}{'forward/s':>12}{'gradient/s':>12}{'kinks':>7}", flush=True)
    failed = False
    torch.set_num_threads(1)
    for number, (name, make, shape, loops) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory(prefix="plexor-exports-") as folder:
            where = OPTIONS.keep or folder
            model = os.path.join(where, name.replace(",", "").replace(" ", "_") + ".onnx")
            fault, remarks = None, set()
            try:
                made = make(model)
                function, shape = made if isinstance(made, tuple) else (made, shape)
                error_out, error_grad, kinks, speed, remarks = compare(model, function, shape, folder)
                print(f"# {name:26}{error_out:10.1e}{error_grad:10.1e}{speed['forward_per_s']:12,.0f}"
                      f"{speed['grad_per_s']:12,.0f}{kinks:7}", flush=True)
                if not error_out <= TOLERANCE or not error_grad <= TOLERANCE:  # NaN too
                    fault = "differs from PyTorch"
                elif any("runs in a loop" in remark for remark in remarks) != loops:
                    fault = "should say that it runs in a loop" if loops else "should not run in a loop"
            except RuntimeError as error:
                fault = str(error).replace("\n", " ")[:1000]
        failed = failed or fault is not None
        print(f"{'not ' if fault else ''}ok {number} - {name}", flush=True)
        for line in ([fault] if fault else []) + sorted(remarks):
            print(f"#   {line}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser(usage=__doc__)
    PARSER.add_argument("plexor", type=os.path.abspath)
    PARSER.add_argument("--full", action="store_true", help="the large networks too")
    PARSER.add_argument("--keep", metavar="DIR", help="leave the models there")
    PARSER.add_argument("names", nargs="*")
    OPTIONS = PARSER.parse_intermixed_args()
    main()
