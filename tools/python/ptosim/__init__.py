"""ptosim: an emulator of the Ascend PTO vector layer on numpy.

It provides the modules that a PTODSL kernel file imports (`ptodsl`, beside this package), traces kernels as the
documentation says the real front end does, refuses what the real tools refuse, and executes the rest exactly. It is
written from the specification alone and shares nothing with the compiler whose output it checks.
"""
