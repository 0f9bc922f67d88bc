"""The plan of the house: what lies where, which way imports run, and that nothing is missing from a family."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("registry", "autograd")
TOP_LEVEL = {"pyproject.toml", "autograd", "registry", "tests", "notebooks", "README.md", "LICENSE", "CHANGELOG.md"}

LONGEST_FILE = 450
"""Files stay near 400 lines; from here on one is split by meaning."""

LONGER_FILES: dict[str, str] = {}
"""Files that may be longer, each with its reason."""

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "containers", "tensor"),
    ("locks", "records", "anomaly_text"),
    ("tape",),
    ("anomaly",),
    ("engine",),
    ("call_arguments",),
    ("views",),
    ("variant_calls",),
    ("calls",),
    ("operators",),
    ("indexed", "dag"),
    ("rules",),
    ("straight", "blocks"),
    ("backprop",),
    ("forward", "tape_gradient"),
    ("functional", "gradients", "custom"),
    ("methods",),
    ("util",),
    ("wrap_util", "vspaces", "primitive_rules"),
    ("primitives",),
    ("tracer",),
    ("core",),
    ("extend",),
    ("builtins",),
    ("assignable",),
    ("numpy",),
    ("scipy",),
    ("__init__",),
    ("check", "nn", "optim", "differential_operators", "misc"),
    ("test_util",),
    ("viz",),
    ("train",),
    ("__main__",),
)
"""A part of autograd may import parts of lower rows, and itself. ``__init__`` is ``import autograd`` as a whole."""

UPWARD = {
    ("tensor", "tape"): "for a type alone: a tensor names its tape, a tape makes tensors",
    ("records", "tape"): "for a type alone: the views read the columns of a tape",
    ("tape", "anomaly"): "for a type alone: a tape keeps what a block of anomaly mode asks of it",
    ("errors", "anomaly_text"): "for a type alone: an error holds the anomaly that it tells of",
}

CORE = {part for row in LAYERS[: LAYERS.index(("__init__",)) + 1] for part in row} - {"scipy"}

OPTIONAL = {
    "train": {"tqdm", "safetensors", "matplotlib"},
    "viz": {"matplotlib", "networkx"},
    "scipy": {"scipy"},
    "optim": {"scipy"},
    "check": {"hypothesis", "tqdm", "pytest"},
}
"""Parts that may need more than numpy and networkx; only inside functions, so that importing them stays cheap."""

ON_DEMAND = {
    "autograd/check/programs/__init__.py": "strategies are made with hypothesis; imported by who asks for strategies",
    "autograd/check/pytest_plugin/pytest_gradtape/__init__.py": "pytest's plugin; imported by pytest, as a package of its own",
    "autograd/check/search.py": "draws with hypothesis; imported when a kernel is checked",
    "autograd/check/strategies.py": "strategies are made with hypothesis; imported by who asks for strategies",
}
"""Files that are imported on demand alone, with what their part may need."""

NOT_FAMILIES = {
    "tests/gradients/test_accumulation.py": "one property of every operator of two tensors",
    "tests/gradients/test_keeps_zeros.py": "one property of every rule that claims it",
    "tests/gradients/test_variants.py": "one property of every operator",
    "autograd/numpy/arguments.py": "what the functions of all families do to their arguments",
    "autograd/numpy/ufuncs.py": "the one wrapper of NumPy's universal functions",
    "autograd/numpy/following.py": "the one decorator that hands plain arguments to NumPy",
    "autograd/numpy/later.py": "the table of what is imported on first use",
    "autograd/numpy/calculus.py": "part of the family arithmetic",
    "autograd/numpy/choosing.py": "part of the family compare",
    "autograd/numpy/editing.py": "part of the family shape",
    "autograd/numpy/nans.py": "part of the family reduction",
    "autograd/numpy/quantiles.py": "part of the family reduction",
    "autograd/numpy/sorting.py": "part of the family indexing",
    "autograd/numpy/statistics.py": "part of the family reduction",
    "tests/gradients/test_calculus.py": "functions of the family arithmetic that are no operators",
    "tests/gradients/test_choosing.py": "functions of the family compare that are no operators",
    "tests/gradients/test_editing.py": "functions of the family shape that are no operators",
    "tests/gradients/test_quantiles.py": "functions of the family reduction that are no operators",
    "tests/gradients/test_sorting.py": "functions of the family indexing that are no operators",
    "tests/gradients/test_statistics.py": "functions of the family reduction that are no operators",
    "autograd/numpy/array_methods.py": "the methods of an ndarray that are no function of a family",
    "autograd/numpy/index_tricks.py": "part of the family shape",
    "autograd/numpy/padding.py": "part of the family shape",
    "autograd/numpy/points.py": "part of the family shape",
    "autograd/numpy/ufunc_methods.py": "the options and methods of all universal functions",
    "tests/gradients/test_padding.py": "functions of the family shape that are no operators",
    "tests/gradients/test_points.py": "functions of the family shape that are no operators",
    "tests/gradients/test_same_as_numpy.py": "one property of every function of NumPy's main namespace",
    "tests/gradients/test_ufunc_methods.py": "the options and methods of all universal functions",
    "autograd/numpy/creation.py": "part of the family shape",
    "autograd/numpy/numpy_boxes.py": "a name of HIPS autograd's interface, over what stands elsewhere",
    "autograd/numpy/numpy_jvps.py": "a name of HIPS autograd's interface, over what stands elsewhere",
    "autograd/numpy/numpy_vjps.py": "a name of HIPS autograd's interface, over what stands elsewhere",
    "autograd/numpy/numpy_vspaces.py": "a name of HIPS autograd's interface, over what stands elsewhere",
    "autograd/numpy/numpy_wrapper.py": "a name of HIPS autograd's interface, over what stands elsewhere",
    "autograd/numpy/random.py": "NumPy's own, by the name that users import it by",
    "autograd/numpy/joining.py": "part of the family shape",
    "autograd/numpy/inquiry.py": "part of the family shape",
    "autograd/gradients/eigenvalues.py": "part of the family decompositions",
    "autograd/gradients/limits.py": "what rules of several families ask of the tape outside",
    "autograd/gradients/spectra.py": "part of the family decompositions",
    "autograd/numpy/norms.py": "part of the family linalg",
    "tests/gradients/test_norms.py": "part of the family linalg",
    "tests/gradients/test_spectra.py": "part of the family decompositions",
}

NAMED_IN_TEXTS = {
    ("registry/external.py", "autograd"): "a key of descriptions of backends, as torchgen has it",
    ("registry/loading.py", "autograd.backends"): "the group of entry points",
}
"""Texts of the registry that name autograd and import nothing."""

WITHOUT_GRADIENT: dict[str, str] = {}
"""Operators of tensors that are neither differentiable nor constant, each with its reason."""


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked_files() -> list[str]:
    """What git holds; skips the test where there is no repository, as in an unpacked archive."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git repository, or no git: tracked files cannot be told from others")
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def python_output(code: str) -> str:
    """What a new interpreter prints, so that what other tests imported or registered does not count."""
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


# -------------------------------------------------------------------------------------------------- what lies where


def test_the_top_level_holds_what_it_may():
    names = {name.partition("/")[0] for name in tracked_files()}
    surplus = {name for name in names - TOP_LEVEL if not name.startswith(".")}
    assert not surplus, f"at the top level lie {sorted(surplus)}; expected only {sorted(TOP_LEVEL)} and dot files"


def test_no_test_folder_hides_a_package():
    """A folder on the way to a test file would be found before the package of the same name."""
    names = {path.parent.name for path in python_files("tests")}
    assert not names & {"numpy", "scipy", "registry", "autograd", "networkx"}


def families(folder: str, prefix: str = "") -> set[str]:
    """The files of a folder that stand for a family."""
    paths = [path for path in (ROOT / folder).glob(f"{prefix}*.py") if path.name != "__init__.py"]
    return {path.stem.removeprefix(prefix) for path in paths if relative(path) not in NOT_FAMILIES}


@pytest.mark.parametrize(("folder", "prefix"), [("autograd/gradients", ""), ("autograd/numpy", ""), ("tests/gradients", "test_")])
def test_families_have_the_same_names_everywhere(folder, prefix):
    expected, found = families("registry/numpy_backend"), families(folder, prefix)
    assert len(expected) > 5
    missing = sorted(f"{folder}/{prefix}{name}.py" for name in expected - found)
    surplus = sorted(f"{folder}/{prefix}{name}.py" for name in found - expected)
    assert not missing, f"missing are {missing}"
    assert not surplus, f"{surplus} stand for no family of registry/numpy_backend; rename them or add them to NOT_FAMILIES"


def test_exceptions_are_not_kept_longer_than_needed():
    for name in NOT_FAMILIES:
        assert (ROOT / name).is_file(), f"{name} is gone; take it out of NOT_FAMILIES"
    for name in LONGER_FILES:
        assert len((ROOT / name).read_text().splitlines()) > LONGEST_FILE, f"{name} is short now; take it out of LONGER_FILES"


def test_files_are_short():
    lengths = {relative(path): len(path.read_text().splitlines()) for path in python_files(*PACKAGES, "tests")}
    long = {name: length for name, length in lengths.items() if length > LONGEST_FILE and name not in LONGER_FILES}
    assert not long, f"longer than {LONGEST_FILE} lines are {long}; split them by meaning"


def test_no_file_of_a_package_is_a_script():
    """``python autograd/x.py`` would find our numpy folder first; ``python -m`` does not."""
    for path in python_files(*PACKAGES):
        if path.name == "__main__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            asks = isinstance(node, ast.Compare) and "__name__" in ast.unparse(node) and "__main__" in ast.unparse(node)
            assert not asks, f"{relative(path)}:{node.lineno} runs as a script; use __main__.py"
        assert not path.read_text().startswith("#!"), f"{relative(path)} begins as a script does"


def test_no_text_mentions_a_path_of_one_machine():
    somewhere = re.compile(rb"(?<![\w.}$~-])/(work|tmp|home|root|Users)/\w*")
    found = {}
    for name in tracked_files():
        content = (ROOT / name).read_bytes()
        if b"\0" not in content[:8000] and (hits := {match[0].decode() for match in somewhere.finditer(content)}):
            found[name] = sorted(hits)
    found.pop(relative(Path(__file__)), None)
    assert not found, f"these files mention a path that is there on one machine only: {found}"


# -------------------------------------------------------------------------------------------------------- imports


def part_of(path: Path) -> str:
    """The row entry of ``LAYERS`` that a file belongs to."""
    inner = path.relative_to(ROOT / "autograd")
    return inner.parts[0] if len(inner.parts) > 1 else inner.stem


def imported(path: Path, tree: ast.AST | None = None) -> Iterator[tuple[int, str]]:
    """Line and full name of every module a file imports, wherever: in functions, for types, relative, by a string."""
    package = list(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(tree or ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if function in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def autograd_part(name: str) -> str | None:
    """The part of autograd that a module belongs to; None for other packages."""
    first, _, rest = name.partition(".")
    return (rest.partition(".")[0] or "__init__") if first == "autograd" else None


def test_imports_are_found_wherever_they_stand():
    text = (
        "import autograd.dag\nfrom autograd import engine, grad\nfrom . import tape\nfrom .numpy import trig\n"
        "if TYPE_CHECKING:\n    from autograd.viz import draw_tape\n"
        "def f():\n    import networkx\n    importlib.import_module('autograd.check')\n"
    )
    found = [name for _, name in imported(ROOT / "autograd" / "x.py", ast.parse(text))]
    inside = ["autograd.check", "autograd.dag", "autograd.engine", "autograd.numpy.trig", "autograd.tape", "autograd.viz"]
    assert sorted(found) == ["autograd", *inside, "networkx"]


def test_registry_never_imports_autograd():
    for path in python_files("registry"):
        tree = ast.parse(path.read_text())
        for line, name in imported(path, tree):
            assert autograd_part(name) is None, f"{relative(path)}:{line} imports {name}; registry stands below autograd"
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                if (relative(path), node.value) in NAMED_IN_TEXTS:
                    continue
                assert not re.search(r"\bautograd\b", node.value), f"{relative(path)}:{node.lineno} names autograd in a string"


def test_every_part_of_autograd_has_a_layer():
    placed = [part for row in LAYERS for part in row]
    assert len(placed) == len(set(placed))
    unplaced = {part_of(path) for path in python_files("autograd")} - set(placed)
    assert not unplaced, f"{sorted(unplaced)} have no place in LAYERS: say what they may import"


def test_imports_run_one_way():
    layer = {part: number for number, row in enumerate(LAYERS) for part in row}
    upward, used = [], set()
    for path in python_files("autograd"):
        here = part_of(path)
        for line, name in imported(path):
            there = autograd_part(name)
            if there is None or there == here or here not in layer:
                continue
            if (here, there) in UPWARD:
                used.add((here, there))
            elif layer.get(there, len(LAYERS)) >= layer[here]:
                upward.append(f"{relative(path)}:{line} imports {name}")
    assert not upward, "imports that do not point to a lower layer:\n" + "\n".join(upward)
    assert used == set(UPWARD), f"no longer needed: {set(UPWARD) - used}"


def test_upward_imports_are_for_types_alone():
    for here, there in UPWARD:
        path = ROOT / "autograd" / f"{here}.py"
        for node in ast.parse(path.read_text()).body:  # what stands under `if TYPE_CHECKING` is not in the body itself
            names = [alias.name for alias in getattr(node, "names", [])]
            assert getattr(node, "module", None) != f"autograd.{there}", f"{here} imports {there} when it runs"
            assert f"autograd.{there}" not in names


def outside_imports(path: Path, *, when_imported: bool) -> set[str]:
    """Top-level names of what a file imports from outside; ``when_imported``: not inside functions, nor for types."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if when_imported else ():
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if function or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            node.body = []
    names = {name.partition(".")[0] for _, name in imported(path, tree)}
    return {name for name in names if name not in sys.stdlib_module_names and name not in PACKAGES}


def test_only_numpy_and_networkx_are_needed():
    for path in python_files(*PACKAGES):
        part = "scipy" if "scipy" in path.parts else part_of(path) if path.is_relative_to(ROOT / "autograd") else "registry"
        allowed = {"numpy", "networkx"} | OPTIONAL.get(part, set())
        surplus = outside_imports(path, when_imported=False) - allowed
        assert not surplus, f"{relative(path)} imports {sorted(surplus)}, expected only {sorted(allowed)}"
        early = outside_imports(path, when_imported=True) - ({"numpy"} if part != "scipy" else {"numpy", "scipy"})
        if relative(path) in ON_DEMAND:
            early -= OPTIONAL[part]
        assert not early, f"{relative(path)} imports {sorted(early)} at once; import it inside the function that needs it"


HEAVY = ("networkx", "scipy", "matplotlib", "tqdm", "pandas", "safetensors", "IPython", "hypothesis", "pytest")


@pytest.mark.parametrize("module", ["registry", "autograd", "autograd.numpy", "autograd.check"])
def test_importing_loads_nothing_heavy(module):
    loaded = set(python_output(f"import {module}, sys; print(*sys.modules)").split())
    assert module in loaded
    assert not loaded & set(HEAVY)


def test_importing_registry_does_not_load_autograd():
    assert "autograd" not in python_output("import registry, sys; print(*sys.modules)").split()


# ---------------------------------------------------------------------------------------------------- completeness

INVENTORY = """
import json, autograd
from registry import gradients, kernels, operators
names = operators.operator_names()
print(json.dumps({
    "operators": names,
    "with tensors": [name for name in names if operators.get_schema(name).inputs],
    "constant": [name for name in names if operators.is_constant(name)],
    "kernels": [config.kernel_name for config in kernels.get_kernels_for_backend("numpy")],
    "gradients": list(gradients._gradients),
    "inferred": sorted(operators._inferred),
}))
"""


@pytest.fixture(scope="module")
def inventory() -> dict[str, list[str]]:
    """What is declared and registered right after ``import autograd``."""
    return json.loads(python_output(INVENTORY))


def test_every_operator_has_a_gradient_or_says_why_not(inventory):
    without = set(inventory["with tensors"]) - set(inventory["gradients"]) - set(inventory["constant"])
    missing = sorted(without - set(WITHOUT_GRADIENT))
    assert not missing, f"{len(missing)} operators have no gradient and are not declared constant: {missing}"
    assert set(WITHOUT_GRADIENT) <= without, f"no longer needed: {set(WITHOUT_GRADIENT) - without}"


def test_no_constant_operator_has_a_gradient(inventory):
    both = sorted(set(inventory["constant"]) & set(inventory["gradients"]))
    assert not both, f"declared constant, but with a gradient that is never used: {both}"


def test_every_gradient_belongs_to_a_declared_operator(inventory):
    homeless = sorted(set(inventory["gradients"]) - set(inventory["operators"]))
    assert not homeless, f"gradients of operators that do not exist: {homeless}"


def test_every_operator_is_declared_and_has_a_numpy_kernel(inventory):
    assert not inventory["inferred"], f"schemas that were inferred, not declared: {inventory['inferred']}"
    without = sorted(set(inventory["operators"]) - set(inventory["kernels"]))
    assert not without, f"operators without a kernel on numpy: {without}"


def operators_by_family() -> dict[str, set[str]]:
    """The operators whose schema a family file of the backend spells, in a call of ``operator`` or in a table for one."""
    schema = re.compile(r"^(\w+)\(.*\) -> ")
    found = {}
    for path in (ROOT / "registry/numpy_backend").glob("*.py"):  # SciPy's have a test of their own
        texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        matches = [schema.match(text) for text in texts if isinstance(text, str)]
        found[path.stem] = {match[1] for match in matches if match}
    return found


def test_every_differentiable_operator_is_tested_in_its_family(inventory):
    """Its name stands in the test file of its family: as the name of a row, or called there."""
    untested = []
    for family, names in operators_by_family().items():
        path = ROOT / "tests" / "gradients" / f"test_{family}.py"
        words = set(re.findall(r"\w+", path.read_text())) if path.is_file() else set()
        untested += [f"{family}.{name}" for name in sorted(names & set(inventory["gradients"])) if name not in words]
    assert not untested, f"{len(untested)} operators are not in the test file of their family: {untested}"
