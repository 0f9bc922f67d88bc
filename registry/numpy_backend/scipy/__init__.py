"""SciPy's functions on the NumPy backend. Nothing here is declared before the family that needs it is imported.

An operator that stands for one of SciPy's ufuncs carries the ufunc's name, which is how the ufunc finds it when it meets a
tensor; every other carries the name of SciPy's function with ``scipy_`` in front, so that NumPy's names stay NumPy's.
"""
