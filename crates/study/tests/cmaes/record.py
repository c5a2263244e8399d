"""Records what the package `cmaes` (0.13.1, by CyberAgent) makes of generations and of margins; the tests of the sampler read it.

record.py updates > updates.json  needs `pip install cmaes==0.13.1`
record.py margins > margins.json
"""

import json
import sys

import numpy as np
from cmaes import CMA, CMAwM

# Seed, parameters, population (none: the default), and for every generation how far it is pulled along the first axis. A
# strong pull makes the evolution path too long for the rank-one update; the last two cases are just below and just above that.
CASES = [
    (0, 1, None, [0] * 4),
    (1, 3, None, [0] * 5),
    (2, 5, 20, [0] * 3),
    (3, 2, 6, [0, 0.7, 4, 0, 1.2, 2]),
    (4, 1, 100, [0] * 2),
    (5, 2, 51, [0, 1]),
    (100, 4, None, [1.66] * 2),
    (102, 4, None, [1.64] * 2),
]


def generation(optimizer, random, pull):
    deviations = random.standard_normal((optimizer.population_size, optimizer.dim))
    deviations[:, 0] = 0.3 * deviations[:, 0] + pull if pull else deviations[:, 0]
    places = np.round(optimizer._mean + optimizer._sigma * deviations, 6)
    optimizer.tell([(place, rank) for rank, place in enumerate(places)])
    return {
        "places": places.tolist(),
        "mean": optimizer._mean.tolist(),
        "sigma": float(optimizer._sigma),
        "path_sigma": optimizer._p_sigma.tolist(),
        "path_c": optimizer._pc.tolist(),
        "covariance": optimizer._C.tolist(),
    }


def case(seed, n, population, pulls):
    random = np.random.default_rng(seed)
    optimizer = CMA(mean=np.full(n, 0.5), sigma=1 / 6, population_size=population)
    steps = [generation(optimizer, random, pull) for pull in pulls]
    return {"parameters": n, "given": population, "population": optimizer.population_size, "generations": steps}


def margin(mean, deviation, widened, alpha):
    """Five values, 0 to 4: the margin of one axis, whose distribution the package is given as it is."""
    optimizer = CMAwM(mean=np.array([2.0]), sigma=1.0, bounds=np.array([[0, 4]]), steps=np.array([1.0]), margin=alpha)
    optimizer._cma._mean = np.array([mean])
    optimizer._cma._sigma, optimizer._A = deviation / widened, np.array([widened])
    optimizer._cma.tell = lambda solutions: None
    optimizer.tell([])
    limits = [float(optimizer.m_z_lim_low[0]), float(optimizer.m_z_lim_up[0])]
    before = {"mean": mean, "deviation": deviation, "margin": widened, "alpha": alpha, "limits": limits}
    after = {"mean": float(optimizer._cma._mean[0]), "margin": float(optimizer._A[0])}
    return {"before": before, "after": after}


def margins():
    means, deviations = [-0.3, 0.1, 0.4, 0.6, 1.2, 1.9, 2.45, 3.55, 4.2], [0.02, 0.15, 0.4, 1.0, 3.0]
    widths = [(1.0, 0.05), (1.0, 0.2), (2.5, 0.05)]
    return [margin(mean, deviation, *width) for mean in means for deviation in deviations for width in widths]


if __name__ == "__main__":
    records = margins() if sys.argv[1] == "margins" else [case(*settings) for settings in CASES]
    lines = ",\n".join(json.dumps(record) for record in records)
    sys.stdout.write(f"[\n{lines}\n]\n")
