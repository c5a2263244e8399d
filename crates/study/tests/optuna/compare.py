"""The samplers beside Optuna's on the toy problems of tests/problems.

    pip install optuna cmaes scipy
    python compare.py run FIRST_SEED SEEDS [PROBLEM[:SAMPLER] ...]
                                         runs Optuna and prints lines as the example `toy` does
    python compare.py record < LINES     puts such lines into results.json
    cargo run --release -p study --example toy | python compare.py [LINES]
                                         prints both sides, mean ± deviation, and how likely ours is that much worse
                                         by chance (p, Mann-Whitney U); Optuna's are those of results.json or a file

All problems take Optuna one to two minutes a seed, half of it the four with `_long` in their names: no test runs these, and
their results are recorded all the same. Scores are best losses or minus hypervolumes: less is better on both sides. `tpe`
on a conditional space is compared with Optuna's default and with its joint model of groups, `cmaes` on integers with its
default and with margin.
"""

import json
import sys
import warnings
from pathlib import Path

from problems import PROBLEMS

RESULTS = Path(__file__).with_name("results.json")


def sampler(name, seed):
    import optuna

    makers = {
        "random": optuna.samplers.RandomSampler,
        "qmc": lambda seed: optuna.samplers.QMCSampler(seed=seed, scramble=True),
        "tpe": optuna.samplers.TPESampler,
        "tpe_group": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True),
        "cmaes": optuna.samplers.CmaEsSampler,
        "cmaes_margin": lambda seed: optuna.samplers.CmaEsSampler(seed=seed, with_margin=True),
        "nsgaii": optuna.samplers.NSGAIISampler,
        "nsgaiii": optuna.samplers.NSGAIIISampler,
    }
    return makers[name](seed=seed)


def hypervolume(points, reference):
    import numpy as np
    from optuna._hypervolume import compute_hypervolume

    inside = [p for p in points if all(a < b for a, b in zip(p, reference))]
    return compute_hypervolume(np.array(inside), np.array(reference)) if inside else 0.0


def scores(problem, name, seed):
    """The score of one run after each budget."""
    import optuna

    study = optuna.create_study(
        sampler=sampler(name, seed), directions=["minimize"] * max(1, len(problem.reference))
    )
    feasible, scores = [], []
    for number in range(1, problem.budgets[-1] + 1):
        trial = study.ask()
        x = problem.space(trial)
        values, over = problem.values(x), problem.excess(x) if problem.excess else 0.0
        if problem.excess:
            trial.set_constraint("budget", over)
        study.tell(trial, values)
        if over <= 0:
            feasible.append(values)
        if number in problem.budgets and problem.reference:
            scores.append(-hypervolume(feasible, problem.reference))
        elif number in problem.budgets:
            scores.append(min((values[0] for values in feasible), default=100.0))
    return scores


def run(first, seeds, wanted):
    import optuna

    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for problem, entry in PROBLEMS.items():
        for name in entry.samplers:
            if wanted and not {problem, f"{problem}:{name}"} & set(wanted):
                continue
            runs = [scores(entry, name, seed) for seed in range(first, first + seeds)]
            for trials, of_budget in zip(entry.budgets, zip(*runs)):
                rounded = [float(f"{score:.7g}") for score in of_budget]
                line = {"problem": problem, "sampler": name, "trials": trials, "scores": rounded}
                print(json.dumps(line), flush=True)


def table(lines):
    """Scores by problem, sampler and budget."""
    nested = {}
    for line in map(json.loads, lines):
        nested.setdefault(line["problem"], {}).setdefault(line["sampler"], {})[str(line["trials"])] = line["scores"]
    return nested


def record():
    from importlib.metadata import version

    results = json.loads(RESULTS.read_text())
    for problem, samplers in table(sys.stdin).items():
        results["scores"].setdefault(problem, {}).update(samplers)
    results["optuna"] = version("optuna")
    RESULTS.write_text(json.dumps(results, separators=(",", ":")).replace('],"', '],\n"') + "\n")


def compare(path):
    from statistics import mean, stdev

    from scipy.stats import mannwhitneyu

    recorded = table(open(path)) if path else json.loads(RESULTS.read_text())["scores"]
    print("| problem | Optuna's sampler | trials | ours | Optuna | p |\n|---|---|---|---|---|---|")
    for line in sys.stdin:
        run = json.loads(line)
        for name, budgets in recorded.get(run["problem"], {}).items():
            if name.split("_")[0] != run["sampler"]:
                continue
            ours, theirs = run["scores"], budgets[str(run["trials"])]
            p = mannwhitneyu(ours, theirs, alternative="greater").pvalue
            sides = " | ".join(f"{mean(scores):.4g} ± {stdev(scores):.2g}" for scores in (ours, theirs))
            print(f"| {run['problem']} | {name} | {run['trials']} | {sides} | {p:.3f} |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", first, seeds, *wanted]:
            run(int(first), int(seeds), wanted)
        case ["record"]:
            record()
        case [] | [_]:
            compare(*sys.argv[1:] or [None])
        case _:
            sys.exit(__doc__)
