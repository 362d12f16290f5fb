#!/usr/bin/env bash
# usage: enter.sh ROOT COMMAND...   runs it with ROOT as its root
#
# Not by chroot: a process in a chroot may make no user namespace, and sandboxes
# are made of them.
set -euo pipefail
root=$1
shift
exec unshare --mount --pid --fork --propagation private bash -c '
  root=$1
  shift
  mount --bind "$root" "$root"
  mkdir -p "$root/.before"
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"
  mount -t proc proc "$root/proc"
  cd "$root"
  pivot_root . .before
  # A fresh root may have no umount of its own.
  old=/.before
  libraries=$old/lib/$(uname -m)-linux-gnu:$old/usr/lib/$(uname -m)-linux-gnu
  $old/lib64/ld-linux-*.so.* --library-path "$libraries" \
    "$old/usr/bin/umount" -l "$old"
  export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
  cd /
  exec "$@"' enter "$root" "$@"
