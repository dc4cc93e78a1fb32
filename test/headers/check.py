#!/usr/bin/env python3
"""Compiles each public header alone, and program.cpp, as users with strict settings do: no warning may come from us.

usage: check.py INCLUDE_DIR
Every C++ compiler among g++, clang++ and clang++-22 that is there is tried, as C++17 and C++20, and HalideRuntime*.h with the C
compilers as C99 and C11. The include directory is not a system one, so that nothing is silenced.
"""
import os
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wpedantic", "-fsyntax-only"]

# Needs PyTorch's or a device's own headers, which a compiler for the CPU does not have.
NOT_ALONE = {"HalidePyTorchHelpers.h", "HalidePyTorchCudaHelpers.h"}


def main():
    include = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    headers = sorted(h for h in os.listdir(include) if h.endswith(".h") and h not in NOT_ALONE)
    failed = 0
    tried = 0

    def compile_text(command, what, text=None):
        nonlocal failed, tried
        tried += 1
        result = subprocess.run(command, input=text, capture_output=True, text=True)
        if result.returncode != 0:
            failed += 1
            print(f"FAILED: {what}\n  {' '.join(command)}\n{result.stderr[:2000]}")

    for compiler in filter(shutil.which, ["g++", "clang++", "clang++-22"]):
        for standard in ["17", "20"]:
            command = [compiler, f"-std=c++{standard}", *WARNINGS, "-I", include]
            for header in headers:
                if header != "Halide.h":  # program.cpp includes it first
                    compile_text([*command, "-x", "c++", "-"], f"{header}, {compiler}, C++{standard}",
                                 f'#include "{header}"\n')
            compile_text([*command, os.path.join(here, "program.cpp")], f"program.cpp, {compiler}, C++{standard}")
    for compiler in filter(shutil.which, ["gcc", "clang", "clang-22"]):
        for standard in ["99", "11"]:
            for header in headers:
                if header.startswith("HalideRuntime"):
                    compile_text([compiler, f"-std=c{standard}", *WARNINGS, "-I", include, "-x", "c", "-"],
                                 f"{header}, {compiler}, C{standard}", f'#include "{header}"\n')
    print(f"{tried} compilations, {failed} failed")
    sys.exit(failed != 0 or tried == 0)


main()
