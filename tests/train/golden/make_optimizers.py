#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden tables of optimisers, schedules and losses that tests/train checks.

    /usr/bin/python3 make_optimizers.py        (python3-torch 1.13; writes beside itself)

golden_optimizers.h: trajectories of two small tensors under torch.optim, for every optimiser and
every setting, with a learning rate that changes from step to step; golden_schedules.h: the rates
of whole runs under torch.optim.lr_scheduler; golden_losses.h: losses and gradients of
torch.nn.functional. PyTorch works in double on numbers that are float32. What it does not have is
written out here by the formula.
"""
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch.optim import lr_scheduler

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, COUNTS = 6, (15, 5)  # tensors [3,5] and [5]


def single(array):
    """What float32 makes of it, in double."""
    return np.asarray(array, np.float32).astype(np.float64)


def numbers(values):
    return "{" + ", ".join("%.17g" % v for v in np.asarray(values, np.float64).reshape(-1)) + "}"


def write(name, lines):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as out:
        out.write("/* tests/train/golden/%s - made by make_optimizers.py with PyTorch %s; not to be "
                  "edited */\n/* clang-format off */\n" % (name, torch.__version__))
        out.write("\n".join(lines) + "\n")


# --- optimisers ----------------------------------------------------------------------------------

class InsideRMSprop(torch.optim.Optimizer):
    """TensorFlow's: eps is added under the root."""

    def __init__(self, params, lr, alpha=0.9, eps=1e-7):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                a = self.state[p].setdefault("a", torch.zeros_like(p))
                a.mul_(group["alpha"]).add_((1 - group["alpha"]) * p.grad**2)
                p.data -= group["lr"] * p.grad / torch.sqrt(a + group["eps"])


def keras(**more):
    return dict(alpha=0.9, eps=1e-7, **more)


OPTIMIZERS = [
    ("sgd", torch.optim.SGD, {}),
    ("sgd:decay=0.1", torch.optim.SGD, dict(weight_decay=0.1)),
    ("sgd:momentum=0.9", torch.optim.SGD, dict(momentum=0.9)),
    ("sgd:momentum=0.9,dampening=0.3,decay=5e-4", torch.optim.SGD,
     dict(momentum=0.9, dampening=0.3, weight_decay=5e-4)),
    ("sgd:momentum=0.99,nesterov=1", torch.optim.SGD, dict(momentum=0.99, nesterov=True)),
    ("sgd:momentum=0.9,nesterov=1,decay=0.05", torch.optim.SGD,
     dict(momentum=0.9, nesterov=True, weight_decay=0.05)),
    ("sgd:momentum=0.9,nesterov=1,decay=0.05,decay-all=0", torch.optim.SGD,
     dict(momentum=0.9, nesterov=True, weight_decay=0.05)),
    ("adam", torch.optim.Adam, {}),
    ("adam:decay=0.1,beta1=0.8,beta2=0.95,eps=1e-4", torch.optim.Adam,
     dict(weight_decay=0.1, betas=(0.8, 0.95), eps=1e-4)),
    ("adam:amsgrad=1", torch.optim.Adam, dict(amsgrad=True)),
    ("adam:amsgrad=1,beta2=0.5,decay=0.01", torch.optim.Adam,
     dict(amsgrad=True, betas=(0.9, 0.5), weight_decay=0.01)),
    ("adamw", torch.optim.AdamW, {}),
    ("adamw:decay=0.3,beta1=0.7,beta2=0.9,eps=1e-6", torch.optim.AdamW,
     dict(weight_decay=0.3, betas=(0.7, 0.9), eps=1e-6)),
    ("adamw:decay=0.3,decay-all=0", torch.optim.AdamW, dict(weight_decay=0.3)),
    ("adamw:amsgrad=1,beta2=0.5", torch.optim.AdamW, dict(amsgrad=True, betas=(0.9, 0.5))),
    ("rmsprop", torch.optim.RMSprop, keras()),
    ("rmsprop:rho=0.99,eps=1e-8", torch.optim.RMSprop, {}),
    ("rmsprop:decay=0.1", torch.optim.RMSprop, keras(weight_decay=0.1)),
    ("rmsprop:momentum=0.9", torch.optim.RMSprop, keras(momentum=0.9)),
    ("rmsprop:centered=1", torch.optim.RMSprop, keras(centered=True)),
    ("rmsprop:centered=1,momentum=0.5,rho=0.8,eps=1e-3,decay=0.01", torch.optim.RMSprop,
     dict(alpha=0.8, eps=1e-3, centered=True, momentum=0.5, weight_decay=0.01)),
    ("rmsprop:inside=1", InsideRMSprop, {}),
    ("rmsprop:inside=1,eps=0.01", InsideRMSprop, dict(eps=0.01)),
    ("adagrad", torch.optim.Adagrad, {}),
    ("adagrad:initial=0.1,eps=1e-7,decay=0.1", torch.optim.Adagrad,
     dict(initial_accumulator_value=0.1, eps=1e-7, weight_decay=0.1)),
]


def trajectory(spec, make, options, start, gradients, rates):
    params = [torch.tensor(w, requires_grad=True) for w in start]
    groups = [{"params": [p]} for p in params]
    if "decay-all=0" in spec:
        groups[1]["weight_decay"] = 0.0
    optimizer = make(groups, lr=1.0, **options)
    weights = []
    for rate, grads in zip(rates, gradients):
        for group in optimizer.param_groups:
            group["lr"] = rate
        for p, g in zip(params, grads):
            p.grad = torch.tensor(g)
        optimizer.step()
        weights += [p.detach().numpy().copy() for p in params]
    return np.concatenate(weights)


def make_optimizers():
    rng = np.random.RandomState(3)
    start = [single(rng.randn(n)) for n in COUNTS]
    gradients = []
    for step in range(STEPS):
        size = 10.0**(rng.randint(-3, 3, sum(COUNTS)))
        g = single(rng.randn(sum(COUNTS)) * size)
        g[7] = 0.0 if step != 3 else g[7]  # long without a gradient, then one
        gradients.append([g[:COUNTS[0]], g[COUNTS[0]:]])
    rates = [0.01, 0.01, 0.02, 0.005, 0.1, 0.001]
    lines = ["static const double golden_rates[] = %s;" % numbers(rates),
             "static const double golden_start[] = %s;" % numbers(np.concatenate(start)),
             "static const double golden_gradients[] = %s;"
             % numbers(np.concatenate([x for g in gradients for x in g])),
             "static const struct {",
             "    const char *spec;",
             "    double weights[%d]; /* after each step, both tensors */" % (STEPS * sum(COUNTS)),
             "} golden_optimizers[] = {"]
    for spec, make, options in OPTIMIZERS:
        weights = trajectory(spec, make, options, start, gradients, rates)
        lines.append('{"%s",\n %s},' % (spec, numbers(weights)))
    write("golden_optimizers.h", lines + ["};"])


# --- schedules -----------------------------------------------------------------------------------

def warm(steps):
    return lambda opt: lr_scheduler.LinearLR(opt, start_factor=1.0 / steps, total_iters=steps - 1)


def multi_step(epochs, per_epoch, factor=0.1):
    return lambda opt: lr_scheduler.MultiStepLR(opt, [e * per_epoch for e in epochs], factor)


def cosine(total, low=0.0):
    return lambda opt: lr_scheduler.CosineAnnealingLR(opt, total, low)


def one_cycle(total, lr, **more):
    more.setdefault("cycle_momentum", False)
    return lambda opt: lr_scheduler.OneCycleLR(opt, lr, total_steps=total, **more)


def inverse(decay):
    return lambda opt: lr_scheduler.LambdaLR(opt, lambda t: 1.0 / (1.0 + decay * t))


# spec, rate, steps per epoch, epochs, PyTorch's schedulers (multiplied)
SCHEDULES = [
    ("constant", 0.1, 3, 2, []),
    ("step:2,5", 0.5, 3, 7, [multi_step([2, 5], 3)]),
    ("step:1,2,factor=0.5", 0.1, 4, 4, [multi_step([1, 2], 4, 0.5)]),
    ("step:0,1", 0.1, 2, 2, [multi_step([0, 1], 2)]),
    ("cosine", 0.1, 5, 4, [cosine(20)]),
    ("cosine:0.01", 0.1, 3, 3, [cosine(9, 0.01)]),
    ("cosine:min=0.01", 0.1, 3, 3, [cosine(9, 0.01)]),
    ("onecycle", 0.4, 5, 6, [one_cycle(30, 0.4)]),
    ("onecycle:rise=0.5,start=10,end=100", 0.4, 4, 4,
     [one_cycle(16, 0.4, pct_start=0.5, div_factor=10, final_div_factor=100)]),
    ("onecycle:linear=1", 1.0, 7, 3, [one_cycle(21, 1.0, anneal_strategy="linear")]),
    ("onecycle:momentum=1", 1.0, 5, 4, [one_cycle(20, 1.0, cycle_momentum=True)]),
    ("onecycle:momentum=1,low=0.5,high=0.9,linear=1", 1.0, 5, 4,
     [one_cycle(20, 1.0, cycle_momentum=True, base_momentum=0.5, max_momentum=0.9,
                anneal_strategy="linear")]),
    ("inverse:1e-2", 0.1, 5, 3, [inverse(0.01)]),
    ("inverse:decay=0.5", 0.1, 5, 3, [inverse(0.5)]),
    ("warmup:2+constant", 0.1, 4, 4, [warm(8)]),
    ("warmup:0.5+cosine", 0.1, 8, 3, [warm(4), cosine(24)]),
    ("warmup:1+step:2,3", 0.1, 3, 5, [warm(3), multi_step([2, 3], 3)]),
    ("warmup:epochs=1e+0+inverse:0.1", 0.1, 3, 4, [warm(3), inverse(0.1)]),
]

# spec, rate, per epoch: the value reported; ReduceLROnPlateau's options
PLATEAUS = [
    ("plateau", [1.0, 0.9] + [0.9] * 24 + [0.5, 0.5], {}),
    ("plateau:0.5,1", [3, 2, 2.5, 2.1, 1.9999, 2, 2, 1, 1.5, 1.2, 1.1, 1.0, 0.9], dict(factor=0.5, patience=1)),
    ("plateau:factor=0.5,patience=0,cooldown=2", [1, 1, 1, 1, 1, 1, 1, 0.5, 0.6, 0.7, 0.7, 0.7],
     dict(factor=0.5, patience=0, cooldown=2)),
    ("plateau:0.1,0,max=1,threshold=0.01", [0.5, 0.6, 0.601, 0.7, 0.706, 0.8, 0.8, 0.9],
     dict(patience=0, mode="max", threshold=0.01)),
    ("plateau:0.1,0,min=0.004", [1, 1, 1, 1, 1], dict(patience=0, min_lr=0.004)),
    ("plateau:0.5,1", [1, float("nan"), 1, float("nan"), 0.5, 0.6, 0.7], dict(factor=0.5, patience=1)),
]


def run_of(lr, schedulers, total):
    """Rates and momenta of `total` steps."""
    rates, momenta = np.ones(total), np.full(total, np.nan)
    for make in schedulers or [lambda opt: lr_scheduler.LambdaLR(opt, lambda t: 1.0)]:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr, momentum=0.9)
        scheduler = make(optimizer)
        moves = getattr(scheduler, "cycle_momentum", False)
        for t in range(total):
            rates[t] *= optimizer.param_groups[0]["lr"] / lr
            if moves:
                momenta[t] = optimizer.param_groups[0]["momentum"]
            optimizer.step()
            if t + 1 < total:
                scheduler.step()
    return rates * lr, momenta


def watched(values, options):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    rates = []
    for value in values:
        scheduler.step(value)
        rates.append(optimizer.param_groups[0]["lr"])
    return rates


def c_numbers(values):
    return numbers(values).replace("nan", "NAN")


def make_schedules():
    most = max(per_epoch * epochs for _, _, per_epoch, epochs, _ in SCHEDULES)
    lines = ["static const struct {", "    const char *spec;", "    double lr;",
             "    int64_t steps_per_epoch, epochs;",
             "    double rates[%d], momenta[%d]; /* of each step; NAN: not moved */" % (most, most),
             "} golden_schedules[] = {"]
    for spec, lr, per_epoch, epochs, schedulers in SCHEDULES:
        rates, momenta = run_of(lr, schedulers, per_epoch * epochs)
        lines.append('{"%s", %g, %d, %d,\n %s,\n %s},'
                     % (spec, lr, per_epoch, epochs, numbers(rates), c_numbers(momenta)))
    most = max(len(values) for _, values, _ in PLATEAUS)
    lines += ["};", "static const struct {", "    const char *spec;", "    int epochs;",
              "    double values[%d], rates[%d]; /* what is reported, and the rate after it */"
              % (most, most), "} golden_plateaus[] = {"]
    for spec, values, options in PLATEAUS:
        lines.append('{"%s", %d,\n %s,\n %s},'
                     % (spec, len(values), c_numbers(values), numbers(watched(values, options))))
    write("golden_schedules.h", lines + ["};"])


# --- losses --------------------------------------------------------------------------------------

CLASSES = 5


def loss_of(spec, probabilities, scores, target):
    if spec.startswith("cross-entropy"):
        smoothing = float(spec.split("=")[1]) if "=" in spec else 0.0
        if not probabilities:
            return F.cross_entropy(scores, target, label_smoothing=smoothing)
        if target.dtype == torch.int64:
            target = F.one_hot(target, CLASSES).double()
        target = target * (1 - smoothing) + smoothing / CLASSES
        return -(target * torch.log(scores)).sum()
    if target.dtype == torch.int64:
        target = F.one_hot(target, CLASSES).double()
    if not probabilities and spec == "mse":
        scores = torch.softmax(scores, 1)
    return F.mse_loss(scores, target)


def make_losses():
    rng = np.random.RandomState(5)
    logits = [("random", rng.randn(CLASSES)), ("wide", 10 * rng.randn(CLASSES)),
              ("equal", np.zeros(CLASSES)), ("large", [1000, 1000, 999, 998, 0]),
              ("sure", [30, 0, 1, -2, 3]), ("very sure", [100, 0, 0, 0, 0]),
              ("extreme", [3e4, -3e4, 0, 1, 2]), ("impossible", [1, 2, -np.inf, 0, 0])]
    soft = rng.dirichlet(np.ones(CLASSES), 2)
    probs = rng.dirichlet(np.ones(CLASSES), 2)
    sparse = [0.25, 0.75, 0, 0, 0]
    rows = []
    for spec in ("cross-entropy", "cross-entropy:smoothing=0.1", "mse", "mse:softmax=0"):
        for name, z in logits:
            if name == "impossible" and spec in ("cross-entropy:smoothing=0.1", "mse:softmax=0"):
                continue  # infinite, by right
            for label in (0, 1):
                rows.append((spec, False, name, z, label, None))
            if name != "impossible":
                rows.append((spec, False, name + ", soft", z, -1, soft[0]))
                rows.append((spec, False, name + ", one-hot", z, -1, [1, 0, 0, 0, 0]))
            rows.append((spec, False, name + ", sparse", z, -1, sparse))
        for i, p in enumerate(probs):
            rows.append((spec, True, "probabilities", p, i, None))
            rows.append((spec, True, "probabilities, soft", p, -1, soft[1]))
    # targets need not sum to one
    rows.append(("cross-entropy", False, "heavy", logits[0][1], -1, [1, 2, 0.5, 0, 0]))
    rows.append(("cross-entropy:smoothing=0.2", False, "heavy", logits[0][1], -1, [1, 2, 0.5, 0, 0]))
    rows.append(("mse", False, "heavy", logits[0][1], -1, [1, 2, 0.5, 0, 0]))
    lines = ["enum { GOLDEN_CLASSES = %d };" % CLASSES, "static const struct {",
             "    const char *spec, *name;", "    bool probabilities;",
             "    float scores[GOLDEN_CLASSES];", "    int label; /* -1: the target */",
             "    float target[GOLDEN_CLASSES];", "    double loss, gradient[GOLDEN_CLASSES];",
             "} golden_losses[] = {"]
    for spec, probabilities, name, z, label, target in rows:
        scores = torch.tensor(single(z)[None], requires_grad=True)
        goal = torch.tensor([label]) if target is None else torch.tensor(single(target)[None])
        loss = loss_of(spec, probabilities, scores, goal)
        if target is not None and name.startswith("impossible"):  # PyTorch: 0 * inf
            kept = [c for c in range(CLASSES) if np.isfinite(z[c])]
            scores = torch.tensor(single(z)[None][:, kept], requires_grad=True)
            goal = torch.tensor(single(target)[None][:, kept])
            loss = F.cross_entropy(scores, goal) if spec == "cross-entropy" else \
                F.mse_loss(torch.softmax(scores, 1), goal) * len(kept) / CLASSES
            gradient = np.zeros(CLASSES)
            gradient[kept] = torch.autograd.grad(loss, scores)[0].numpy()
        else:
            gradient = torch.autograd.grad(loss, scores)[0].numpy()
        lines.append('{"%s", "%s", %s, %s, %d, %s, %.17g,\n %s},'
                     % (spec, name, "true" if probabilities else "false",
                        numbers(single(z)).replace("inf", "INFINITY"), label,
                        numbers(single(target if target is not None else np.zeros(CLASSES))),
                        loss.item(), numbers(gradient)))
    write("golden_losses.h", lines + ["};"])


if __name__ == "__main__":
    make_optimizers()
    make_schedules()
    make_losses()
