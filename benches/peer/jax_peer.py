"""JAX's side of the benchmark of training.

Reads requests from standard input, one a line, and answers each with CPU and wall seconds of one repetition:
  train NET ROWS STEPS   one Adam step on a batch; all steps are one compiled scan over different batches
  losses NET ROWS STEPS  no times but the losses of the first and of the last step

Compiling is not counted. Of the usual ways to write a convolution and a pool, those that were fastest on CPUs are taken:
channels first, and a pool as the maximum over a reshaped image.
"""
import os
import sys
import time

THREADS = int(sys.argv[1])
# XLA takes as many threads as the process may run on; both must be set before it is loaded.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
os.environ["XLA_FLAGS"] = (
    f"--xla_cpu_multi_thread_eigen={'true' if THREADS > 1 else 'false'} intra_op_parallelism_threads={THREADS}"
)
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import networks
import numpy as np
from jax import lax

BATCHES = 16


class Builder:
    """Runs a network on arrays. Without parameters it makes them, with them it takes them in the same order."""

    def __init__(self, parameters=None, statistics=None, key=None):
        self.making = parameters is None
        self.parameters = [] if self.making else list(parameters)
        self.statistics = [] if self.making else list(statistics)
        self.key, self.random, self.at, self.norms = key, np.random.default_rng(0), 0, 0

    def parameter(self, make):
        if self.making:
            self.parameters.append(jnp.asarray(make(), jnp.float32))
        self.at += 1
        return self.parameters[self.at - 1]

    def uniform(self, fan_in, *shape):
        return self.parameter(lambda: self.random.uniform(-(fan_in**-0.5), fan_in**-0.5, shape))

    def scale_and_shift(self, n):
        return self.parameter(lambda: np.ones(n)), self.parameter(lambda: np.zeros(n))

    def conv(self, x, i, o, kernel, stride, padding, bias=False):
        fan_in = i * kernel**2
        weight = self.uniform(fan_in, o, i, kernel, kernel)
        y = lax.conv_general_dilated(x, weight, [stride] * 2, [(padding, padding)] * 2)
        return y + self.uniform(fan_in, o, 1, 1) if bias else y

    def norm(self, x, n):
        """Batch norm of rows, with running statistics."""
        scale, shift = self.scale_and_shift(n)
        mean, variance = x.mean(0), x.var(0)
        if self.making:
            self.statistics.append((jnp.zeros(n), jnp.ones(n)))
        old_mean, old_variance = self.statistics[self.norms]
        unbiased = variance * (len(x) / max(len(x) - 1, 1))
        self.statistics[self.norms] = 0.9 * old_mean + 0.1 * mean, 0.9 * old_variance + 0.1 * unbiased
        self.norms += 1
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift

    def relu(self, x):
        return jax.nn.relu(x)

    def max_pool(self, x, kernel, stride, padding):
        assert kernel == stride and padding == 0, "windows of a pool do not overlap"
        n, c, h, w = x.shape
        return x.reshape(n, c, h // kernel, kernel, w // kernel, kernel).max((3, 5))

    def flatten(self, x):
        return x.reshape(len(x), -1)

    def linear(self, x, i, o):
        return x @ self.uniform(i, i, o) + self.uniform(i, o)

    dense = linear

    def add(self, a, b):
        return a + b

    def embedding(self, x, words, width):
        return self.parameter(lambda: self.random.normal(size=(words, width)))[x]

    def positions(self, stored, length, width):
        return self.parameter(lambda: self.random.normal(size=(stored, width)) * 0.02)[:length]

    def layer_norm(self, x, n, eps):
        scale, shift = self.scale_and_shift(n)
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + eps) * scale + shift

    def split(self, x, parts):
        return jnp.split(x, parts, -1)

    def mask(self, x, length):
        """0 where a position is seen, the smallest float where it is not, for all heads and positions."""
        return (x[:, None, None, :] - 1) * jnp.finfo(jnp.float32).max

    def attention(self, q, k, v, sizes, mask=None, p=0.0):
        """Attention of heads; causal without a mask."""
        length, width, heads = sizes
        q, k, v = (x.reshape(-1, length, heads, width // heads).transpose(0, 2, 1, 3) for x in (q, k, v))
        scores = q @ k.swapaxes(-1, -2) * (width // heads) ** -0.5
        causal = np.tril(np.ones((length, length), bool))
        scores = jnp.where(causal, scores, -jnp.inf) if mask is None else scores + mask
        y = self.dropout(jax.nn.softmax(scores), p) @ v
        return y.transpose(0, 2, 1, 3).reshape(-1, length, width)

    def gelu(self, x):
        return jax.nn.gelu(x, approximate=False)

    def tanh(self, x):
        return jnp.tanh(x)

    def first(self, x):
        return x[:, 0]

    def dropout(self, x, p):
        if self.making or p == 0:
            return x
        self.key, key = jax.random.split(self.key)
        return jnp.where(jax.random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0)


def adam(parameter, gradient, m, v, t):
    m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
    update = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return parameter - 1e-3 * update, m, v


def scanned(network, steps):
    """A compiled function that trains for this many steps and returns the new state and all losses."""

    def loss(parameters, statistics, key, inputs, labels):
        builder = Builder(parameters, statistics, key)
        logits = network(builder, *inputs)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
        return -chosen.mean(), builder.statistics

    def run(state, data):
        def step(state, at):
            parameters, statistics, moments, t, key = state
            key, now = jax.random.split(key)
            inputs, labels = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, at, keepdims=False), data)
            (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(parameters, statistics, now, inputs, labels)
            new = [adam(p, g, m, v, t + 1) for p, g, (m, v) in zip(parameters, gradients, moments)]
            state = [p for p, _, _ in new], statistics, [(m, v) for _, m, v in new], t + 1, key
            return state, value

        return lax.scan(step, state, jnp.arange(steps) % BATCHES)

    return jax.jit(run, donate_argnums=0)


cache = {}


def prepared(name, rows, steps):
    """The compiled steps, the state and the data of a network, compiled and run once."""
    if (name, rows, steps) not in cache:
        network, inputs = networks.parse(name)
        random = np.random.default_rng(0)
        batches = [networks.batch(inputs, rows, random) for _ in range(BATCHES)]
        arrays = [jnp.asarray(np.stack(each)) for each in zip(*batches)]
        builder = Builder()
        logits = network(builder, *(each[0] for each in arrays))
        labels = jnp.asarray(random.integers(0, logits.shape[-1], (BATCHES, *logits.shape[:-1])))
        moments = [(jnp.zeros_like(p), jnp.zeros_like(p)) for p in builder.parameters]
        state = builder.parameters, builder.statistics, moments, jnp.float32(0), jax.random.key(0)
        run = scanned(network, steps)
        state, losses = jax.block_until_ready(run(state, (arrays, labels)))
        cache[name, rows, steps] = run, state, (arrays, labels), losses
    return cache[name, rows, steps]


def train(name, rows, steps):
    run, state, data, _ = prepared(name, rows, steps)
    cpu, wall = time.process_time(), time.perf_counter()
    state, losses = jax.block_until_ready(run(state, data))
    print((time.process_time() - cpu) / steps, (time.perf_counter() - wall) / steps, flush=True)
    cache[name, rows, steps] = run, state, data, losses


for line in sys.stdin:
    match line.split():
        case ["train", name, rows, steps]:
            train(name, int(rows), int(steps))
        case ["losses", name, rows, steps]:
            losses = prepared(name, int(rows), int(steps))[-1]
            print(losses[0], losses[-1], flush=True)
        case other:
            raise SystemExit(f"unknown request {other}")
