"""The samplers beside Optuna's on the toy problems of tests/problems/mod.rs.

    pip install optuna cmaes scipy
    python compare.py record [SEEDS]     runs Optuna and writes results.json
    cargo run --release -p search --example toy | python compare.py
                                         prints both sides, and how likely ours is worse by chance (Mann-Whitney U)

Scores are best losses, or minus hypervolumes: less is better on both sides.
"""

import json
import math
import sys
import warnings
from pathlib import Path

RESULTS = Path(__file__).with_name("results.json")


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


def zdt1(x):
    g = 1 + 9 * sum(x[1:]) / 7
    return [x[0], g * (1 - math.sqrt(x[0] / g))]


def rosenbrock(x):
    return [sum(20 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))]


ORDERED = ["random", "qmc", "tpe", "cmaes", "nsgaii", "nsgaiii"]
ANY = ["random", "qmc", "tpe", "nsgaii", "nsgaiii"]
# name: trials, samplers, space, values, excess of the constraint, reference of the hypervolume
PROBLEMS = {
    "sphere": (120, ORDERED, floats(5, -5, 5), lambda x: [sum((v - 1.3) ** 2 for v in x)], None, None),
    "rosenbrock": (120, ORDERED, floats(4, -2, 2), rosenbrock, None, None),
    "integers": (120, ORDERED, integers_space, integers, None, None),
    "mixed": (120, ANY, mixed_space, mixed, None, None),
    "bit_budget": (120, ANY, choices(10, 4), lambda x: [precision_loss(x)], lambda x: average_bits(x) - 4, None),
    "zdt1": (250, ANY, floats(8, 0, 1), zdt1, None, (1.1, 7.0)),
    "accuracy_bits": (250, ANY, choices(10, 4), lambda x: [precision_loss(x), average_bits(x)], None, (2.5, 8.5)),
}


def sampler(name, seed):
    import optuna

    makers = {
        "random": optuna.samplers.RandomSampler,
        "qmc": lambda seed: optuna.samplers.QMCSampler(seed=seed, scramble=True),
        "tpe": optuna.samplers.TPESampler,
        "cmaes": optuna.samplers.CmaEsSampler,
        "nsgaii": optuna.samplers.NSGAIISampler,
        "nsgaiii": optuna.samplers.NSGAIIISampler,
    }
    return makers[name](seed=seed)


def hypervolume(points, reference):
    area, ceiling = 0.0, reference[1]
    for a, b in sorted(p for p in points if p[0] < reference[0]):
        if b < ceiling:
            area += (reference[0] - a) * (ceiling - b)
            ceiling = b
    return area


def score(problem, name, seed):
    import optuna

    trials, _, space, values, excess, reference = PROBLEMS[problem]
    study = optuna.create_study(
        sampler=sampler(name, seed), directions=["minimize"] * (2 if reference else 1)
    )
    results = []
    for _ in range(trials):
        trial = study.ask()
        x = space(trial)
        outcome, over = values(x), excess(x) if excess else 0.0
        if excess:
            trial.set_constraint("budget", over)
        study.tell(trial, outcome)
        results.append((outcome, over))
    if reference:
        return -hypervolume([tuple(outcome) for outcome, _ in results], reference)
    return min((outcome[0] for outcome, over in results if over <= 0), default=100.0)


def record(seeds):
    import optuna

    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    results = {"optuna": optuna.__version__, "scores": {}}
    for problem, (_, samplers, *_) in PROBLEMS.items():
        results["scores"][problem] = {
            name: [round(score(problem, name, seed), 6) for seed in range(seeds)] for name in samplers
        }
        print(problem, file=sys.stderr, flush=True)
    RESULTS.write_text(json.dumps(results, separators=(",", ":")).replace('],"', '],\n"') + "\n")


def compare():
    from statistics import mean, stdev

    from scipy.stats import mannwhitneyu

    recorded = json.loads(RESULTS.read_text())
    print(f"{'problem':14} {'sampler':8} {'ours':>18} {'optuna ' + recorded['optuna']:>18}  p(ours worse)")
    for line in sys.stdin:
        run = json.loads(line)
        ours, theirs = run["scores"], recorded["scores"][run["problem"]][run["sampler"]]
        p = mannwhitneyu(ours, theirs, alternative="greater").pvalue
        sides = " ".join(f"{mean(s):9.4f} ± {stdev(s):6.4f}" for s in (ours, theirs))
        print(f"{run['problem']:14} {run['sampler']:8} {sides}  {p:.3f}{'  <-- worse' if p < 0.05 else ''}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        record(int(sys.argv[2]) if len(sys.argv) > 2 else 20)
    else:
        compare()
