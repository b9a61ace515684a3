"""One warp's walk, through instructions made by hand: what overlaps, and what adds up."""

import pytest

from warplens.code.sass import Code, Instruction
from warplens.model.waiting import BARRIER, CLOCKS, Wait, walk

LOAD = 500.0  # clocks
NEAR = Wait(LOAD)


def one(opcode, writes="", reads="", target=None):
    """An instruction of these registers: one("FADD", "R1", "R2 R3")."""
    return lambda address: Instruction(
        *(address, opcode, "", "", "k.py", 1, 1, "", tuple(reads.split()), tuple(writes.split())),
        target,
    )


def clocks(*instructions, iterations=None, wait=NEAR):
    """The walk's clocks; an instruction's iterations are 1 unless given, place by place."""
    made = tuple(make(16 * n) for n, make in enumerate(instructions))
    code = Code("k", (8, 0), made, {}, 32, 0, 0, 0)
    return walk(code, iterations or [1.0] * len(made), lambda _: wait)


def load(register, address="R0"):
    return one("LDG.E", register, address)


def test_instructions_that_wait_for_nothing_are_issued_one_a_clock():
    assert clocks(*[one("FADD", f"R{n}") for n in range(10)]) == 10


def test_a_load_is_waited_for_where_it_is_used_first():
    assert clocks(load("R1")) == 1
    assert clocks(load("R1"), one("FADD", "R2", "R1")) == 1 + LOAD
    busy = [one("FADD", f"R{n}") for n in range(10, 30)]
    assert clocks(load("R1"), *busy, one("FADD", "R2", "R1")) == 1 + LOAD
    busy = [one("FADD", f"R{n}") for n in range(10, 610)]
    assert clocks(load("R1"), *busy, one("FADD", "R2", "R1")) == 602


def test_loads_in_flight_overlap():
    loads = [load(f"R{n}") for n in range(1, 9)]
    assert clocks(*loads, one("FADD", "R20", "R1 R8")) == 8 + LOAD


def test_a_warp_waits_for_the_slowest_of_its_loads_in_flight():
    near, third = 50.0, Wait(50.0, LOAD, 1 / 3)  # of three neighbors one fetches their line
    loads = [load(f"R{n}") for n in (1, 2, 3)]
    assert clocks(*loads, one("FADD", "R9", "R1 R2 R3"), wait=third) == pytest.approx(3 + LOAD)
    in_turn = [each for n in (1, 2, 3) for each in (load(f"R{n}"), one("FADD", f"R1{n}", f"R{n}"))]
    alone = near + (LOAD - near) / 3
    assert clocks(*in_turn, wait=third) == pytest.approx(1 + 3 * alone, abs=3)
    more = clocks(*loads, *loads, one("FADD", "R9", "R1 R2 R3"), wait=third)
    assert more == pytest.approx(6 + LOAD)  # no load takes longer than from afar


def test_a_load_whose_address_is_loaded_waits_for_it():
    chain = [load(f"R{n}", f"R{n - 1}") for n in range(1, 5)]
    assert clocks(*chain, one("FADD", "R9", "R4")) == 1 + 4 * LOAD


def test_a_chain_of_sums_takes_their_latency_each():
    chain = [one("FADD", "R1", "R1")] * 10
    assert clocks(*chain) == 1 + 9 * CLOCKS["fp32"]


def test_a_barrier_takes_its_clocks_and_waits_for_no_load():
    assert clocks(load("R1"), one("BAR.SYNC"), one("FADD", "R2")) == 3 + BARRIER


def loop_of(*body):
    """A loop of these instructions: its last one jumps back to its first."""
    return (*body, one("BRA", "", "P0", target=0))


def test_a_loop_takes_its_turns_times_what_a_late_turn_takes():
    body = loop_of(load("R1", "R2"), one("FADD", "R2", "R1"))  # the next address is this result
    a_turn = LOAD + CLOCKS["fp32"]
    for iterations in (1, 2, 3, 100):
        found = clocks(*body, iterations=[iterations] * 3)
        assert found == pytest.approx(iterations * a_turn, abs=4)


def test_loads_of_a_later_turn_are_in_flight_while_an_earlier_one_is_used():
    # R1 is used before it is loaded anew: a load has the whole turn to come back.
    busy = [one("FADD", f"R{n}") for n in range(10, 10 + int(LOAD))]
    ahead = loop_of(one("FADD", "R2", "R1"), load("R1"), *busy)
    behind = loop_of(load("R1"), one("FADD", "R2", "R1"), *busy)
    iterations = [50.0] * len(ahead)
    assert clocks(*ahead, iterations=iterations) == pytest.approx(50 * (LOAD + 3), rel=0.01)
    assert clocks(*behind, iterations=iterations) == pytest.approx(50 * (2 * LOAD + 2), rel=0.01)


def test_a_loop_within_a_loop_takes_both_their_turns():
    inner = one("FADD", "R1", "R1"), one("BRA", "", "P0", target=16)
    outer = one("FADD", "R5", "R5"), *inner, one("BRA", "", "P1", target=0)
    found = clocks(*outer, iterations=[10, 1000, 1000, 10])  # a hundred of the inner, ten times
    assert found == pytest.approx(1000 * CLOCKS["fp32"], rel=0.03)


