"""One kernel alone: its rules against differences of itself, at given values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.check.diagnosis import diagnose
from autograd.check.domains import domains
from autograd.check.examine import Derivative, examine, own_gradients
from autograd.check.question import MODES, doubled, is_float, signed
from autograd.check.report import Culprit, GradientReport
from autograd.containers import flatten
from autograd.engine import binding_of, resolve, run
from autograd.errors import GradientError
from autograd.primitive_rules import Call, at, name_of
from autograd.tensor import innermost_value
from registry import backends
from registry.bindings import Binding


def check_call(
    name: str,
    inputs: Sequence[Any],
    attrs: Mapping[str, Any] | None = None,
    *,
    modes: Sequence[str] = MODES,
    order: int = 1,
    seed: int = 0,
    rtol: float = 1e-6,
) -> GradientReport:
    """Compare the rules of one operator with differences of its kernel, at these inputs, on the active backend.

    inputs   arrays in the order of the schema, a list input as one list; every float or complex one is checked
    attrs    attributes by name; those left out have their defaults

    The report is as that of ``check_gradient``; where the verdict is "wrong", its ``culprit`` names the input, the element and
    the kind of fault. A rule that raises is wrong, with its error for a diagnosis. Raises GradientError for an operator without a
    gradient or without a float among the inputs, and what the kernel raises for inputs that it refuses.

    >>> check_call("multiply", [np.array([1.0, 2.0]), np.array([[3.0], [4.0]])]).verdict
    'right'
    """
    binding = binding_of(name)
    if binding.gradient is None:
        raise GradientError(f"check_call: operator {name!r} has no gradient; register one with @gradient({name!r}, ...)")
    names = binding.input_names
    if isinstance(inputs, np.ndarray) or len(inputs) != len(names):
        got = "one array" if isinstance(inputs, np.ndarray) else f"{len(inputs)} inputs"
        raise GradientError(f"check_call: operator {name!r} got {got}, expected a list of {len(names)}, for {', '.join(names)}")
    given = {**binding.attr_defaults, **dict(attrs or {})}
    tracked = [[True] * len(each) if is_list else True for each, is_list in zip(inputs, binding.list_inputs, strict=True)]
    local = LocalCall(binding, inputs, given, tracked)
    if not local.given:
        raise GradientError(f"check_call: operator {name!r} got no float or array of floats: nothing to check")
    with np.errstate(all="ignore"):
        return check_locally(local, modes, seed, rtol, order=order)


class LocalCall:
    """One execution of a kernel, as a function of those of its inputs whose derivatives are asked for.

    In place of a matrix of which the kernel reads one triangle stands its Hermitian part, which is what the rule is of.
    """

    def __init__(self, binding: Binding, values: Sequence[Any], attrs: Mapping[str, Any], tracked: Sequence[Any]) -> None:
        self.binding = binding
        self.attrs = dict(attrs)
        self._values = [list(each) if is_list else each for each, is_list in zip(values, binding.list_inputs, strict=True)]
        self._places: list[tuple[int, int | None]] = []
        self.paths: list[str] = []
        self.given: list[Any] = []
        for position, (value, follows) in enumerate(zip(self._values, tracked, strict=True)):
            members = (
                list(enumerate(zip(value, follows, strict=True))) if isinstance(follows, list) else [(None, (value, follows))]
            )
            for member, (each, wanted) in members:
                if wanted and is_float(each) and np.size(each):
                    self._places.append((position, member))
                    self.paths.append(binding.input_names[position] + ("" if member is None else f"[{member}]"))
                    self.given.append(each)
        self._function = _function_of(binding, self.attrs)
        row = domains().get(binding.name)
        self._symmetric = {n for n, path in enumerate(self.paths) if row is not None and path in row.symmetric}
        self.outputs: list[str] = []
        self.float_outputs: list[int] = []

    @property
    def function_name(self) -> str | None:
        """The name of the function of the user's that the record stands for, if it stands for one."""
        if self.binding.name == "custom_gradient":
            return str(self.attrs["function"].__name__)
        call = self.attrs.get("call")
        return name_of(call.function) if isinstance(call, Call) else None

    @property
    def is_checkpoint(self) -> bool:
        """Whether the record stands for many kernels, which a run of it shows."""
        return self.binding.name == "checkpoint"

    def __call__(self, *values: Any) -> list[Any]:
        inputs = [list(each) if isinstance(each, list) else each for each in self._values]
        for n, ((position, member), value) in enumerate(zip(self._places, values, strict=True)):
            if n in self._symmetric:
                value = hermitian_part(value)
            if member is None:
                inputs[position] = value
            else:
                inputs[position][member] = value
        with backends.use_backend(self.binding.kernel.backend_name):
            result = self._function(inputs[0]) if self._function is not None else run(self.binding.name, inputs, self.attrs)
        results = [resolve(each) for each in result] if isinstance(result, list | tuple) else [resolve(result)]
        floats = [(number, each) for number, each in enumerate(results) if is_float(innermost_value(each))]
        several = len(results) > 1
        self.outputs = [f"output {number}" if several else "output" for number, _ in floats]
        self.float_outputs = [number for number, _ in floats]
        return [each for _, each in floats]


def hermitian_part(a: Any) -> Any:
    """``(a + dagger(a)) / 2``: what a kernel that reads one triangle takes a matrix for, and its rule gives the gradient of."""
    return op.multiply(0.5, op.add(a, op.conjugate(op.swapaxes(a, -1, -2))))


def _function_of(binding: Binding, attrs: Mapping[str, Any]) -> Callable[[Sequence[Any]], Any] | None:
    """For an operator that stands for a function of the user's: that function, of the list of its tensors."""
    if binding.name in ("checkpoint", "custom_gradient"):
        function: Callable[[Sequence[Any]], Any] = attrs["function"]
        return function
    call = attrs.get("call")
    return _Again(call) if isinstance(call, Call) else None


class _Again:
    """The call of a primitive, again, with other values where its tensors stood."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._leaves, self._structure = flatten(list(call.args))
        values = [at(call.args[argnum], path) for argnum, path in call.places]
        self._at = [next(n for n, leaf in enumerate(self._leaves) if leaf is value) for value in values]

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        leaves = list(self._leaves)
        for place, value in zip(self._at, values, strict=True):
            leaves[place] = value
        return flatten(self._call.function(*self._structure.rebuild(leaves), **self._call.kwargs))[0]


def check_locally(
    local: LocalCall,
    modes: Sequence[str],
    seed: int,
    rtol: float,
    *,
    order: int = 1,
    weights: Sequence[Any] | None = None,
) -> GradientReport:
    """The report on one execution, and what its rules did wrong as its culprit."""
    subject = f"operator {local.binding.name!r}"
    report = GradientReport(subject, "right")
    if weights is None:  # never 1 alone: a rule that forgets dy would be right for that
        rng = np.random.default_rng(seed)
        weights = [signed(rng, np.asarray(each)) for each in local(*local.given)]
    call: Any = local
    own_precision = _insists(local)
    for number in range(1, order + 1):
        try:
            if number > 1:
                call = Derivative(call, seed)
            first = weights if number == 1 else None
            report, judge = examine(
                call, subject, modes, seed, 2, 32, rtol, order=number, weights=first, own_precision=own_precision
            )
        except Exception as error:
            if not _runs(local, local.given):  # the kernel's own fault
                raise
            return _broken(local, subject, error, number)
        if report.verdict == "vacuous" and number == 1 and judge is None:
            try:  # of an empty result there is no number to compare, but its rule must run
                own_gradients(local, local.given, [np.zeros(np.shape(each)) for each in local(*local.given)])
            except Exception as error:
                return _broken(local, subject, error, number)
        if report.verdict == "wrong":
            return report.with_culprit(_culprit(local, report, judge, rtol))
        if not report.ok:
            return report
    return report


def _insists(local: LocalCall) -> bool:
    """Whether the kernel refuses its inputs in double precision, as one of a backend for single precision does."""
    points = [doubled(each) for each in local.given]
    same = all(x.dtype == np.asarray(each).dtype for x, each in zip(points, local.given, strict=True))
    return not same and not _runs(local, [x[()] for x in points])


def _runs(local: LocalCall, given: Sequence[Any]) -> bool:
    try:
        local(*given)
    except Exception:
        return False
    return True


def _broken(local: LocalCall, subject: str, error: Exception, order: int) -> GradientReport:
    text = f"its rule raises {type(error).__name__}: {error}"
    if "has shape" in str(error):  # as the walk says of what does not fit its input
        text = f"missing un-broadcast: {text}" if _broadcasts(local) else f"wrong shape: {text}"
    elif "has dtype" in str(error):
        text = f"wrong dtype: {text}"
    named = [each for each in local.paths if f"input {each!r}" in str(error)] or local.paths
    nan = float("nan")
    culprit = Culprit(
        local.binding.name, local.binding.kernel.backend_name, named[0], "", nan, nan, nan, text, function=local.function_name
    )
    return GradientReport(subject, "wrong", where=named[0], culprit=culprit, order=order)


def _broadcasts(local: LocalCall) -> bool:
    outputs = local(*local.given)
    return any(np.shape(each) != np.shape(y) for each in local.given for y in outputs)


def _culprit(local: LocalCall, report: GradientReport, judge: Any, rtol: float) -> Culprit:
    """The worst answer of one kernel, and what kind of fault it is."""
    bad = [each for each in report.probes if each.verdict == "wrong"]
    reverse = [each for each in bad if each.how == "reverse mode"]  # a fault shows its kind there: the other mode is made of it
    worst = max(reverse or bad, key=lambda each: each.error / (each.tolerance or 1.0))
    number = next((n for n, path in enumerate(local.paths) if _names(worst.where, path)), 0)
    if worst.where.startswith("all inputs"):
        number = 0
    found = diagnose(local, judge, number, worst, report.order, rtol)
    return Culprit(
        local.binding.name,
        local.binding.kernel.backend_name,
        local.paths[number],
        found.element,
        found.found,
        found.expected,
        found.tolerance,
        found.text,
        worst.how,
        n_wrong=found.n_wrong,
        function=local.function_name,
    )


def _names(where: str, path: str) -> bool:
    place = where.rpartition(" by ")[2]
    return place == path or place.startswith((f"{path}[", f"{path},", f"{path} "))
