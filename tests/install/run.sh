#!/usr/bin/env bash
# run.sh BUILD: installs into a temporary prefix, builds a program of somebody
# else with find_package(troupe), and runs it and the installed binary.
set -euo pipefail
build=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "$0")")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/troupe" version
grep -q '^.TH TROUPE 1' "$work/prefix/share/man/man1/troupe.1"
test -f "$work/prefix/lib/systemd/system/troupe.service"
for file in config.ini LICENSE operating.md tools.md; do
  test -f "$work/prefix/share/doc/troupe/$file"
done
bash -n "$work/prefix/share/bash-completion/completions/troupe"
cmake -S consumer -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 \
  || { cat "$work/log"; exit 1; }
ninja -C "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/consumer" | tee "$work/out" >&2
for who in tool token actor; do
  grep -Exq "$who answered \\{\"n\": ?21\\}" "$work/out"
done
# The examples that came with it, as their CMakeLists.txt says.
cmake -S "$work/prefix/share/doc/troupe/examples" -B "$work/examples" -G Ninja \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 \
  && ninja -C "$work/examples" >"$work/log" 2>&1 \
  || { cat "$work/log"; exit 1; }
"$work/examples/embedded_agent" --inline
