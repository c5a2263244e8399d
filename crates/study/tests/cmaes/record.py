"""Records generations of CMA-ES as the package `cmaes` (0.13.1, by CyberAgent) updates them; the tests of the sampler read them.

record.py > updates.json          needs `pip install cmaes==0.13.1`
"""

import json
import sys

import numpy as np
from cmaes import CMA

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


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case(*settings)) for settings in CASES)
    sys.stdout.write(f"[\n{lines}\n]\n")
