# SPDX-License-Identifier: MIT
# lib.sh: what the scripts share. They source it, and stand in the project's root after that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8

# How many compilers and tests run at once.
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# have PROGRAM...: whether all of them are there.
have() {
  local program
  for program in "$@"; do command -v "$program" >/dev/null 2>&1 || return 1; done
}

# sources PATTERN...: the project's files of these names, without asking git (a clone may belong to somebody else).
sources() {
  local names=() pattern
  for pattern in "$@"; do names+=(-o -name "$pattern"); done
  find include src cli python tests examples bench -type f \( "${names[@]:1}" \) | sort
}

# build_preset PRESET [TARGET]: configures and builds it; quiet unless something is wrong.
build_preset() {
  local log="build/$1.log"
  mkdir -p build
  if ! { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" ${2:+--target "$2"}; } >"$log" 2>&1; then
    cat "$log" >&2
    die "the build of preset $1 failed"
  fi
}

# test_preset PRESET [ctest argument...]: runs its tests. ctest hides what tests print, so every skip is told behind it, and
# then its closing line once more.
test_preset() {
  local preset=$1 result=0 log="build/$1/Testing/Temporary/LastTest.log"
  shift
  "${ctest_command[@]}" --preset "$preset" -j "$jobs" --no-tests=error "$@" 2>&1 | tee "build/$preset-test.log" || result=$?
  if [ -e "$log" ] && grep -Eq "$skip_lines" "$log"; then
    printf '\nskipped in %s:\n' "$preset"
    grep -E "$skip_lines" "$log" | sort -u
  else
    printf '\nskipped in %s: nothing\n' "$preset"
  fi
  grep -E '^[0-9]+% tests passed' "build/$preset-test.log" || true
  return "$result"
}
ctest_command=(ctest)
# The lines of pytest, of tests/support/skip.h, and of cmocka itself.
skip_lines='^SKIPPED|^\[ +SKIPPED +\] [A-Za-z_]'
