"""The toy problems of tests/problems, for Optuna. Scores are best losses or minus hypervolumes: less is better."""

import math
from dataclasses import dataclass
from typing import Callable


@dataclass
class Problem:
    budgets: list  # numbers of trials after which a run is scored, ascending
    samplers: list
    space: Callable  # from a trial to its numbers
    values: Callable
    excess: Callable = None  # by how much a constraint is exceeded
    reference: tuple = ()  # of the hypervolume; empty where there is one objective


def floats(count, low, high):
    return lambda trial: [trial.suggest_float(f"x{k}", low, high) for k in range(count)]


def choices(count, n):
    return lambda trial: [trial.suggest_categorical(f"x{k}", list(range(n))) for k in range(count)]


def integers_space(trial):
    grid = [trial.suggest_int(f"x{k}", 0, 20) for k in range(4)]
    return [*grid, trial.suggest_float("x4", 1e-4, 1.0, log=True)]


def integers(x):
    grid = sum((a - b) ** 2 / 20.0 for a, b in zip(x, [3, 17, 10, 6]))
    return [grid + (math.log(x[4]) - math.log(0.02)) ** 2]


def integers_8_space(trial):
    grid = [trial.suggest_int(f"x{k}", -10, 10) for k in range(6)]
    return grid + [trial.suggest_float(f"x{k}", -10, 10) for k in (6, 7)]


def integers_8(x):
    return [sum(4 ** (k % 4) * (v - k + 4) ** 2 for k, v in enumerate(x)) + 0.5 * (sum(x) + 4) ** 2]


def mixed_space(trial):
    return [
        *choices(3, 5)(trial),
        trial.suggest_int("x3", 1, 10),
        trial.suggest_float("x4", 1e-4, 1.0, log=True),
        trial.suggest_float("x5", -1.0, 1.0),
    ]


def mixed(x):
    kinds = (x[0] + 2 * x[1] + 3 * x[2]) % 5
    pair = 0.0 if x[0] == x[1] else 0.7
    count = abs(x[3] - 4 - x[0]) * 0.2
    rate = (math.log10(x[4]) + 2 + 0.3 * x[1]) ** 2
    return [0.5 * kinds + pair + count + rate + (x[5] - 0.4) ** 2]


def precision_loss(x):
    return sum((0.05 + 0.1 * ((7 * k + 3) % 10)) * 0.35**c for k, c in enumerate(x))


def average_bits(x):
    sizes = [1 + (3 * k + 1) % 5 for k in range(len(x))]
    return sum(s * (2 + 2 * c) for s, c in zip(sizes, x)) / sum(sizes)


def accuracy_bits(x):
    return [precision_loss(x), average_bits(x)]


def accuracy_bits_time(x):
    return [*accuracy_bits(x), sum((1 + k % 3) / (4 - c) for k, c in enumerate(x))]


def zdt1(x):
    g = 1 + 9 * sum(x[1:]) / 7
    return [x[0], g * (1 - math.sqrt(x[0] / g))]


def dtlz2(x):
    g = 1 + sum((v - 0.5) ** 2 for v in x[2:])
    a, b = (v * math.pi / 2 for v in x[:2])
    return [g * math.cos(a) * math.cos(b), g * math.cos(a) * math.sin(b), g * math.sin(a)]


def sphere(x):
    return [sum((v - 1.3) ** 2 for v in x)]


def rosenbrock(steepness):
    return lambda x: [sum(steepness * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))]


def rastrigin(x):
    return [sum((v - 0.7) ** 2 + 10 - 10 * math.cos(2 * math.pi * (v - 0.7)) for v in x)]


def layers(trial):
    """For each of four layers a format and its two widths; no widths without a format."""
    x = []
    for at in range(0, 20, 5):
        format = trial.suggest_categorical(f"x{at}", [0, 1, 2])
        widths = [math.nan] * 4
        if format == 0:
            widths[:2] = trial.suggest_int(f"x{at + 1}", 2, 10), trial.suggest_int(f"x{at + 2}", 0, 9)
        elif format == 1:
            widths[2:] = trial.suggest_int(f"x{at + 3}", 3, 10), trial.suggest_int(f"x{at + 4}", 1, 5)
        x += [format, *widths]
    return x


def rounding_loss(x):
    loss = 0.0
    for k, sensitivity in enumerate([1.0, 0.3, 0.6, 0.1]):
        format, width, frac, mini_width, exponent = x[5 * k : 5 * k + 5]
        if format == 0:
            fine, beyond = frac, [1, 3, 2, 4][k] - (width - frac)
        elif format == 1:
            fine, beyond = mini_width - exponent, [2, 3, 4, 3][k] - exponent
        else:
            continue
        loss += sensitivity * (0.5**fine + 0.25 * max(beyond, 0))
    return loss


def bits(x):
    return sum({0: x[at + 1], 1: x[at + 3], 2: 16}[x[at]] for at in range(0, 20, 5)) / 4


def branches(trial):
    x = [math.nan] * 12
    x[0] = trial.suggest_categorical("x0", [0, 1, 2])
    if x[0] == 0:
        x[1] = trial.suggest_float("x1", 0, 1)
        x[2] = trial.suggest_categorical("x2", [0, 1])
        if x[2] == 0:
            x[3] = trial.suggest_float("x3", -1, 1)
        else:
            x[4] = trial.suggest_int("x4", 0, 20)
            x[5] = trial.suggest_categorical("x5", [0, 1, 2])
            if x[5] == 2:
                x[6] = trial.suggest_float("x6", -1, 1)
    elif x[0] == 1:
        x[7], x[8] = (trial.suggest_float(f"x{k}", -2, 2) for k in (7, 8))
    else:
        x[9] = trial.suggest_int("x9", 1, 30)
        x[10] = trial.suggest_float("x10", 0, 4)
    x[11] = trial.suggest_float("x11", -1, 1)
    return x


def branch_loss(x):
    if x[0] == 0:
        if x[2] == 0:
            deep = 0.3 + (x[3] + 0.2) ** 2
        elif x[5] == 2:
            deep = abs(x[4] - 13) / 10 + 2 * (x[6] - 0.5) ** 2
        else:
            deep = 0.1 + 0.2 * x[5] + abs(x[4] - 6) / 10
        branch = (x[1] - 0.7) ** 2 + deep
    elif x[0] == 1:
        branch = 0.2 + (x[8] - x[7] ** 2) ** 2 + 0.1 * (1 - x[7]) ** 2
    else:
        branch = 0.5 + math.log(x[9] / 8) ** 2 * 0.2 + 0.1 * (x[10] - 3) ** 2
    return branch + (x[11] - 0.3) ** 2


def branch_cost(x):
    if x[0] == 0:
        if x[2] == 0:
            deep = 0.3 + (x[3] - 0.6) ** 2
        elif x[5] == 2:
            deep = 0.8 + x[4] / 20 + (x[6] + 0.5) ** 2
        else:
            deep = 0.5 + x[4] / 20 - 0.1 * x[5]
        branch = x[1] + deep
    elif x[0] == 1:
        branch = 0.6 + 0.2 * (x[7] + 1) ** 2 + 0.1 * x[8] ** 2
    else:
        branch = 0.1 + x[9] / 10 + 0.2 * x[10]
    return branch + 0.5 * (x[11] + 0.3) ** 2


def srn(x):
    return [2 + (x[0] - 2) ** 2 + (x[1] - 1) ** 2, 9 * x[0] - (x[1] - 1) ** 2]


def srn_excess(x):
    return max(x[0] ** 2 + x[1] ** 2 - 225, 0) + max(x[0] - 3 * x[1] + 10, 0)


ORDERED = ["random", "qmc", "tpe", "cmaes", "nsgaii", "nsgaiii"]
ANY = ["random", "qmc", "tpe", "nsgaii", "nsgaiii"]
GROUPED = ["random", "tpe", "tpe_group", "nsgaii"]
FEW = ["random", "tpe", "nsgaii"]

SHORT = {
    "sphere": Problem([120], ORDERED, floats(5, -5, 5), sphere),
    "rosenbrock": Problem([120], ORDERED, floats(4, -2, 2), rosenbrock(20)),
    "integers": Problem([120], ORDERED, integers_space, integers),
    "mixed": Problem([120], ANY, mixed_space, mixed),
    "bit_budget": Problem(
        [120], ANY, choices(10, 4), lambda x: [precision_loss(x)], lambda x: average_bits(x) - 4
    ),
    "zdt1": Problem([250], ANY, floats(8, 0, 1), zdt1, None, (1.1, 7.0)),
    "accuracy_bits": Problem([250], ANY, choices(10, 4), accuracy_bits, None, (2.5, 8.5)),
    "bowl": Problem([64, 100], ["random", "qmc"], floats(3, -5, 5), sphere),
    "mixed_short": Problem([64, 100], ["random", "qmc"], mixed_space, mixed),
    # conditional
    "formats": Problem([60, 200], GROUPED, layers, lambda x: [rounding_loss(x) + 0.02 * bits(x)]),
    "formats_bits": Problem(
        [60, 200], GROUPED, layers, lambda x: [rounding_loss(x), bits(x)], None, (1.0, 16.0)
    ),
    "nested": Problem([60, 200], GROUPED, branches, lambda x: [branch_loss(x)]),
    "nested_cost": Problem(
        [60, 200], GROUPED, branches, lambda x: [branch_loss(x), branch_cost(x)], None, (3.0, 3.0)
    ),
    # constrained
    "ball": Problem(
        [60, 200],
        FEW,
        floats(4, -5, 5),
        lambda x: [sum((v - 2) ** 2 for v in x)],
        lambda x: sum(v * v for v in x) - 1,
    ),
    "format_budget": Problem(
        [60, 200], GROUPED, layers, lambda x: [rounding_loss(x)], lambda x: bits(x) - 5
    ),
    "srn": Problem([60, 200], FEW, floats(2, -20, 20), srn, srn_excess, (250.0, 50.0)),
    "format_limit": Problem(
        [60, 200],
        FEW,
        layers,
        lambda x: [rounding_loss(x), bits(x)],
        lambda x: rounding_loss(x) - 0.2,
        (0.25, 16.0),
    ),
    # large budgets
    "sphere_10": Problem([300, 1000], ["cmaes"], floats(10, -5, 5), sphere),
    "rosenbrock_5": Problem([300, 1000], ["cmaes"], floats(5, -2, 2), rosenbrock(100)),
    "rastrigin_5": Problem([300, 1000], ["cmaes"], floats(5, -5, 5), rastrigin),
    "rastrigin_10": Problem([300, 1000], ["cmaes"], floats(10, -5, 5), rastrigin),
    "integers_8": Problem([300, 1000], ["cmaes", "cmaes_margin"], integers_8_space, integers_8),
    "dtlz2": Problem(
        [250, 1000], ["nsgaii", "nsgaiii"], floats(7, 0, 1), dtlz2, None, (1.5, 1.5, 1.5)
    ),
    "accuracy_bits_time": Problem(
        [250, 1000], ["nsgaii", "nsgaiii"], choices(10, 4), accuracy_bits_time, None, (2.5, 8.5, 20.0)
    ),
}

LONG = {
    "rosenbrock_long": Problem([500, 1000], ["tpe"], floats(5, -2, 2), rosenbrock(100)),
    "mixed_long": Problem([500, 1000], ["tpe"], mixed_space, mixed),
    "zdt1_long": Problem([500], ["tpe"], floats(8, 0, 1), zdt1, None, (1.1, 7.0)),
    "accuracy_long": Problem([500], ["tpe"], choices(10, 4), accuracy_bits, None, (2.5, 8.5)),
}

PROBLEMS = SHORT | LONG
