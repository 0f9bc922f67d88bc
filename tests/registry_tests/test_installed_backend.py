"""A backend in a package of its own, installed: found by its name, loaded when first needed, and right in float32."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import autograd
import autograd.numpy as anp
from autograd import operators as op
from registry import backends, find_backend, get_kernel, get_schema, registered_backends, set_backend, use_backend
from registry.__main__ import main
from registry.backend_index import index_of_backend
from registry.errors import BackendError, KernelError, OutArrayError
from registry.loading import ENTRY_POINT_GROUP, DiscoveredBackend, discover_backends, load_discovered_backend, unload_backend
from tests.gradients import harness
from tests.gradients.differences import assert_close

PACKAGE = Path(__file__).parent / "float32_backend"

OPERATORS = ("add", "subtract", "multiply", "divide", "negative", "exp", "log", "tanh", "sum", "matmul")
FAMILIES = ("arithmetic", "explog", "products", "reduction", "trig")


def write_metadata(target, name, version, entry_points):
    """What an installer writes beside a package."""
    folder = target / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"{each} = {value}" for each, value in entry_points.items()]
    (folder / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINT_GROUP}]", *lines, ""]))


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder into which the package is installed, with the metadata that its pyproject.toml gives. No installer is needed."""
    target = tmp_path_factory.mktemp("site-packages")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    write_metadata(target, project["name"], project["version"], project["entry-points"][ENTRY_POINT_GROUP])
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE / "gradtape_float32", target / "gradtape_float32", ignore=ignored)
    return target


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty folder for packages, on the path; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for package in ("offered", "first", "second"):
        forget_modules(package)


@pytest.fixture
def float32(installed, monkeypatch):
    """The name of the installed backend, which nobody has loaded yet."""
    monkeypatch.syspath_prepend(installed)
    aside = forget_modules("gradtape_float32")  # the search for tests may have imported the sources
    yield "float32"
    forget_modules("gradtape_float32")
    sys.modules.update(aside)


def forget_modules(package):
    """Take a package out of the imported modules; returns what was there."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == package}


def offer(site, module="offered", text="", *, name="offered", distribution="some-package", entry=None):
    """Install a package of one module that offers a backend."""
    (site / f"{module}.py").write_text(text)
    write_metadata(site, distribution, "1.2", {name: entry or module})
    importlib.invalidate_caches()


WHOLE = """
BACKEND = {"backend": "offered", "namespace": "offered", "supported": ["exp"]}

def exp(x):
    return 7.0
"""


# ------------------------------------------------------------------------------------------------------------- discovery


def test_an_installed_backend_is_seen_and_not_imported(float32):
    assert DiscoveredBackend("float32", "gradtape_float32.kernels", "gradtape-float32 0.1.0") in discover_backends()
    assert "gradtape_float32" not in sys.modules
    assert "float32" not in registered_backends()


def test_it_is_loaded_when_its_name_is_first_used(float32, installed):
    assert find_backend("float32") is not None
    assert registered_backends() == ["numpy", "float32"]
    assert Path(sys.modules["gradtape_float32.kernels"].__file__).parent == installed / "gradtape_float32"
    load_discovered_backend("float32")
    assert registered_backends() == ["numpy", "float32"]


@pytest.mark.parametrize("use", [set_backend, lambda name: use_backend(name).__enter__().name, load_discovered_backend])
def test_every_way_to_a_backend_finds_it(site, use):
    offer(site, text=WHOLE)
    chosen = backends.chosen_backend.get()
    try:
        use("offered")
    finally:
        backends.chosen_backend.set(chosen)
    assert get_kernel("exp", "offered").kernel_func(0.0) == 7.0


def test_it_can_be_unloaded_and_found_again(float32):
    set_backend("float32")
    unload_backend("float32")
    assert registered_backends() == ["numpy"]
    with use_backend("float32"):
        assert op.exp(np.float32(0)).dtype == np.float32


def test_the_program_of_a_user(installed):
    """In a process of its own, where nothing but the name of the backend is given."""
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "import registry\n"
        "assert 'importlib.metadata' not in sys.modules and 'tomllib' not in sys.modules\n"
        "registry.set_backend('float32')\n"
        "import numpy, autograd, autograd.numpy as np\n"
        "print(autograd.grad(lambda x: np.sum(np.exp(x)))(numpy.zeros(2, 'float32')).dtype, registry.get_backend())\n"
    )
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (ran.stdout.split(), ran.stderr) == (["float32", "float32"], "")


def test_many_threads_load_it_once(site):
    offer(site, text="import time; time.sleep(0.05)\n" + WHOLE)
    gate = threading.Barrier(8)

    def start(_):
        gate.wait()
        return find_backend("offered")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(start, range(8)))
    assert found[0] is not None
    assert len({id(each) for each in found}) == 1


def test_the_description_may_stand_in_a_file(site):
    (site / "offered.toml").write_text('backend = "offered"\nnamespace = "offered"\nsupported = ["exp"]\n')
    offer(site, text="from pathlib import Path\nBACKEND = Path(__file__).with_suffix('.toml')\ndef exp(x): return 7.0\n")
    with use_backend("offered"):
        assert op.exp(1.0) == 7.0


# ------------------------------------------------------------------------------------------------------------------ failures


@pytest.mark.parametrize(
    ("text", "entry", "words"),
    [
        ("", None, "module 'offered' has no BACKEND"),
        ("BACKEND = None", None, "has no BACKEND"),
        ("BACKEND = 3", None, "expected a mapping"),
        ("BACKEND = 'nowhere.toml'", None, r"nowhere\.toml cannot be read"),
        ("raise OSError('no such device')", None, "no such device"),
        ("import no_such_module", None, "no_such_module"),
        (WHOLE, "elsewhere", "No module named 'elsewhere'"),
        (WHOLE, "offered:BACKEND", "offered:BACKEND"),
        (WHOLE.replace("def exp", "def exq"), None, "lacks kernels"),
        (WHOLE.replace('["exp"]', '["exq"]'), None, "'exq'.*does not exist"),
        (
            WHOLE.replace('"offered", "names', '"another", "names'),
            None,
            "got 'another', expected 'offered', the name of the entry",
        ),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(site, text, entry, words):
    offer(site, text=text, entry=entry)
    for _ in range(2):
        with pytest.raises(
            BackendError, match=f"(?s)backend 'offered' of some-package 1.2 cannot be loaded: .*{words}"
        ) as caught:
            set_backend("offered")
        assert caught.value.__cause__ is not None
    assert find_backend("offered") is None
    assert registered_backends() == ["numpy"]


def test_two_packages_that_offer_one_name_are_both_named(site):
    offer(site, "first", WHOLE, distribution="first-package")
    offer(site, "second", WHOLE, distribution="second-package")
    with pytest.raises(BackendError, match=r"'offered' is offered by first-package 1\.2 and second-package 1\.2"):
        set_backend("offered")


def test_a_name_that_nobody_offers_is_named_with_those_that_are(float32):
    with pytest.raises(BackendError, match=r"'flaot32' is not registered.*installed packages offer \['float32'\].*'float32'\?"):
        set_backend("flaot32")
    with pytest.raises(BackendError, match=r"no installed package offers backend 'flaot32'.*'float32'\?"):
        load_discovered_backend("flaot32")


def test_a_registered_backend_goes_before_an_installed_one(site):
    offer(site, text="raise OSError", name="numpy")
    set_backend("numpy")
    with use_backend("numpy"):
        assert op.exp(0.0) == 1.0


def test_a_default_is_never_looked_for_among_packages(float32):
    backends._default = None
    assert op.exp(np.float64(0.0)) == 1.0
    assert "gradtape_float32" not in sys.modules


# -------------------------------------------------------------------------------------------- the float32 backend's operators


def test_what_it_implements(float32):
    set_backend(float32)
    found = index_of_backend("float32")
    own = {name: metadata for name, metadata in found.index.items() if metadata.namespace == "gradtape_float32.kernels"}
    assert {str(name) for name in own} == {*OPERATORS, "add.out", "exp.out"}
    assert {name.split(".")[0] for name in map(str, found.index)} == {
        name.split(".")[0] for name in index_of_backend("numpy").kernel_names()
    }


CASES = [
    case
    for family in FAMILIES
    for case in importlib.import_module(f"tests.gradients.test_{family}").CASES
    if case.name in OPERATORS and "float32" in case.dtypes and case.label != "dtype"  # that row sums in float64
]


def derivatives(case, inputs):
    """Value, gradient, and the gradient of a projection of the gradient, of a row's function on these inputs."""
    f, floats = harness._of_floats(case, inputs)
    cotangents = harness._cotangents(case, inputs)
    directions = harness._directions(floats)
    numbers = tuple(range(len(floats)))

    def slope(*x):
        return harness._project(autograd.grad(lambda *x: harness._project(f(*x), cotangents), numbers)(*x), directions)

    value, pull_back = autograd.vjp(f, *floats)
    with autograd.Tape() as tape:
        bends = type(slope(*[tape.watch(each) for each in floats])) is autograd.Tensor
    return {
        "value": [value],
        "gradient": list(pull_back(harness._like(value, cotangents))),
        "second derivative": list(autograd.grad(slope, numbers)(*floats)) if bends else [],
    }


def test_there_are_rows_for_all_ten_operators():
    assert {case.name for case in CASES} == set(OPERATORS)
    assert len(OPERATORS) == 10


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives_are_those_of_numpy_in_float64(float32, case):
    for narrow, precise in zip(case.variants("float32"), case.variants("float64"), strict=True):
        with use_backend(float32):
            found = derivatives(case, narrow)
        expected = derivatives(case, precise)
        for what, values in expected.items():
            for got, want in zip(found[what], values, strict=True):
                where = f"{case} {harness._describe(narrow)}: {what}"
                assert type(got) is float or got.dtype == np.float32, where
                assert np.shape(got) == np.shape(want), where
                assert_close(got, want, 1e-4, where)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_numpys(float32, case):
    row = harness.Case(case.name, case.call, case.reference, case.inputs, case.shapes, case.domain, case.attrs, ("float32",))
    with use_backend(float32):
        harness.check_value(row)


def function_of(name):
    return {"matmul": lambda x: op.matmul(x, x)}.get(name, lambda x: getattr(op, name)(*[x] * len(get_schema(name).inputs)))


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_another_type_is_refused_by_name(float32, name, dtype):
    f = function_of(name)
    with use_backend(float32):
        with pytest.raises(KernelError, match=f"operator '{name}': got an array of dtype {dtype}, expected float32"):
            f(np.ones((2, 2), dtype))
        assert f(np.ones((2, 2), int)).dtype == f(np.ones((2, 2), bool)).dtype == np.float32
    f(np.ones((2, 2), dtype))


def test_python_numbers_take_the_type_of_what_they_meet(float32):
    with use_backend(float32):
        for number in (2, 2.0, np.float64(2)):
            assert op.multiply(number, np.ones(3, np.float32)).dtype == np.float32
        assert type(op.multiply(0.1, 3)) is float
        assert op.multiply(0.1, 3) == 0.1 * 3


def test_out_variants(float32):
    x = np.array([0.5, 2.0], np.float32)
    with use_backend(float32):
        out = np.empty(2, np.float32)
        assert op.exp(x, out=out) is out
        np.testing.assert_array_equal(out, np.exp(x))
        assert op.add(x, [1, 2], out=out) is out
        np.testing.assert_array_equal(out, [1.5, 4.0])
        assert op.multiply(x, x, out=out) is out  # generated
        np.testing.assert_array_equal(out, [0.25, 4.0])
        assert op.negative_(out) is out
        np.testing.assert_array_equal(out, [-0.25, -4.0])
        for wrong in (np.empty(2), np.empty(3, np.float32), np.empty((2, 2), np.float32)):
            with pytest.raises(OutArrayError, match=r"operator 'add\.out'.*expected \(2,\) and float32"):
                op.add(x, x, out=wrong)


def test_the_sum_has_one_type(float32):
    x = np.ones(3, np.float32)
    with use_backend(float32):
        assert op.sum(x, dtype=np.float32).dtype == np.float32
        with pytest.raises(KernelError, match="operator 'sum': got dtype='float64'"):
            op.sum(x, dtype="float64")


def test_a_small_model_is_trained_in_float32(float32):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3)).astype(np.float32)
    y = np.tanh(x @ np.array([[1.0], [-2.0], [0.5]], np.float32))
    w = np.zeros((3, 1), np.float32)

    def loss(w):
        difference = anp.tanh(anp.matmul(x, w)) - y
        return anp.sum(difference * difference) / 20

    with use_backend(float32):
        first = loss(w)
        for _ in range(200):
            w = w - np.float32(0.5) * autograd.grad(loss)(w)
        assert w.dtype == np.float32
        assert loss(w) < 1e-3 * first


# ------------------------------------------------------------------------------------------------------ a real installation


def test_an_installer_writes_the_same(installed, tmp_path):
    """pip with setuptools, where they are there to do it without a network."""
    present = {each.name: each.version for each in metadata.distributions(name="setuptools")}
    if int(present.get("setuptools", "0").partition(".")[0]) < 71 or not list(metadata.distributions(name="pip")):
        pytest.skip("no pip, or no setuptools that can build a wheel by itself (71)")
    source = shutil.copytree(PACKAGE, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path / "target"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(target), str(source)], check=True, capture_output=True)

    def seen(folder):
        (found,) = metadata.distributions(path=[str(folder)])
        entry_points = [(each.group, each.name, each.value) for each in found.entry_points]
        files = {path.relative_to(folder).as_posix(): path.read_text() for path in (folder / "gradtape_float32").glob("*.[pt]*")}
        return found.name, found.version, entry_points, files

    assert seen(target) == seen(installed)
    assert len(seen(target)[-1]) == 3


@pytest.mark.usefixtures("float32")
def test_the_table_of_operators_knows_an_installed_backend_before_it_is_used(capsys):
    assert main(["exp", "tan", "--backend", "float32"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["exp", "tan"]
    assert lines[1].split()[4] == "float32"
