#!/usr/bin/env bash
# Rules have codes: P, H, B, C or S and a number. docs/reference/rules.md says
# what each demands. A code that is cited has a row there; a row names a test
# that cites it; whatever refers to docs/reference, or is named there, exists.
# Usage: rows.sh [a copy of the sources]
cd "${1:-$(dirname "$0")/..}" || exit 1
rules=docs/reference/rules.md
rooms=(actors app bench include net runtime storage tests)
status=0
complain() {
  echo "$*"
  status=1
}

# As a word, or as the first one of a case's name: c4_leaving_without_...
# P50 and P99 are percentiles.
codes_in() { # files or folders
  {
    grep -rhowE --include='*.cpp' --include='*.hpp' '[PHBCS][1-9][0-9]?' "$@"
    grep -rhoE --include='*.cpp' 'TEST_CASE\([pshbc][1-9][0-9]?_' "$@" \
      | sed -E 's/.*\((.*)_/\U\1/'
  } | grep -vxE 'P50|P9[0-9]' | sort -u
}

# -- every code has a row, and every row a test -------------------------------
rows=$(grep -E '^\| [PHBCS][1-9][0-9]? \|' "$rules")
listed=$(cut -d' ' -f2 <<<"$rows")
for code in $(sort <<<"$listed" | uniq -d); do
  complain "$rules has two rows for $code"
done
for code in $(comm -23 <(codes_in "${rooms[@]}") <(sort -u <<<"$listed")); do
  complain "$code is cited, but $rules has no row for it:" \
    "$(grep -rlwi --include='*.cpp' --include='*.hpp' -e "$code" -e "${code}_.*" \
      "${rooms[@]}" | head -3 | tr '\n' ' ')"
done
while read -r row; do
  code=$(cut -d' ' -f2 <<<"$row")
  mapfile -t tests < <(sed 's/ *|$//; s/.*| //' <<<"$row" | grep -oE '[^` ,]+')
  found=$(codes_in "${tests[@]}" 2>/dev/null | grep -cx "$code")
  [ "$found" -eq 1 ] || complain "$rules: no test of $code's row cites $code"
done <<<"$rows"

# -- what is referred to is there ---------------------------------------------
folders=$(tr ' ' '|' <<<"${rooms[*]} cmake docs examples")
for path in $(grep -hoE "\`($folders)/[A-Za-z0-9_./-]+\.[a-z]+\`" \
  docs/reference/*.md | tr -d '`' | sort -u); do
  [ -e "$path" ] || complain "docs/reference names $path, which is not there"
done
anchors_of() { # a file's headings, as they are linked to
  sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' \
    | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
links() { # where it stands, a colon, the file's name and perhaps its heading
  grep -roE --include='*.*' 'reference/[a-z]+\.md(#[a-z0-9-]+)?' \
    "${rooms[@]}" docs examples ./*.md | sed 's|:reference/|:|'
  grep -oE '\]\([a-z]+\.md(#[a-z0-9-]+)?\)' docs/reference/*.md | tr -d '()]'
}
while IFS=: read -r from link; do
  file=docs/reference/${link%%#*}
  if [ ! -e "$file" ]; then
    complain "$from refers to $file, which is not there"
  elif [[ $link == *#* ]] && ! anchors_of "$file" | grep -qx "${link#*#}"; then
    complain "$from refers to $file#${link#*#}, a heading that is not there"
  fi
done < <(links | sort -u)
[ $status -eq 0 ] && echo 'rows: each rule has its row, each row its test'
exit $status
