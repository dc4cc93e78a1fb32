#!/usr/bin/env python3
"""Writes Halide.h: the public headers and what they include, each once, in order of dependence.

usage: amalgamate.py SRC_DIR LIST OUTPUT
LIST holds header paths relative to SRC_DIR, one a line. Headers of runtime/ stay files of their own beside Halide.h,
because programs also include them alone. Files that do not begin with `#pragma once` (tables) are pasted at every place
that includes them.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def main():
    src, list_file, output = sys.argv[1:4]
    done = set()
    out = []

    def paste(path, including):
        full = os.path.join(src, path)
        if not os.path.exists(full):
            raise SystemExit(f"{including}: no such header: {path}")
        with open(full) as f:
            lines = f.read().split("\n")
        once = any(line.strip() == "#pragma once" for line in lines)
        if once:
            if path in done:
                return
            done.add(path)
        for line in lines:
            match = INCLUDE.match(line)
            if match:
                name = match.group(1)
                if name.startswith("runtime/"):
                    name = os.path.basename(name)
                    if name not in done:
                        done.add(name)
                        out.append(f'#include "{name}"')
                    continue
                candidate = name
                if not os.path.exists(os.path.join(src, candidate)):
                    candidate = os.path.join(os.path.dirname(path), name)
                paste(candidate, path)
            elif line.strip() != "#pragma once":
                out.append(line)

    with open(list_file) as f:
        roots = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    out.append("#ifndef HALIDE_H")
    out.append("#define HALIDE_H")
    for root in roots:
        paste(root, list_file)
    # The short error macros are ours; programs keep them on request.
    out.append("#ifndef HALIDE_KEEP_MACROS")
    for macro in ("user_error", "user_warning", "user_assert", "internal_error", "internal_assert",
                  "halide_runtime_error", "debug"):
        out.append(f"#undef {macro}")
    out.append("#endif")
    out.append("#endif  // HALIDE_H")
    text = "\n".join(out) + "\n"
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output + ".tmp", "w") as f:
        f.write(text)
    os.replace(output + ".tmp", output)


main()
