#!/usr/bin/env bash
# hardening.sh FILES: programs and shared objects that are loaded at any
# address, resolve everything before they begin, execute no data, and check the
# sizes they give to libc.
set -euo pipefail
bad=0
lacks() { printf '%s: %s\n' "$1" "$2" >&2; bad=1; }
for file in "$@"; do
  about=$(readelf --wide --file-header --program-headers --dynamic "$file")
  calls=$(readelf --wide --dyn-syms "$file")
  grep -q 'Type: *DYN' <<<"$about" || lacks "$file" "is not position independent"
  grep -Eq 'BIND_NOW|FLAGS.* NOW' <<<"$about" || lacks "$file" "binds lazily"
  grep -q 'GNU_RELRO' <<<"$about" || lacks "$file" "has writable relocations"
  grep -Eq 'GNU_STACK.* RW ' <<<"$about" || lacks "$file" "has an executable stack"
  ! grep -Eq 'LOAD.* RWE ' <<<"$about" || lacks "$file" "has writable code"
  grep -Eq '(cpy|printf)_chk' <<<"$calls" \
    || lacks "$file" "calls libc unchecked"
done
exit $bad
