"""Integers as affine forms of named unknowns, and whether conditions on them can hold at once.

A form is a sum like 256·block + thread + 1; a condition is a form that is ≥ 0. Unknowns are
eliminated one after the other (Fourier and Motzkin): every lower bound of one is held against every
upper bound. Over integers that may be too generous, so there are two answers: `dark=False` never
calls possible things impossible, `dark=True` (Pugh's dark shadow) never the reverse. They agree
where one of the two bounds has the factor 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

TOO_MANY = 200  # conditions at once: no kernel written by hand comes near


class NotAffine(Exception):
    """What no affine form can say; the text names it."""


@dataclass(frozen=True, eq=False)
class Unknown:
    """An integer that is not known, and its own `facts` (factor, form): factor · it + form ≥ 0.

    It is one of `choices`, if there are any. `why` is a sentence if nothing but the facts is known
    of it: it was read from an array, say, and may be no integer.
    """

    name: str
    facts: tuple[tuple[int, Form], ...] = ()
    why: str = ""
    choices: tuple[Form, ...] = ()

    def conditions(self) -> list[Form]:
        return [form + factor * Form.of(self) for factor, form in self.facts]


@dataclass(frozen=True)
class Form:
    """terms · unknowns + constant."""

    terms: frozenset[tuple[Unknown, Any]] = frozenset()
    constant: Any = 0

    @classmethod
    def of(cls, value: Any) -> Form:
        if isinstance(value, Unknown):
            return cls(frozenset({(value, 1)}))
        if isinstance(value, Form):
            return value if type(value) is cls else cls(value.terms, value.constant)
        if isinstance(value, (int, Fraction)):
            return cls(constant=value)
        raise NotAffine(f"{value!r}")

    @property
    def unknowns(self) -> set[Unknown]:
        return {unknown for unknown, _ in self.terms}

    def numbers(self) -> list[Any]:
        return [self.constant, *(factor for _, factor in self.terms)]

    def factor(self, unknown: Unknown) -> Any:
        return dict(self.terms).get(unknown, 0)

    def without(self, unknown: Unknown) -> Form:
        return Form(frozenset(t for t in self.terms if t[0] is not unknown), self.constant)

    def set_to(self, unknown: Unknown, value: Any) -> Form:
        factor = self.factor(unknown)
        return self.without(unknown) + factor * Form.of(value) if factor else self

    def __add__(self, other: Any) -> Form:
        other = Form.of(other)
        terms = dict(self.terms)
        for unknown, factor in other.terms:
            terms[unknown] = terms.get(unknown, 0) + factor
        kept = frozenset((u, f) for u, f in terms.items() if f)
        return type(self)(kept, self.constant + other.constant)

    def __mul__(self, other: Any) -> Form:
        other = Form.of(other)
        if other.terms and self.terms:
            raise NotAffine("a product of two unknowns")
        form, by = (other, self.constant) if other.terms else (self, other.constant)
        terms = frozenset((u, f * by) for u, f in form.terms) if by else frozenset()
        return type(self)(terms, form.constant * by)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Form:
        return self * -1

    def __sub__(self, other: Any) -> Form:
        return self + -Form.of(other)

    def __rsub__(self, other: Any) -> Form:
        return -self + other

    def divisor(self, other: Any) -> Any:
        other = Form.of(other)
        if other.terms or other.constant <= 0:
            raise NotAffine("a division by anything but a positive number that is known")
        return other.constant

    def __truediv__(self, other: Any) -> Form:
        return self * Fraction(1, self.divisor(other))

    def __floordiv__(self, other: Any) -> Form:
        return (self / other).__floor__()

    def __mod__(self, other: Any) -> Form:
        return self - self // other * self.divisor(other)

    def __floor__(self) -> Form:
        return self.of(floor_of(Form.of(self)))

    def __ceil__(self) -> Form:
        return -(-self).__floor__()

    def undecided(self, *_: Any) -> NoReturn:
        raise NotAffine("a comparison, min or max")

    __bool__ = __index__ = __lt__ = __le__ = __gt__ = __ge__ = undecided  # type: ignore[assignment]


class Symbol(Form):
    """A number in a caller's formulas: `==`, too, is a comparison that nothing decides."""

    __eq__ = __ne__ = __hash__ = Form.undecided  # type: ignore[assignment]


@functools.lru_cache(maxsize=4096)
def floor_of(form: Form) -> Form:
    """The greatest integer below, as an unknown of its own between two bounds."""
    down = math.lcm(Fraction(form.constant).denominator,
                    *(Fraction(f).denominator for _, f in form.terms))  # fmt: skip
    if down == 1:
        return form
    if not form.terms:
        return Form.of(math.floor(form.constant))
    whole = form * down
    return Form.of(Unknown("quotient", ((-down, whole), (down, down - 1 - whole))))


def with_facts(conditions: Iterable[Form]) -> list[Form]:
    """And what is known of every unknown in them."""
    found = list(conditions)
    known: set[Unknown] = set()
    for form in found:  # grows
        for unknown in form.unknowns - known:
            known.add(unknown)
            found += unknown.conditions()
    return found


def cases(conditions: Iterable[Form], chosen: frozenset[Unknown] = frozenset()) -> list[list[Form]]:
    """With facts, and one list for each choice that there is."""
    system = with_facts(conditions)
    open_ones = (u for form in system for u in form.unknowns if u.choices and u not in chosen)
    unknown = next(open_ones, None)
    if unknown is None:
        return [system]
    equal = [(choice - Form.of(unknown), Form.of(unknown) - choice) for choice in unknown.choices]
    return [case for both in equal for case in cases([*system, *both], chosen | {unknown})]


def tightened(form: Form) -> Form:
    """The same condition on integers with the smallest factors."""
    if all(type(f) is int for _, f in form.terms) and type(form.constant) is int:
        common = math.gcd(*(f for _, f in form.terms))
        if common <= 1:
            return form
        return Form(frozenset((u, f // common) for u, f in form.terms), form.constant // common)
    scale = math.lcm(*(Fraction(f).denominator for _, f in form.terms), 1)
    common = math.gcd(*(int(f * scale) for _, f in form.terms)) or 1
    terms = frozenset((u, int(f * scale) // common) for u, f in form.terms)
    return Form(terms, math.floor(Fraction(form.constant) * scale / common))


def eliminated(
    conditions: Iterable[Form], keep: Collection[Unknown] = (), dark: bool = False
) -> list[Form] | None:
    """Conditions on the unknowns to keep alone, None if nothing can meet them."""
    forms = {tightened(form) for form in conditions}
    while True:
        if any(not form.terms and form.constant < 0 for form in forms):
            return None
        strongest: dict[frozenset, Any] = {}
        for form in forms:
            strongest[form.terms] = min(form.constant, strongest.get(form.terms, form.constant))
        forms = {Form(terms, constant) for terms, constant in strongest.items() if terms}
        if len(forms) > TOO_MANY:
            raise NotAffine("a system of too many conditions")
        open_ones = {u for form in forms for u in form.unknowns} - set(keep)
        if not open_ones:
            return list(forms)
        forms = shadow(forms, min(open_ones, key=functools.partial(price, forms)), dark)


def bounds(forms: Iterable[Form], unknown: Unknown, sign: int) -> list[tuple[Any, Form]]:
    """(factor, rest) of all that bounds an unknown from below (sign 1) or above (-1)."""
    factors = [(sign * form.factor(unknown), form) for form in forms]
    return [(factor, form.without(unknown)) for factor, form in factors if factor > 0]


def price(forms: set[Form], unknown: Unknown) -> tuple[int, int]:
    """What eliminating an unknown costs: exactness first, then conditions."""
    lower, upper = (bounds(forms, unknown, sign) for sign in (1, -1))
    return sum((a - 1) * (b - 1) for a, _ in lower for b, _ in upper), len(lower) * len(upper)


def shadow(forms: set[Form], unknown: Unknown, dark: bool) -> set[Form]:
    """What is left without one unknown."""
    left = {form for form in forms if not form.factor(unknown)}
    for a, low in bounds(forms, unknown, 1):
        for b, high in bounds(forms, unknown, -1):
            left.add(tightened(high * a + low * b - (a - 1) * (b - 1) * dark))
    return left


def feasible(conditions: Iterable[Form]) -> bool:
    """Can they hold at once? False is certain."""
    return eliminated(with_facts(conditions)) is not None
