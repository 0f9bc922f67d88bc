"""Look for the smallest call that a check objects to: hypothesis draws and shrinks, and nothing of it is printed or kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograd.check.calls import Call

if TYPE_CHECKING:
    from autograd.check.strategies import Strategy


MOST_TRIED = 200
"""How many calls are tried to make the first one that is objected to smaller."""


class Refused(Exception):
    """Raised by a check for a call that is outside of what can be checked; another one is drawn in its place."""


class _Objection(Exception):
    """Stops a run of hypothesis at a call that was objected to."""


@dataclass(slots=True)
class Found:
    """What a search came to: the smallest call objected to, with the objection; and how often each verdict was given."""

    verdicts: Counter[str] = field(default_factory=Counter)
    call: Call | None = None
    objection: Any = None
    last_refusal: BaseException | None = None
    tried: int = 0


def smallest_objection(
    strategy: Strategy[Call], check: Callable[[Call], tuple[str, Any]], *, max_examples: int, seed: int
) -> Found:
    """Draw calls, the same for a seed, and check each; shrink the first one objected to.

    ``check(call)`` returns a verdict, and an objection or None. It raises ``Refused`` for calls that do not count.
    """
    import hypothesis
    from hypothesis import HealthCheck, Phase, Verbosity, settings
    from hypothesis.errors import Flaky, Unsatisfiable

    found = Found()

    @hypothesis.seed(seed)
    @settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @hypothesis.given(strategy)
    def run(call: Call) -> None:
        if found.call is not None:
            found.tried += 1
            if found.tried > MOST_TRIED:
                if str(call) == str(found.call):
                    raise _Objection
                hypothesis.reject()
        try:
            verdict, objection = check(call)
        except Refused as refusal:
            found.last_refusal = refusal.__cause__ or refusal
            hypothesis.reject()
        if objection is not None:
            found.call, found.objection = call, objection  # the last one is the smallest: hypothesis runs it again at the end
            raise _Objection
        found.verdicts[verdict] += found.call is None

    try:
        run()
    except (_Objection, Flaky):
        found.verdicts["wrong"] += 1
    except Unsatisfiable:
        pass
    return found
