#!/usr/bin/env bash
# usage: tests/packaging/deb.sh BUILD   the Debian packages in a fresh Debian:
# installed, used, upgraded, removed, purged. Minutes; wants root, mmdebstrap,
# lintian and a mirror (that of this machine).
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
source=${here%/tests/packaging}
build=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

step() { printf -- '-- %s\n' "$*"; }
inside() { "$here/enter.sh" "$root" "$@"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

step 'two builds are the same bytes'
"$source/packaging/deb/build.sh" "$build" "$work/one" >/dev/null
"$source/packaging/deb/build.sh" "$build" "$work/two" >/dev/null
for deb in "$work"/one/*.deb; do
  cmp "$deb" "$work/two/${deb##*/}"
done

step 'lintian has nothing to say'
lintian --fail-on error,warning "$work"/one/*.deb 2>/dev/null

step 'systemd knows every word of the unit'
mkdir -p "$work/unit"
sed 's#/usr/bin/troupe#/bin/true#' "$source/packaging/systemd/troupe.service" \
  >"$work/unit/troupe.service"
systemd-analyze verify --man=no "$work/unit/troupe.service"
exposure=$(systemd-analyze security --offline=yes --no-pager \
  "$work/unit/troupe.service" \
  | sed -n 's/.*Overall exposure level.*: \([0-9.]*\).*/\1/p')
awk -v e="$exposure" 'BEGIN { exit !(e <= 4.0) }' \
  || fail "exposure $exposure is above 4.0"

step 'a fresh Debian'
mmdebstrap --quiet --variant=apt bookworm "$root" >/dev/null
cp "$work"/one/*.deb "$root/tmp/"
# Packages come the way they come to this machine.
cp /etc/resolv.conf "$root/etc/"
cp -n /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
inside apt-get update -qq
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"

step 'installs with what it needs'
inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
  --no-install-recommends /tmp/troupe_*.deb >/tmp/install.log 2>&1' \
  || { tail -20 "$root/tmp/install.log"; fail install; }
inside stat -c '%U %a' /var/lib/troupe | grep -qx 'troupe 700'
inside stat -c '%U %G %a' /etc/troupe/environment | grep -qx 'root troupe 640'

# Limits of memory want a delegated cgroup, which systemd gives and this does not.
step 'runs a tool as its user, without capabilities'
as_service() {
  inside setpriv --reuid troupe --regid troupe --init-groups --no-new-privs \
    --inh-caps=-all --bounding-set=-all env HOME=/var/lib/troupe "$@" \
    >"$work/out" 2>"$work/err" || { cat "$work/err"; fail "$*"; }
}
as_service troupe run --best-effort -c 'print(6 * 7)'
grep -qx 42 "$work/out"
as_service troupe key create first

step 'its command line works for everybody'
inside setpriv --reuid 65534 --regid 65534 --clear-groups \
  env HOME=/tmp troupe version >/dev/null
inside sh -c 'man -V >/dev/null 2>&1 || test -s /usr/share/man/man1/troupe.1.gz'

step 'an upgrade keeps a changed config.ini'
echo '; mine' >>"$root/etc/troupe/config.ini"
inside sh -c 'dpkg -i /tmp/troupe_*.deb >/dev/null 2>&1'
grep -qx '; mine' "$root/etc/troupe/config.ini"

step 'a purge keeps data, and says so'
inside dpkg --purge troupe >"$work/out" 2>&1 || { cat "$work/out"; fail purge; }
grep -q '/var/lib/troupe was kept' "$work/out" \
  || { cat "$work/out"; fail 'a word about what was kept'; }
[ -e "$root/var/lib/troupe/master.key" ] \
  || fail 'the master key is gone'
[ ! -e "$root/etc/troupe" ] || fail '/etc/troupe is left'

step 'a purge without data leaves nothing'
inside sh -c 'rm -rf /var/lib/troupe && dpkg -i /tmp/troupe_*.deb \
  >/dev/null 2>&1 && dpkg --purge troupe >/dev/null 2>&1'
[ ! -e "$root/var/lib/troupe" ] || fail '/var/lib/troupe is left'

echo 'all well'
