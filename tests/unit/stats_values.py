#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The numbers that tests/unit/test_stats.c expects, computed in the most direct way: probabilities by integrating densities, exact
ranks by listing all orders, U by comparing all pairs. Run it by hand after a change of the samples."""

from collections import Counter
from itertools import combinations
from math import atan, cos, erfc, pi, sqrt

ADULTS = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4]
OTHERS = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5]


def student(t, df):
    """Student's density is that of cos(x)^(df - 1), x = atan(t / sqrt(df)): Simpson's rule."""
    def area(a, b, steps=200000):
        h = (b - a) / steps
        inner = sum((4 if i % 2 else 2) * cos(a + i * h) ** (df - 1) for i in range(1, steps))
        return (cos(a) ** (df - 1) + max(cos(b), 0) ** (df - 1) + inner) * h / 3
    return area(atan(abs(t) / sqrt(df)), pi / 2) / area(0, pi / 2)


def squares(values):
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values)


def welch(a, b):
    n, m = len(a), len(b)
    part_a, part_b = squares(a) / (n - 1) / n, squares(b) / (m - 1) / m
    df = (part_a + part_b) ** 2 / (part_a ** 2 / (n - 1) + part_b ** 2 / (m - 1))
    return student((sum(b) / m - sum(a) / n) / sqrt(part_a + part_b), df)


def one_more(a, value):
    n = len(a)
    return student((value - sum(a) / n) / sqrt(squares(a) / (n - 1) * (1 + 1 / n)), n - 1)


def ranks(a, b):
    u = sum((y > x) + .5 * (y == x) for x in a for y in b)
    n = len(a) + len(b)
    ties = sum(c ** 3 - c for c in Counter(a + b).values())
    variance = len(a) * len(b) / 12 * (n + 1 - ties / (n * (n - 1)))
    return u, erfc(max(0, abs(u - len(a) * len(b) / 2) - .5) / sqrt(variance) / sqrt(2))


def exact(n, m, u):
    def far(v):
        return min(v, n * m - v)
    orders = [sum(places) - n * (n - 1) // 2 for places in combinations(range(n + m), n)]
    return sum(far(v) <= far(u) for v in orders) / len(orders)


for t, df in (2.0, 3.7), (5.5, 8.25), (1.3, 40), (12, 4):
    print(f"student {t} {df}: {student(t, df):.12g}")
print(f"welch: {welch(ADULTS, OTHERS):.12g}")
print(f"one more: {one_more([1.0, 2.0, 4.0, 3.5, 2.5], 6.0):.12g}")
print("ties: %g %.12g" % ranks([1, 2, 2, 3, 5, 5, 7], [2, 4, 5, 6, 7, 8, 9, 9, 9]))
for n, m, u in (6, 6, 11), (5, 7, 4), (5, 5, 2), (5, 5, 3), (3, 9, 2):
    print(f"exact {n} {m} {u}: {exact(n, m, u):.12g}")
