"""What rounding a vector to bytes loses is bounded, so that nothing near is left out by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lila_app.storage import coarse, matrix

DIMENSIONS = st.sampled_from([1, 2, 3, 7, 31, 33, 64, 383, 384, 1_024, 3_072])


@st.composite
def rows(draw: st.DrawFn) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit rows and a query of the same dimension: noise, spikes, near-copies, zeros."""
    size = draw(DIMENSIONS)
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    query = chance.standard_normal(size)
    made = [chance.standard_normal(size) * chance.random(size) ** draw(st.integers(0, 30))]
    made += [
        query + 0.01 * chance.standard_normal(size),
        -query,
        np.zeros(size),
        np.eye(1, size)[0],
    ]
    whole = np.stack([query, *made]).astype(np.float32)
    units = matrix.unit(whole)
    return units[1:], units[0]


def exact_cosine(one: NDArray[np.int16], other: NDArray[np.int16]) -> float:
    """By Python's own integers."""
    a, b = one.tolist(), other.tolist()
    size = sum(x * x for x in a) * sum(x * x for x in b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / size**0.5 if size else 0.0


@settings(max_examples=200)
@given(rows())
def test_a_cosine_is_never_further_from_the_product_of_bytes_than_is_said(
    given_rows: tuple[NDArray[np.float32], NDArray[np.float32]],
) -> None:
    units, one = matrix.quantise(given_rows[0]), matrix.quantise(given_rows[1])
    about, off = coarse.products(coarse.coarse(units), one)
    cosines = [exact_cosine(row, one) for row in units]
    assert about.dtype == off.dtype == np.float32
    # A basis point is what rounding a score takes.
    assert all(abs(c - a) + 1e-4 <= o for c, a, o in zip(cosines, about, off, strict=True))


def test_the_bound_of_an_embedding_is_worth_having() -> None:
    chance = np.random.default_rng(1)
    units = matrix.unit(chance.standard_normal((200, 384)).astype(np.float32))
    _, off = coarse.products(coarse.coarse(matrix.quantise(units)), matrix.quantise(units[0]))
    assert float(off.max()) < 0.02


@pytest.mark.parametrize("size", [1, 5, 32, 384, 1_041, 4_096])
def test_products_of_bytes_are_those_of_integers_also_at_their_largest(size: int) -> None:
    import numkong

    chance = np.random.default_rng(size)
    held = chance.integers(-127, 128, (50, size), dtype=np.int8)
    held[0], held[1] = 127, -127
    query = np.full((1, size), 127, np.int8)
    found = np.asarray(numkong.cdist(query, held, metric="dot", out_dtype="float32")).reshape(-1)
    wanted = [sum(int(x) * 127 for x in row) for row in held]
    assert found.tolist() == [float(np.float32(one)) for one in wanted]


def test_no_rows_have_no_products() -> None:
    nothing = coarse.coarse(np.empty((0, 8), np.int16))
    about, off = coarse.products(nothing, np.ones(8, np.int16))
    assert (about.shape, off.shape) == ((0,), (0,))
