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

# debian_archive: where this machine's own packages of Debian come from.
debian_archive() {
  local release
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$release" '$1 == release && !found {print $2; found = 1} END {exit !found}' ||
    die "apt-get does not know the archive of this release of Debian"
}

# sources PATTERN...: the project's files of these names, without asking git (a clone may belong to somebody else).
sources() {
  local names=() pattern
  for pattern in "$@"; do names+=(-o -name "$pattern"); done
  find include src cli python plugin mpi tests examples bench site -type f \( "${names[@]:1}" \) | sort
}

# progress NAME LOG COMMAND...: runs the command with all its output in LOG. So that nobody waits in the dark, its latest line is shown
# every five seconds, and lines that tell how much there is to do (packages, sizes) at once.
progress() {
  local name=$1 log=$2
  shift 2
  "$@" 2>&1 </dev/null | tee "$log" | show_progress "$name"
}
show_progress() {
  local name=$1 start=$SECONDS next=$((SECONDS + 5)) rest='' last='starting' line status
  while :; do
    status=0
    IFS= read -r -t 1 line || status=$?
    if [ "$status" -gt 128 ]; then # no whole line within a second
      rest+=$line
    elif [ "$status" = 0 ]; then
      line=$rest$line rest=''
      last=${line:-$last}
      if [[ $line =~ $telling_lines ]]; then
        printf '%s: %s\n' "$name" "$line"
        next=$((SECONDS + 5))
      fi
    else
      return 0
    fi
    if [ "$SECONDS" -ge "$next" ]; then
      printf '%s: %s s: %.80s\n' "$name" "$((SECONDS - start))" "$last"
      next=$((SECONDS + 5))
    fi
  done
}
# apt-get's sums, and pip's downloads of 10 MB or more.
telling_lines='^[0-9]+ upgraded, |^Need to get |^After this operation, |Downloading .*\([0-9]{2,}[0-9.]* MB\)'

# The C tests that kernels matter to: where the rest of the library is as on another machine, only these run.
kernel_tests=(test_kernel test_safety_guard test_rules_cases test_rules_replay test_unit_{plan,policy,machine})
# Of the other C tests a sample for machines that differ in one thing each: those in which threads meet, those that see the order of bytes
# and the size of a pointer, and those that call the system.
thread_tests=(test_unit_pool test_safety_{threads,changing} test_table_{engines_cancel,stress,failures_decoded,readers} test_remote_{client,life,table}
  test_table_replay test_shuffle test_rules_replay)
order_tests=("${kernel_tests[@]}" test_codec_{decode,describe,random} test_format_{files,values} test_unit_{types,tensor,tuples,check_graphs}
  test_table_engines test_shuffle_inputs)
system_tests=(test_windows test_safety_threads test_format_{files,names,values} test_table_engines test_remote_url test_shuffle)
# only NAME...: the expression that selects these tests.
only() { echo "^($(IFS='|' && echo "$*"))\$"; }
of_kernels=$(only "${kernel_tests[@]}")
# The fuzzer's seeds, whose readers call no system.
of_seeds='^fuzz_|make_fuzz_corpus|corpus_alloc'

# target_of PRESET: the compiler's name for the system of a preset for another system (CMakePresets.json).
target_of() {
  case $1 in
    musl-*) echo "${1#musl-}-linux-musl" ;;
    macos-arm64) echo aarch64-macos ;;
    macos-*) echo "${1#macos-}-macos" ;;
    freebsd-*) echo "${1#freebsd-}-freebsd" ;;
    windows-*) echo "${1#windows-}-windows-gnu" ;;
  esac
}

# build_preset PRESET [TARGET...]: configures it, with configure_options besides, and builds it; its output is in build/PRESET.log.
build_preset() {
  local preset=$1 log="build/$1.log"
  shift
  mkdir -p build
  if ! progress build "$log" configure_and_build "$preset" "$@"; then
    cat "$log" >&2
    die "the build of preset $preset failed"
  fi
}
configure_options=()
configure_and_build() {
  cmake --preset "$1" "${configure_options[@]}" &&
    cmake --build --preset "$1" -j "$jobs" ${2:+--target "${@:2}"}
}

# test_preset PRESET [ctest argument...]: runs its tests. ctest hides what tests print, so the skips are told behind it, and then its
# closing line once more. What failed is run once more alone: if it passes then, it is told as flaky, with what it printed both times,
# and is no failure.
# One test more than there are CPUs runs at once: many wait for the disk, for a server of their own, or for a clock.
test_preset() {
  local preset=$1 result=0 log="build/$1/Testing/Temporary/LastTest.log" skips='' flaky=()
  shift
  "${ctest_command[@]}" --preset "$preset" -j "$((jobs + 1))" --no-tests=error "$@" 2>&1 | tee "build/$preset-test.log" | name_running || result=$?
  if [ -e "$log" ] && grep -qE '^[0-9]+/[0-9]+ Test: ' "$log"; then
    skips=$(summarise_skips <"$log")
  else
    skips=' not known: the log of the tests has none' result=1
  fi
  [ "$result" = 0 ] || run_again "$preset"
  printf '\nskipped in %s:%s\n' "$preset" "${skips:+$'\n'}${skips:- nothing}"
  [ "${#flaky[@]}" = 0 ] || printf 'flaky: %s\n' "${flaky[@]}"
  awk -v flaky="${#flaky[@]}" '/^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+$/ {
    bad = $4 - flaky
    printf "%d%% tests passed, %d tests failed out of %d\n", 100 * ($NF - bad) / $NF, bad, $NF
  }' "build/$preset-test.log"
  return "$result"
}

# name_running: passes ctest's lines on, and after eight seconds without one says which tests it waits for.
name_running() {
  local start=$SECONDS quiet=$SECONDS line='' rest status name
  declare -A running
  while :; do
    status=0
    IFS= read -r -t 1 rest || status=$?
    line+=$rest
    if [ "$status" -gt 128 ]; then # no whole line within a second
      [ "$((SECONDS - quiet))" -lt 8 ] || [ "${#running[@]}" = 0 ] || {
        printf '%4s s: waiting for%s\n' "$((SECONDS - start))" "$(printf ' %s' "${!running[@]}")"
        quiet=$SECONDS
      }
      continue
    fi
    [ "$status" = 0 ] || [ -n "$line" ] || return 0
    printf '%s\n' "$line"
    quiet=$SECONDS
    if [[ $line =~ ^\ *Start\ +[0-9]+:\ (.+)$ ]]; then
      running[${BASH_REMATCH[1]}]=1
    elif [[ $line =~ ^\ *[0-9]+/[0-9]+\ Test\ +#[0-9]+:\ ([^ ]+) ]]; then
      unset "running[${BASH_REMATCH[1]}]"
    fi
    [ "$status" = 0 ] || return 0
    line=''
  done
}

# run_again PRESET: the failed tests of the run before, each alone. Those that pass are put into flaky, and result is 0 if all do.
# Where more fail than chance would have it, none is run again.
run_again() {
  local names name again="build/$1-again.log" most=8
  mapfile -t names < <(sed -n 's/^[0-9]*://p' "build/$1/Testing/Temporary/LastTestsFailed.log" 2>/dev/null)
  [ "${#names[@]}" -gt 0 ] && [ "${#names[@]}" -le "$most" ] || return 0
  for name in "${names[@]}"; do
    say "once more, alone: $name"
    if "${ctest_command[@]}" --preset "$1" -V --no-tests=error -R "^$name\$" >"$again" 2>&1; then
      tail -n 200 "$again"
      flaky+=("$name")
    else
      printf '%s fails again\n' "$name"
    fi
  done
  [ "${#flaky[@]}" != "${#names[@]}" ] || result=0
}

# summarise_skips: one line for each name and reason in the log of ctest on stdin, with how many tests were skipped and in which of
# ctest's tests. Three forms: pytest's "SKIPPED [3] tests/x.py:7: name: why", "SKIPPED name: why" of tests/support/skip.h, and
# cmocka's "[  SKIPPED ] test" behind that one.
summarise_skips() {
  awk '
    function add(why, n) {
      if (!(why in count)) order[++reasons] = why
      count[why] += n
      if (index(", " places[why] ", ", ", " test ", ") == 0) places[why] = places[why] (places[why] == "" ? "" : ", ") test
    }
    /^[0-9]+\/[0-9]+ Test: / { test = $3; reason = "" }
    /^SKIPPED \[[0-9]+\] / {
      n = substr($2, 2) + 0
      sub(/^SKIPPED \[[0-9]+\] [^ ]+ (Skipped: )?/, "")
      add($0, n)
      next
    }
    /^SKIPPED / { reason = substr($0, 9); next }
    /^\[ +SKIPPED +\] [A-Za-z_]/ { if (!seen[test, $4]++) add(reason == "" ? $4 : reason, 1) }
    END {
      for (i = 1; i <= reasons; i++) {
        why = order[i]
        short = length(why) > 100 ? substr(why, 1, 97) "..." : why
        printf "  %s (%d test%s of %s)\n", short, count[why], count[why] == 1 ? "" : "s", places[why]
      }
    }' | sort
}
ctest_command=(ctest)
