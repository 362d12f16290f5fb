#!/usr/bin/env bash
# unprivileged.sh PROGRAM [ARGS]: runs it as an ordinary user who was given
# control groups of his own, as systemd does for a unit with Delegate=yes.
set -eu
[ "$(id -u)" -eq 0 ] || { echo "skipped: not root"; exit 77; }
user=65534
# That user may have no way into the directory of this one.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
cp "$1" "$place/program"
shift
groups=()
for root in /sys/fs/cgroup /sys/fs/cgroup/{memory,pids,cpuacct,unified}; do
  [ -e "$root/cgroup.procs" ] || continue
  [ ! -e "$root/cgroup.subtree_control" ] \
    || echo "+memory +pids" 2>/dev/null >"$root/cgroup.subtree_control" || true
  group=$root/troupe-unprivileged-$$
  mkdir "$group" || continue
  chown "$user:$user" "$group" "$group"/cgroup.{procs,threads,subtree_control} \
    2>/dev/null || true
  chown "$user:$user" "$group/cgroup.procs"
  groups+=("$group")
done
code=0
# Nobody else may be in the group: version 2 would not divide it.
(
  cd "$place"
  for group in "${groups[@]}"; do echo "$BASHPID" >"$group/cgroup.procs"; done
  exec setpriv --reuid "$user" --regid "$user" --clear-groups \
    "$place/program" "$@"
) || code=$?
for group in "${groups[@]}"; do
  find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
done
exit "$code"
