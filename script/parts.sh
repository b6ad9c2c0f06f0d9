# SPDX-License-Identifier: MIT
# parts.sh: what .ci/run and script/release share: parts that each run, whatever became of the others, and a last line that sums up ctest's
# tests and the parts that are no ctest. A test that failed and then passed alone is no failure; it is named before that.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
log=$(mktemp)
ends=$(mktemp) # what failed parts printed last
trap 'rm -f "$log" "$ends"' EXIT
passed=0
failed=0
failures=()
flaky=()

# part NAME COMMAND...: runs it, and counts ctest's closing lines of it; a part that closes with none counts as one test.
part() {
  local name=$1 status=0 start=$SECONDS bad all counted=0 failed_before=$failed
  shift
  printf '\n==== %s\n' "$name"
  "$@" 2>&1 </dev/null | tee "$log" || status=$?
  while read -r bad all; do
    counted=1
    passed=$((passed + all - bad))
    failed=$((failed + bad))
  done < <(awk '/^skipped in /{on = 1; next} on && /% tests passed, / {print $4, $NF; on = 0}' "$log")
  while read -r _ bad; do flaky+=("$bad ($name)"); done < <(grep '^flaky: ' "$log")
  if [ "$status" != 0 ] && [ "$failed" = "$failed_before" ]; then
    failed=$((failed + 1))
  elif [ "$counted" = 0 ]; then
    passed=$((passed + 1))
  fi
  if [ "$status" != 0 ]; then
    failures+=("$name")
    {
      printf '\n==== the end of %s, which failed\n' "$name"
      grep -E '(\*\*\*|fails again|^FAILED |[Ee]rror:)' "$log" | cut -c1-300 | tail -n 15
      tail -n 15 "$log" | cut -c1-300
    } >>"$ends"
  fi
  printf '==== %s: %s, %s s\n' "$name" "$([ "$status" = 0 ] && echo ok || echo FAILED)" "$((SECONDS - start))"
}

# finish: how failed parts ended, and the closing line; fails if anything did.
finish() {
  cat "$ends"
  printf '\n'
  [ "${#flaky[@]}" = 0 ] || printf 'flaky: %s\n' "${flaky[@]}"
  [ "${#failures[@]}" = 0 ] || printf 'failed: %s\n' "${failures[@]}"
  printf '%s passed, %s failed\n' "$passed" "$failed"
  [ "$failed" = 0 ] && [ "${#failures[@]}" = 0 ]
}
