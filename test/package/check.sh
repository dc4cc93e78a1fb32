#!/usr/bin/env bash
# Finds the CMake package as a user does, in the build tree and in a fresh install prefix, builds the project beside this script
# against both and runs it.
#
# usage: check.sh BUILD_DIR
set -euo pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
  echo "== $1"
  cmake -G Ninja -S "$source" -B "$work/$1" "${@:2}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  cmake --build "$work/$1" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  "$work/$1/jit"
  "$work/$1/aot"
}

run build-tree -DHalide_DIR="$build"
cmake --install "$build" --prefix "$work/prefix" >/dev/null
# A prefix can be moved: nothing in the package may name the place it was written to, or the build tree.
mv "$work/prefix" "$work/moved"
if grep -rlE "$build|$work/prefix" "$work/moved" --include='*.cmake'; then
  echo "these files of the package name the build tree"
  exit 1
fi
run installed -DCMAKE_PREFIX_PATH="$work/moved"
