"""The formulas of the optimisers for one number, in plain Python, written from the papers: the reference of the tests."""

from __future__ import annotations

from math import sqrt


def sgd(p, gradients, rate, momentum=0.0, nesterov=False, weight_decay=0.0, dampening=0.0):
    buffer, path = None, []
    for g in gradients:
        g = g + weight_decay * p
        buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
        p = p - rate * (g + momentum * buffer if nesterov else buffer if momentum else g)
        path.append(p)
    return path


def adagrad(p, gradients, rate, rate_decay=0.0, initial_accumulator=0.0, eps=1e-10, weight_decay=0.0):
    total, path = initial_accumulator, []
    for n, g in enumerate(gradients):
        g = g + weight_decay * p
        total = total + g * g
        p = p - rate / (1 + n * rate_decay) * g / (sqrt(total) + eps)
        path.append(p)
    return path


def adadelta(p, gradients, rate=1.0, rho=0.9, eps=1e-6, weight_decay=0.0):
    square = delta_square = 0.0
    path = []
    for g in gradients:
        g = g + weight_decay * p
        square = rho * square + (1 - rho) * g * g
        delta = sqrt(delta_square + eps) / sqrt(square + eps) * g
        delta_square = rho * delta_square + (1 - rho) * delta * delta
        p = p - rate * delta
        path.append(p)
    return path


def rmsprop(p, gradients, rate, alpha=0.99, eps=1e-8, momentum=0.0, centered=False, weight_decay=0.0):
    square = mean = buffer = 0.0
    path = []
    for g in gradients:
        g = g + weight_decay * p
        square = alpha * square + (1 - alpha) * g * g
        mean = alpha * mean + (1 - alpha) * g if centered else 0.0
        buffer = momentum * buffer + g / (sqrt(square - mean * mean) + eps)
        p = p - rate * buffer
        path.append(p)
    return path


def adam(p, gradients, rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    mean = square = 0.0
    path = []
    for t, g in enumerate(gradients, start=1):
        if decoupled:
            p = p - rate * weight_decay * p
        else:
            g = g + weight_decay * p
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g * g
        p = p - rate * (mean / (1 - betas[0] ** t)) / (sqrt(square / (1 - betas[1] ** t)) + eps)
        path.append(p)
    return path


def adamw(p, gradients, rate, weight_decay=1e-2, **settings):
    return adam(p, gradients, rate, weight_decay=weight_decay, decoupled=True, **settings)


def adamax(p, gradients, rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    mean = largest = 0.0
    path = []
    for t, g in enumerate(gradients, start=1):
        g = g + weight_decay * p
        mean = betas[0] * mean + (1 - betas[0]) * g
        largest = max(betas[1] * largest, abs(g) + eps)
        p = p - rate / (1 - betas[0] ** t) * mean / largest
        path.append(p)
    return path


def nadam(p, gradients, rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
    mean = square = 0.0
    product, path = 1.0, []
    for t, g in enumerate(gradients, start=1):
        g = g + weight_decay * p
        now = betas[0] * (1 - 0.5 * 0.96 ** (t * momentum_decay))
        then = betas[0] * (1 - 0.5 * 0.96 ** ((t + 1) * momentum_decay))
        product *= now
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g * g
        ahead = (1 - now) / (1 - product) * g + then / (1 - product * then) * mean
        p = p - rate * ahead / (sqrt(square / (1 - betas[1] ** t)) + eps)
        path.append(p)
    return path


def lion(p, gradients, rate, betas=(0.9, 0.99), weight_decay=0.0):
    mean, path = 0.0, []
    for g in gradients:
        direction = betas[0] * mean + (1 - betas[0]) * g
        sign = (direction > 0) - (direction < 0)
        p = p - rate * (sign + weight_decay * p)
        mean = betas[1] * mean + (1 - betas[1]) * g
        path.append(p)
    return path
