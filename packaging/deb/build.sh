#!/usr/bin/env bash
# usage: packaging/deb/build.sh BUILD OUT   the Debian packages of what was built
#
# The same sources make the same bytes: owners, times and order are fixed.
set -euo pipefail

source=$(dirname "$(readlink -f "$0")")
root=${source%/packaging/deb}
build=$(readlink -f "$1")
mkdir -p "$2"
out=$(readlink -f "$2")

version=$(sed -n 's/^project(troupe VERSION \([0-9.]*\).*/\1/p' \
  "$root/CMakeLists.txt")
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2>/dev/null \
  || stat -c %Y "$root/CHANGELOG.md")}"
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)
maintainer='The Troupe authors <troupe@localhost>'

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

put() { # component, package
  DESTDIR=$stage/$2 cmake --install "$build" --prefix /usr --component "$1" \
    --strip >/dev/null
}

# Every package has its licence, what changed, and why lintian errs.
add_documents() { # package
  local doc=$stage/$1/usr/share/doc/$1
  install -D -m 644 "$source/copyright" "$doc/copyright"
  {
    printf 'troupe (%s) stable; urgency=medium\n\n' "$version"
    printf '  * What changed is in changelog.gz.\n\n'
    printf ' -- %s  %s\n' "$maintainer" \
      "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
  } | gzip -9n >"$doc/changelog.Debian.gz"
  gzip -9n <"$root/CHANGELOG.md" >"$doc/changelog.gz"
  install -D -m 644 "$source/$1.lintian-overrides" \
    "$stage/$1/usr/share/lintian/overrides/$1"
}

# The libraries that the binary needs, as packages.
libraries_of() { # binary
  mkdir -p "$stage/control/debian"
  printf 'Source: troupe\n\nPackage: troupe\nArchitecture: any\n' \
    >"$stage/control/debian/control"
  (cd "$stage/control" && dpkg-shlibdeps -O "$1" 2>/dev/null) \
    | sed -n 's/^shlibs:Depends=//p'
}

pack() { # package, control fields on standard input
  local tree=$stage/$1
  mkdir -p "$tree/DEBIAN"
  {
    printf 'Package: %s\nSource: troupe\nVersion: %s\nArchitecture: %s\n' \
      "$1" "$version" "$architecture"
    printf 'Maintainer: %s\nInstalled-Size: %s\nPriority: optional\n' \
      "$maintainer" "$(du -sk --apparent-size "$tree" | cut -f1)"
    cat
  } >"$tree/DEBIAN/control"
  (cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' \
    | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  find "$tree" -newermt "@$SOURCE_DATE_EPOCH" \
    -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  chmod -R u+rwX,go+rX,go-w "$tree"
  dpkg-deb --root-owner-group -Zxz --build "$tree" "$out" >/dev/null
  printf '%s\n' "$out/${1}_${version}_$architecture.deb"
}

make_troupe() {
  local tree=$stage/troupe script
  put troupe troupe
  add_documents troupe
  gzip -9n "$tree/usr/share/man/man1/troupe.1"
  install -D -m 644 "$root/packaging/systemd/troupe.service" \
    "$tree/usr/lib/systemd/system/troupe.service"
  install -D -m 644 "$source/troupe.sysusers" \
    "$tree/usr/lib/sysusers.d/troupe.conf"
  # For the service and for everybody's command line: both must mean one store.
  mkdir -p "$tree/etc/troupe"
  sed 's#^;data-dir = "data"$#data-dir = "/var/lib/troupe"#' \
    "$root/config.ini" >"$tree/etc/troupe/config.ini"
  grep -q '^data-dir' "$tree/etc/troupe/config.ini"
  mkdir -p "$tree/DEBIAN"
  echo /etc/troupe/config.ini >"$tree/DEBIAN/conffiles"
  for script in preinst postinst prerm postrm; do
    install -m 755 "$source/$script" "$tree/DEBIAN/$script"
  done
  pack troupe <<CONTROL
Section: net
Depends: $(libraries_of "$tree/usr/bin/troupe"), adduser, python3
Recommends: python3-venv, python3-pip, python3-pydantic, nodejs, npm, ca-certificates
Description: execution engine for the tools of AI agents
 Troupe runs the tools of AI agents in isolated processes on this machine, or at
 providers, under hard limits, and answers with typed results. Living sandboxes
 keep files, processes and interpreters between calls. Platforms reach it over
 HTTP, over CAF messages, or with clients that they have.
CONTROL
}

make_dev() {
  put dev libtroupe-dev
  mkdir -p "$stage/libtroupe-dev/usr/share/doc"
  # Examples belong to the package that can build them.
  mkdir -p "$stage/libtroupe-dev/usr/share/doc/libtroupe-dev"
  mv "$stage/libtroupe-dev/usr/share/doc/troupe/examples" \
    "$stage/libtroupe-dev/usr/share/doc/libtroupe-dev/examples"
  rmdir "$stage/libtroupe-dev/usr/share/doc/troupe"
  add_documents libtroupe-dev
  pack libtroupe-dev <<CONTROL
Section: libdevel
Depends: troupe (= $version), libcaf-dev, libboost1.81-dev, librocksdb-dev, libcrypto++-dev, libspdlog-dev, libssl-dev, libnghttp2-dev, libre2-dev, zlib1g-dev
Description: execution engine for the tools of AI agents, as a library
 Headers, static libraries and CMake files: an engine inside of a C++ program,
 by <troupe/engine.hpp> or with its actors. The examples build with
 find_package(troupe).
CONTROL
}

make_troupe
make_dev
