"""The systolic array: the product itself, its cycles and loads, and pictures that show them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulessons.illustrations import systolic

few = st.integers(1, 7)


def whole_numbers(m, k, n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))


def in_blocks(x, y, rows):
    """The product by a loop: block sums of `rows` products, each from its first, then added up."""
    out = np.zeros((len(x), y.shape[1]), np.result_type(x, y))
    for i, j in np.ndindex(out.shape):
        for top in range(0, len(y), rows):
            partial = out.dtype.type(0)
            for k in range(top, min(top + rows, len(y))):
                partial = partial + x[i, k] * y[k, j]
            out[i, j] += partial
    return out


@given(few, few, few, few, few, st.integers(0, 99))
def test_the_result_is_the_product_whatever_the_shapes(m, k, n, rows, columns, seed):
    x, y = whole_numbers(m, k, n, seed)
    assert np.array_equal(systolic.simulate(x, y, rows, columns).product, x @ y)


@pytest.mark.parametrize("rows, columns", [(4, 4), (5, 3), (1, 1), (16, 16)])
def test_floats_are_those_of_a_loop_to_the_last_bit(rows, columns):
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((9, 11), np.float32), rng.standard_normal((11, 6), np.float32)
    product = systolic.simulate(x, y, rows, columns).product
    assert product.dtype == np.float32
    assert np.array_equal(product, in_blocks(x, y, rows))


@given(few, few, few, few, few)
def test_cycles_loads_and_multiplications_have_closed_forms(m, k, n, rows, columns):
    run = systolic.simulate(*whole_numbers(m, k, n), rows, columns)
    across, passes = -(-n // columns), -(-k // rows) * -(-n // columns)
    assert run.passes == passes
    assert run.cycles == passes * (m + rows + columns - 2)
    assert run.multiplications == m * k * n
    assert run.inputs == m * k * across  # each number of x once for every block of columns
    assert run.weights == k * n
    assert run.loads_per_multiply == pytest.approx(across / n + 1 / m)
    assert run.utilization == pytest.approx(m * k * n / (rows * columns * run.cycles))


def test_cells_are_busy_where_the_wave_has_come_and_only_there():
    m, rows, columns = 5, 3, 4
    x, y = whole_numbers(m, rows, columns)
    for cycle in systolic.one_pass(x, y, rows, columns):
        wave = cycle.number - np.add.outer(np.arange(rows), np.arange(columns))
        assert np.array_equal(cycle.busy, (wave >= 0) & (wave < m))
        r, c = np.nonzero(cycle.busy)
        assert np.array_equal(cycle.inputs[r, c], x[wave[r, c], r])


def test_a_number_that_is_not_finite_spoils_its_own_results_only():
    x, y = np.ones((3, 2)), np.ones((2, 3))
    y[1, 2] = np.inf
    product = systolic.simulate(x, y, 4, 4).product
    assert np.isinf(product[:, 2]).all() and (product[:, :2] == 2).all()


def test_one_row_leaves_nearly_all_cells_idle_and_many_rows_keep_them_busy():
    one, many = (systolic.simulate(*whole_numbers(m, 16, 16), 16, 16) for m in (1, 1000))
    assert one.utilization == pytest.approx(1 / 31)
    assert many.utilization > 0.97
    assert one.loads_per_multiply > 1 > 0.07 > many.loads_per_multiply


@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((0, 3), (3, 2))])
def test_shapes_without_a_product_are_refused_in_a_sentence(shapes):
    with pytest.raises(ValueError, match="have no product on 8 × 8 cells"):
        systolic.simulate(*map(np.zeros, shapes))


def test_a_run_reads_as_text_and_as_a_table():
    run = systolic.simulate(*whole_numbers(4, 3, 3), 3, 3)
    assert "4 × 3 by 3 × 3" in repr(run) and "3 × 3, in 1 pass" in repr(run)
    assert "12 inputs and 9 weights, 0.583 for each" in repr(run)
    assert "50.0%" in run._repr_html_() and run._repr_html_().startswith("<table><caption>")
    assert "in 2 passes" in repr(systolic.simulate(*whole_numbers(4, 3, 3), 2, 3))


# -- Pictures.


def words(axes):
    return [text.get_text() for text in axes.texts]


def test_every_cycle_is_drawn_with_what_it_multiplies_and_what_leaves():
    x, y = whole_numbers(4, 3, 3)
    film = systolic.Pass(x, y)
    assert len(film) == 8 and "8 cycles" in repr(film)
    first, last = film.figure(0), film.figure(7)
    assert first.alt.startswith("cycle 1 of 8: 1 of 9 cells multiply.")
    assert f"{x[0, 0]}·{y[0, 0]}" in words(first.axes)
    assert len(words(first.axes)) == 10 + 11  # cells (one of two lines), inputs still to come
    left = [text for text in last.axes.texts if text.get_weight() == "bold"]
    product = sorted(f"{value:g}" for value in (x @ y).ravel())
    shown = [text.get_text() for text in left if text.get_position()[1] > 3]
    assert sorted(shown) == product and first.svg


def test_a_static_page_has_six_cycles_and_a_slider_has_all():
    film = systolic.Pass(*whole_numbers(4, 3, 3))
    still = film.multiples()
    assert sum(axes.get_title() != "" for axes in still.figure.axes) == 6
    assert still.alt.startswith("4 rows of inputs through 3 × 3 cells: 8 cycles, 36 multiplic")
    box = film.widget()
    slider, told, shown, *_ = box.children
    assert "gpulessons" in box._dom_classes  # where a screen reader hears the slider's name
    before = shown.value
    slider.value = 7
    assert told.value.startswith("cycle 8 of 8: 1 of 9") and shown.value != before
    assert {"text/plain", "text/html"} <= set(film._repr_mimebundle_())


def test_a_short_pass_has_fewer_pictures_than_six():
    still = systolic.Pass(*whole_numbers(1, 2, 2)).multiples()
    assert sum(axes.get_title() != "" for axes in still.figure.axes) == 3


def test_the_pulse_has_a_step_for_each_cycle():
    run = systolic.simulate(*whole_numbers(20, 8, 8))
    picture = systolic.pulse(run)
    assert "34 cycles, 59% of the cells at work" in picture.alt and picture.svg
    assert tuple(picture.axes.patches[0].get_data().values) == run.busy
