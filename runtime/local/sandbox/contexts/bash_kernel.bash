# The bash of a context: reads cells from descriptor 3 and tells there what
# becomes of them. What they print goes to descriptors 1 and 2; their standard
# input is empty. Names of ours begin with __troupe_.
#
# A frame is a line `WORD NAME:BYTES ...` and then the parts that it names
# (contexts/kernel_frames.hpp).

__troupe_told() {
  local LC_ALL=C # in which lengths are bytes
  printf 'end status:%d count:%d\n%s%s' "${#1}" "${#2}" "$1" "$2" >&3
}

__troupe_failed() {
  local LC_ALL=C value="exit code $1" name=ExitCode
  printf 'error name:%d value:%d traceback:0\n%s%s' "${#name}" "${#value}" \
    "$name" "$value" >&3
}

# The next cell; what is not one is passed over.
__troupe_read() {
  local LC_ALL=C head
  __troupe_code=
  IFS= read -r -u 3 head || exit 0
  [[ $head == "run code:"* ]] || return 1
  local size="${head##*:}"
  [[ $size == 0 ]] || IFS= read -r -d '' -u 3 -N "$size" __troupe_code
}

# After an interrupt every command of the cell is left out, and every function
# of it left, until the cell is: no loop holds that up.
__troupe_interrupt() {
  [[ $__troupe_state == running ]] || return 0
  __troupe_state=interrupted
  shopt -s extdebug
  set -T
  trap '__troupe_leave' DEBUG
}
__troupe_leave() {
  [[ " ${FUNCNAME[*]} " == *" __troupe_evaluate "* ]] && return 2
  return 0
}
__troupe_calm() {
  trap - DEBUG
  set +T
  shopt -u extdebug
}

# A `return` of the cell leaves this, and nothing else.
__troupe_evaluate() {
  eval "$__troupe_code" </dev/null 3>&-
}

__troupe_main() {
  local status count=0
  __troupe_state=idle
  trap '__troupe_interrupt' INT
  printf 'ready\n' >&3
  while :; do
    __troupe_read || continue
    count=$((count + 1))
    __troupe_state=running
    __troupe_evaluate
    status=$?
    if [[ $__troupe_state == interrupted ]]; then
      __troupe_calm
    elif [[ $status != 0 ]]; then
      __troupe_state=error
      __troupe_failed "$status"
    else
      __troupe_state=ok
    fi
    trap '__troupe_interrupt' INT
    __troupe_told "$__troupe_state" "$count"
    __troupe_state=idle
  done
}

__troupe_main
