"""What is accounted for without a row: constants by nature, functions of no arrays, and functions that refuse a tensor."""

from __future__ import annotations

from tests.coverage.namespaces import NUMPY


def _words(texts: dict[str, str]) -> dict[str, str]:
    return {f"numpy.{name}": reason for reason, names in texts.items() for name in names.split()}


CONSTANT = _words(
    {
        "a position, an order or a count": "argmax argmin argpartition argsort argwhere bincount count_nonzero"
        " diag_indices_from digitize flatnonzero lexsort linalg.matrix_rank nanargmax nanargmin nonzero searchsorted"
        " tril_indices_from triu_indices_from",
        "true or false": "all allclose any array_equal array_equiv can_cast equal greater greater_equal isclose iscomplex"
        " iscomplexobj isfinite isfortran isin isinf isnan isneginf isposinf isreal isrealobj isscalar iterable less less_equal"
        " logical_and logical_not logical_or logical_xor may_share_memory not_equal shares_memory signbit",
        "steps, with a derivative of 0 or none": "around ceil fix floor floor_divide rint round spacing trunc",
        "of the shape or the dtype alone": "common_type empty_like min_scalar_type ndim ones_like result_type shape size"
        " zeros_like",
        "a text": "array2string array_repr array_str",
    }
) | {"scipy.special.gammasgn": "steps, with a derivative of 0 or none"}
del CONSTANT["numpy.bincount"]  # which has weights
"""Functions whose result has no derivative: with a tensor they give NumPy's plain result. Name -> what the result is."""

NO_ARRAYS = _words(
    {
        "dtypes and their limits": "bool bool_ byte bytes_ cdouble character clongdouble complex128 complex256"
        " complex64 complexfloating csingle datetime64 double dtype finfo flexible float128 float16 float32 float64"
        " floating generic half iinfo inexact int16 int32 int64 int8 int_ intc integer intp isdtype issubdtype long longdouble"
        " longlong mintypecode number object_ promote_types short signedinteger single str_ timedelta64 typename ubyte uint"
        " uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unsignedinteger ushort void",
        "files, bytes and texts": "base_repr binary_repr format_float_positional format_float_scientific from_dlpack frombuffer"
        " fromfile fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez savez_compressed",
        "settings and information": "errstate get_include get_printoptions getbufsize geterr geterrcall info linalg.LinAlgError"
        " linalg.test fft.test printoptions set_printoptions setbufsize seterr seterrcall show_config show_runtime test",
        "lengths, shapes and numbers of points": "bartlett blackman broadcast_shapes diag_indices einsum_path hamming hanning"
        " index_exp indices mask_indices ndindex s_ tril_indices triu_indices",
        "dates": "busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday",
        "classes of arrays, iterators and functions": "asmatrix bmat broadcast flatiter frompyfunc fromiter matrix memmap"
        " ndarray ndenumerate nditer nested_iters recarray record ufunc",
    }
)
"""Functions that take nothing a derivative could be taken in. Name -> what they are about."""

REFUSED = _words(
    {
        "how many elements there are has no derivative": "arange empty eye identity ones tri zeros",
        "bits and whole numbers": "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or"
        " bitwise_right_shift bitwise_xor gcd invert isnat lcm left_shift packbits right_shift unpackbits",
        "indices": "ix_ ravel_multi_index unravel_index",
        "it would give a function bare numbers": "vectorize",
    }
)
"""Functions that raise NotTrackedError, which names them, for a tensor. Name -> why."""

LISTS = {"constant by nature": CONSTANT, "takes no arrays": NO_ARRAYS, "refuses tensors": REFUSED}

PLATFORM = {"numpy.complex256", "numpy.float128"}
"""Names that NumPy has on some platforms only."""

NOT_CALLED = _words(
    {
        "reads or writes files": "fromfile fromregex genfromtxt load loadtxt memmap save savetxt savez savez_compressed",
        "prints, or runs NumPy's tests": "fft.test info linalg.test show_config show_runtime test",
        "changes settings": "set_printoptions setbufsize seterr seterrcall",
    }
)
"""Functions that no sweep calls. Name -> why."""


def namespace_of(name: str) -> str:
    """``numpy.linalg.norm`` -> ``numpy.linalg``; the longest of NumPy's that fits."""
    fitting = [each for each in NUMPY if name.startswith(f"{each}.")]
    return max(fitting, key=len) if fitting else name.rpartition(".")[0]
