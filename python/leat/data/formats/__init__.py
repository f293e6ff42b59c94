"""Files and objects of other packages as datasets, and datasets as these. Names are those of ``leat.data``.

Packages are imported by the first call that needs them (`packages`).
"""
