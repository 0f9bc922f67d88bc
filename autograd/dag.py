"""The tape as a directed acyclic graph: prune it to the paths that matter, put it in order, remember the plan.

The vertices are records, an edge is a use. A record is needed if a source reaches it and it reaches the target. networkx
orders what is needed; a long tape is condensed first, so that a stretch of consecutive records is one vertex: the recorded
order is a topological order, so contracting stretches of it leaves a graph without cycles.

The plan is kept under the exact structure of the tape - bindings, input ids, target, sources - never under a hash of it
alone, because a collision would be a silently wrong gradient.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autograd.errors import GradientError
from autograd.records import FURTHER_OUTPUT, SOURCE, saved_count, skip_inputs
from autograd.tape import Tape
from registry.bindings import Binding
from registry.errors import close_matches

if TYPE_CHECKING:
    import networkx

NONE = -1
"""In a plan's input columns: no gradient is wanted here."""

WIDE = -2
"""In a plan's first input column: this step has lists, several outputs or many inputs; see ``Plan.wide``."""

CONDENSE_FROM = 2048
"""Needed records from which the graph is condensed before networkx orders it."""

LONGEST_CACHED = 100_000
"""Ids on a tape beyond which its plan is made afresh each time, in compact columns, and not kept."""

SHORTEST_TAIL = 3
"""Elementwise steps at the end of a plan that are worth a walk in blocks."""

LONGEST_COMPILED = 1000
"""Steps beyond which a plan is never compiled: Python's compiler takes 60 kB a step while it works."""

CACHE_BYTES = 64 * 2**20
"""Upper bound on the bytes that all cached plans and their keys may take together."""


def _column(n_ids: int) -> Any:
    """A column of integers: a list for speed, an array where there are so many that their bytes count."""
    return [] if n_ids <= LONGEST_CACHED else array("q")


class Plan:
    """The steps of one backward pass, in order, in columns.

    bindings   the kernel and rule of each step
    numbers    the id of its (first) output
    first      id of its first input if a gradient is wanted there, else NONE; or WIDE
    second     the same for its second input
    saved_at   where its saved values begin
    wide       for WIDE steps by number: (number of outputs, length of each list input, wanted inputs), where a wanted input is
               (position, position in the list or None, id)
    kept       ids of sources that are themselves results of a step, and must outlive it
    strong     whether strong zeros could change a result: some elementwise rule does not keep zeros by itself
    guarded    whether the compiled plan looks after strong zeros at each step that needs it, so that its walk is never repeated:
               where such contributions are no more than the sources
    backend    the backend of all its steps; None if they have several
    batched    whether the rules of all its steps can follow a batch of cotangents
    uses       how often it was walked as it is
    compiled   what ``autograd.straight`` made of it after that
    tail       the step from which on all are elementwise, for ``autograd.blocks``; the number of steps if those are too few
    compiled_tail  what ``autograd.straight`` made of the steps from there on
    """

    __slots__ = (
        "backend",
        "batched",
        "bindings",
        "compiled",
        "compiled_tail",
        "first",
        "guarded",
        "kept",
        "numbers",
        "saved_at",
        "second",
        "strong",
        "tail",
        "uses",
        "wide",
    )

    def __init__(self, n_ids: int) -> None:
        self.bindings: list[Binding] = []
        self.numbers = _column(n_ids)
        self.first = _column(n_ids)
        self.second = _column(n_ids)
        self.saved_at = _column(n_ids)
        self.wide: dict[int, tuple[int, tuple[int, ...], tuple[tuple[int, int | None, int], ...]]] = {}
        self.kept: frozenset[int] = frozenset()
        self.backend: str | None = None
        self.strong = True
        self.batched = False
        self.guarded = False
        self.uses = 0
        self.compiled: Callable[..., list[Any]] | None = None
        self.tail = 0
        self.compiled_tail: Callable[..., list[Any]] | None = None

    def __len__(self) -> int:
        return len(self.bindings)

    def nbytes(self) -> int:
        """Bytes that this plan keeps alive, near enough for the cache, once it is compiled."""
        a_step = 104 if len(self) > LONGEST_COMPILED else 104 + 1000
        return 512 + a_step * len(self) + 200 * len(self.wide)


_cache: OrderedDict[tuple[Any, ...], Plan] = OrderedDict()
_cache_bytes = 0
_cache_lock = threading.Lock()


def plan_for(tape: Tape, target: int, sources: tuple[int, ...]) -> Plan:
    """The plan of one backward pass, from the cache if a tape of equal structure had one."""
    if len(tape._bindings) > LONGEST_CACHED:
        return make_plan(tape, target, sources)
    key = (tuple(tape._bindings), tuple(tape._ids), target, sources)
    plan = _cache.get(key)
    if plan is None:
        plan = make_plan(tape, target, sources)
        _remember(key, plan)
    return plan


def clear_plan_cache() -> None:
    """Forget every plan. Only tests and measurements of a cold start need this."""
    global _cache_bytes
    with _cache_lock:
        _cache.clear()
        _cache_bytes = 0


def _key_bytes(key: tuple[Any, ...]) -> int:
    return 8 * len(key[0]) + 40 * len(key[1])  # an id is a pointer and an integer


def _remember(key: tuple[Any, ...], plan: Plan) -> None:
    global _cache_bytes
    size = _key_bytes(key) + plan.nbytes()
    with _cache_lock:
        if key in _cache:
            return
        _cache[key] = plan
        _cache_bytes += size
        while _cache_bytes > CACHE_BYTES:
            old_key, old_plan = _cache.popitem(last=False)
            _cache_bytes -= _key_bytes(old_key) + old_plan.nbytes()


def make_plan(tape: Tape, target: int, sources: tuple[int, ...]) -> Plan:
    """Prune the tape to the paths from ``sources`` to ``target`` and put the steps in order.

    Raises GradientError for a needed record whose operator has no gradient.
    """
    bindings = tape._bindings
    starts, ids_at, saved_at = _layout(tape)
    reached = _reached_from(sources, tape, starts, ids_at)
    steps = _needed(target, reached, tape, starts, ids_at)
    plan = Plan(len(bindings))
    plan.kept = frozenset(number for number in sources if bindings[number] is not SOURCE)
    for step in _in_order(steps, tape, starts, ids_at, reached):
        _add_step(plan, tape, starts[step], ids_at[step], saved_at[step], reached)
    kinds = set(plan.bindings)
    names = {each.kernel.backend_name for each in kinds}
    plan.backend = names.pop() if len(names) == 1 else None
    plan.batched = all(each.batched for each in kinds)
    plan.strong = not all(keeps_zeros(each) for each in kinds)
    plan.tail = len(plan)
    if len(plan) <= LONGEST_COMPILED:
        plan.tail = _elementwise_tail(plan)
        plan.guarded = not plan.wide and _n_unguarded(plan) <= len(sources)
    return plan


def keeps_zeros(binding: Binding) -> bool:
    """Whether strong zeros could not change what the rule of a record gives."""
    return not binding.elementwise or (binding.gradient is not None and binding.gradient.keeps_zeros)


def _n_unguarded(plan: Plan) -> int:
    columns = zip(plan.bindings, plan.first, plan.second, strict=True)
    return sum((first != NONE) + (second != NONE) for binding, first, second in columns if not keeps_zeros(binding))


def _elementwise_tail(plan: Plan) -> int:
    """The step from which on all are elementwise, see ``Plan.tail``."""
    tail = len(plan)
    while tail and plan.first[tail - 1] != WIDE and _is_purely_elementwise(plan.bindings[tail - 1]):
        tail -= 1
    return tail if len(plan) - tail >= SHORTEST_TAIL else len(plan)


def _is_purely_elementwise(binding: Binding) -> bool:
    return binding.elementwise and not binding.several and not binding.attr_names and not binding.info_positions


def _layout(tape: Tape) -> tuple[array[int], array[int], array[int]]:
    """For each record: its id, where its input ids begin, and where its saved values begin."""
    starts, ids_at, saved_at = array("q"), array("q"), array("q")
    ids = tape._ids
    at = saved = 0
    for number, binding in enumerate(tape._bindings):
        if binding is SOURCE or binding is FURTHER_OUTPUT:
            continue
        starts.append(number)
        ids_at.append(at)
        saved_at.append(saved)
        if binding.has_list:
            at, n_listed = skip_inputs(binding, ids, at)
            saved += binding.n_saved if binding.n_saved is not None else saved_count(binding, n_listed)
        else:
            at += len(binding.input_names)
            saved += binding.n_saved  # type: ignore[operator]  # only lists make it None
    return starts, ids_at, saved_at


def _input_ids(binding: Binding, ids: list[int], at: int) -> list[int]:
    """The ids of one record's inputs, lists taken apart; -1 for constants."""
    if not binding.has_list:
        return ids[at : at + len(binding.input_names)]
    flat: list[int] = []
    for is_list in binding.list_inputs:
        count = ids[at] if is_list else 1
        at += is_list
        flat.extend(ids[at : at + count])
        at += count
    return flat


def inputs_from(tape: Tape, first: int, at: int) -> set[int]:
    """The ids that records use, from record ``first`` on, whose input ids begin at ``at``; -1 among them for constants."""
    used: set[int] = set()
    for binding in tape._bindings[first:]:
        if binding is SOURCE or binding is FURTHER_OUTPUT:
            continue
        used.update(_input_ids(binding, tape._ids, at))
        at = skip_inputs(binding, tape._ids, at)[0] if binding.has_list else at + len(binding.input_names)
    return used


def _outputs_end(bindings: list[Binding], number: int) -> int:
    end = number + 1
    while end < len(bindings) and bindings[end] is FURTHER_OUTPUT:
        end += 1
    return end


def _reached_from(sources: tuple[int, ...], tape: Tape, starts: array[int], ids_at: array[int]) -> bytearray:
    """Which ids depend on a source."""
    bindings, ids = tape._bindings, tape._ids
    reached = bytearray(len(bindings))
    for number in sources:
        reached[number] = 1
    for number, at in zip(starts, ids_at, strict=True):
        for each in _input_ids(bindings[number], ids, at):
            if each >= 0 and reached[each]:
                for output in range(number, _outputs_end(bindings, number)):
                    reached[output] = 1
                break
    return reached


def _needed(target: int, reached: bytearray, tape: Tape, starts: array[int], ids_at: array[int]) -> list[int]:
    """Positions in ``starts`` of the records that lie on a path from a source to the target, in recorded order."""
    bindings, ids = tape._bindings, tape._ids
    wanted = bytearray(len(bindings))
    wanted[target] = reached[target]
    steps = []
    for step in range(len(starts) - 1, -1, -1):
        number = starts[step]
        if number > target:
            continue
        binding = bindings[number]
        outputs = wanted[number : _outputs_end(bindings, number)] if binding.several else wanted[number : number + 1]
        if not any(outputs):
            continue
        on_a_path = False
        for each in _input_ids(binding, ids, ids_at[step]):
            if each >= 0 and reached[each]:
                wanted[each] = 1
                on_a_path = True
        if on_a_path:
            if binding.gradient is None and not binding.constant:
                raise GradientError(_no_gradient(binding))
            if binding.gradient is not None:
                steps.append(step)
    steps.reverse()
    return steps


def _no_gradient(binding: Binding) -> str:
    from registry.gradients import get_gradient
    from registry.operators import operator_names

    if get_gradient(binding.name) is not None:
        return f"operator {binding.name!r} had no gradient when the tape recorded it; register it first, then record again"
    near = close_matches(binding.name, [name for name in operator_names() if get_gradient(name) is not None])
    return (
        f"operator {binding.name!r} has no gradient, and lies between a source and the target."
        f" Register one with register_gradient(GradConfig({binding.name!r}, ...)), or take the part that needs no"
        f" gradient out with stop_gradient(x).{near}"
    )


def _in_order(steps: list[int], tape: Tape, starts: array[int], ids_at: array[int], reached: bytearray) -> list[int]:
    """The needed records from the target back to the sources, as networkx orders their graph."""
    if not steps:
        return []
    import networkx

    length = 1 if len(steps) < CONDENSE_FROM else int(len(steps) ** 0.5)
    graph = _graph_of_stretches(networkx.DiGraph(), steps, length, tape, starts, ids_at, reached)
    order = list(networkx.topological_sort(graph))
    order.reverse()
    if length == 1:
        return [steps[vertex] for vertex in order]
    backwards: list[int] = []
    for stretch in order:
        backwards.extend(reversed(steps[stretch * length : (stretch + 1) * length]))
    return backwards


def _graph_of_stretches(
    graph: networkx.DiGraph,
    steps: list[int],
    length: int,
    tape: Tape,
    starts: array[int],
    ids_at: array[int],
    reached: bytearray,
) -> networkx.DiGraph:
    """One vertex for each stretch of ``length`` needed records, one edge where a stretch uses a value of another."""
    bindings, ids = tape._bindings, tape._ids
    stretch_of = array("q", [NONE]) * len(bindings)
    edges: dict[tuple[int, int], None] = {}
    graph.add_nodes_from(range(-(-len(steps) // length)))
    for position, step in enumerate(steps):
        number = starts[step]
        stretch = position // length
        binding = bindings[number]
        for each in _input_ids(binding, ids, ids_at[step]):
            if each >= 0 and reached[each] and stretch_of[each] not in (NONE, stretch):
                edges[stretch_of[each], stretch] = None
        for output in range(number, _outputs_end(bindings, number) if binding.several else number + 1):
            stretch_of[output] = stretch
    graph.add_edges_from(edges)
    return graph


def _add_step(plan: Plan, tape: Tape, number: int, at: int, saved_at: int, reached: bytearray) -> None:
    ids = tape._ids
    binding = tape._bindings[number]
    plan.bindings.append(binding)
    plan.numbers.append(number)
    plan.saved_at.append(saved_at)
    n_inputs = len(binding.input_names)
    if binding.has_list or n_inputs > 2 or (binding.several and not _takes_what_arrives(binding)):
        plan.first.append(WIDE)
        plan.second.append(NONE)
        plan.wide[number] = _wide_inputs(tape, binding, number, at, reached)
        return
    first = ids[at]
    plan.first.append(first if first >= 0 and reached[first] else NONE)
    second = ids[at + 1] if n_inputs == 2 else NONE
    plan.second.append(second if second >= 0 and reached[second] else NONE)


def _takes_what_arrives(binding: Binding) -> bool:
    """Whether the rule takes a tuple with None for what did not arrive, one entry for each output of the schema."""
    return binding.n_outputs is not None and binding.gradient is not None and binding.gradient.accepts_none


def _wide_inputs(
    tape: Tape, binding: Binding, number: int, at: int, reached: bytearray
) -> tuple[int, tuple[int, ...], tuple[tuple[int, int | None, int], ...]]:
    ids = tape._ids
    lengths: list[int] = []
    wanted: list[tuple[int, int | None, int]] = []
    for position, is_list in enumerate(binding.list_inputs):
        if is_list:
            count = ids[at]
            at += 1
            lengths.append(count)
            members = enumerate(ids[at : at + count])
            wanted += [(position, member, each) for member, each in members if each >= 0 and reached[each]]
            at += count
        else:
            if ids[at] >= 0 and reached[ids[at]]:
                wanted.append((position, None, ids[at]))
            at += 1
    return _outputs_end(tape._bindings, number) - number, tuple(lengths), tuple(wanted)
