"""The kernels printed in part 24 of the specification, word for word, against plain numpy."""

import numpy as np
import pytest

from reference import examples

RANDOM = np.random.default_rng(1)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n", [1, 63, 64, 127, 128, 129, 300, 4000])
def test_scale_add(n):
    x, y, o = floats(n), floats(n), np.zeros(n, np.float32)
    examples.scale_add.compile()[1, None](x, y, o, 2.5, n)
    np.testing.assert_array_equal(o, np.float32(2.5) * x + y)


def test_row_sum():
    x, o = floats(5, 200), np.zeros(5, np.float32)
    examples.row_sum.compile()[1, None](x, o, 5)
    np.testing.assert_allclose(o, x.astype(np.float64).sum(axis=1), atol=200 * 2.0 ** -24 * np.abs(x).sum(axis=1).max())


@pytest.mark.parametrize("n", [1, 255, 256, 300])
def test_to_u8(n):
    x, o = floats(n) * 200, np.zeros(n, np.uint8)
    examples.to_u8.compile()[1, None](x, o, n)
    np.testing.assert_array_equal(o, np.clip(np.rint(x), 0, 255).astype(np.uint8))


def test_ramp_select():
    o = np.zeros(300, np.float32)
    # The example stores without a mask, so its UB buffer must hold whole vectors; it does.
    examples.ramp_select.compile()[1, None](o, 300, 77)
    i = np.arange(300)
    np.testing.assert_array_equal(o, np.where(i < 77, i, -1).astype(np.float32))


def test_blur3():
    x, o = floats(302), np.zeros(300, np.float32)
    examples.blur3.compile()[1, None](x, o, 300)
    np.testing.assert_array_equal(o, (x[:300] + x[1:301] + x[2:]) * np.float32(1.0 / 3.0))


def test_table_lookup():
    index, table = RANDOM.integers(0, 1000, 300, dtype=np.uint32), floats(1000)
    o = np.zeros(300, np.float32)
    examples.table_lookup.compile()[1, None](index, table, o, 300, 1000)
    np.testing.assert_array_equal(o, table[index])


def test_stream_exp():
    x, o = floats(3 * 4096), np.zeros(3 * 4096, np.float32)
    examples.stream_exp.compile()[1, None](x, o, 3)
    np.testing.assert_allclose(o, np.exp(x.astype(np.float64)), rtol=2.0 ** -23)


def test_two_pass():
    x, o = floats(1024), np.zeros(1024, np.float32)
    examples.two_pass.compile()[1, None](x, o)
    expected = np.sqrt(np.abs(x)).reshape(16, 64)[::-1].reshape(-1)
    np.testing.assert_array_equal(o, expected)


def test_matmul_rows():
    a, b, o = floats(10, 32), floats(32, 128), np.zeros((10, 128), np.float32)
    examples.matmul_rows.compile()[1, None](a, b, o, 10)
    np.testing.assert_allclose(o, a.astype(np.float64) @ b, atol=1e-4)


def test_fp4_scale():
    x, o = RANDOM.integers(0, 256, 64, dtype=np.uint8), np.zeros(128, np.float32)
    examples.fp4_scale.compile()[1, None](x, o, 2.0, 64)
    positive = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    value = np.array(positive + [-v for v in positive], np.float32)
    np.testing.assert_array_equal(o, 2 * np.stack([value[x & 15], value[x >> 4]], axis=1).reshape(-1))
