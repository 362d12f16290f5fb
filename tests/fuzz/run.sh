#!/usr/bin/env bash
# run.sh SECONDS [TARGET...]: every fuzz target for so long, from its seeds.
# Fails at the first crash, leak or hang; the input that caused it is printed.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-60}
shift || true
build=../../build/fuzz/tests/fuzz
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in *_fuzz.cpp; do names+=("${source%_fuzz.cpp}"); done
fi
for name in "${names[@]}"; do
  # What is found goes to a corpus in the build tree; seeds stay as they are.
  corpus=$build/corpus/$name
  found=$build/found
  mkdir -p "$corpus" "$found"
  seeds=()
  [ -d "seeds/$name" ] && seeds=("seeds/$name")
  echo "== $name for $seconds s"
  if ! "$build/${name}_fuzz" -max_total_time="$seconds" -timeout=10 \
      -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$found/$name-" \
      -print_final_stats=1 -verbosity=0 "$corpus" "${seeds[@]}" \
      >"$build/$name.log" 2>&1; then
    tail -60 "$build/$name.log"
    echo "fuzz: $name failed; its input is in $found"
    exit 1
  fi
  grep -E 'number_of_executed_units|new_units_added' "$build/$name.log" || true
done
echo "fuzz: ${#names[@]} targets, no failure"
