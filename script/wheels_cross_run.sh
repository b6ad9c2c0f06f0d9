# SPDX-License-Identifier: MIT
# wheels_cross_run.sh: runs what can run here of a wheel for another system; script/wheels-cross sources it after wheels_cross_lib.sh.

# run_wheel: what of the wheel for all Pythons can run here: see docs/extend/releases.md.
run_wheel() {
  case $platform in
    manylinux_*) run_python ;;
    musllinux_*) run_musl ;;
    win_*) run_windows ;;
    *) echo "wheels-cross: $platform: nothing of it can run here" ;;
  esac
}

# install: pip decides whether the wheel's name fits the platform.
install() {
  rm -rf "$work/installed"
  quietly install "$tools/python" -m pip install --disable-pip-version-check --no-input --no-deps --no-index --only-binary :all: \
    --platform "$tag" --python-version 3.12 --implementation cp --abi abi3 --target "$work/installed" "$folder"/libgather-*-abi3-"$tag".whl
}

# run_command NAME PROGRAM...: the command takes two rows, decodes chunks of each compressor, refuses a third row, and says which version it is.
run_command() {
  local name=$1 version rows table status=0
  shift
  version=$("$@" --version | head -n 1)
  "$tools/python" -c 'import sys, numpy; numpy.save(sys.argv[1], [10, 20, 30])' "$work/table.npy"
  rm -f "$work"/{two,three}.npy
  (cd "$work" && "$@" take table.npy '[2, 0]' --output two.npy >command.log 2>&1) || {
    cat "$work/command.log" >&2
    die "the command of $platform did not take two rows"
  }
  rows=$("$tools/python" -c 'import sys, numpy; print(numpy.load(sys.argv[1]).tolist())' "$work/two.npy")
  [ "$rows" = '[30, 10]' ] || die "the command of $platform took $rows"
  rm -rf "$work/chunks"
  mkdir "$work/chunks"
  while read -r table; do
    (cd "$work" && "$@" take "chunks/$table" '[63, 2]' --output rows.bin --force >command.log 2>&1) || {
      cat "$work/command.log" >&2
      die "the command of $platform does not decode $table"
    }
    cmp "$work/rows.bin" "$work/chunks/wanted.bin" || die "the command of $platform decodes $table wrongly"
  done < <("$tools/python" script/wheel_chunks.py "$work/chunks")
  (cd "$work" && "$@" take table.npy '[3]' --output three.npy >command.log 2>&1) || status=$?
  grep -q 'indices\[0\] = 3 is outside' "$work/command.log" && [ "$status" -gt 0 ] || die "the command of $platform took a row that is not there"
  echo "wheels-cross: $name: $version: takes rows, decodes chunks, and names an index out of range"
}

# run_python: a Python of Debian for the platform, by qemu where the processor is another one.
run_python() {
  local root="$folder/python-$processor" arch=${processor/x86_64/amd64} runner=()
  arch=${arch/aarch64/arm64}
  install
  if [ ! -e "$root/done" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    quietly python fetch_packages "$arch" "$root" python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libexpat1 \
      zlib1g libffi8 libssl3 libbz2-1.0 liblzma5 libuuid1 libstdc++6
    touch "$root/done"
  fi
  [ "$processor" = "$(uname -m)" ] || runner=("qemu-$processor" -L "$root")
  quietly foreign env -u LD_LIBRARY_PATH "PYTHONPATH=$work/installed:$headers/numpy" PYTHONHOME="$root/usr" PYTHONDONTWRITEBYTECODE=1 \
    "${runner[@]}" "$root/usr/bin/python3.11" -P script/wheels.py --limited --foreign
  cat "$work/foreign.log"
  chmod +x "$work/installed/libgather/bin/gather"
  run_command "the command" "${runner[@]}" "$work/installed/libgather/bin/gather"
}

# run_musl: there is no Python for musl here. musl's own loader looks up every symbol of the module, and must miss Python's alone.
run_musl() {
  local loader="$folder/musl-$processor/lib/ld-musl-$processor.so.1" runner=() missed
  fetch_musl
  install
  [ "$processor" = "$(uname -m)" ] || runner=("qemu-$processor")
  [ -e "$loader" ] || loader=$(find "$folder/musl-$processor" -name libc.so -type f | head -n 1)
  missed=$({ "${runner[@]}" "$loader" --list "$work/installed/libgather/_core.abi3.so" 2>&1 || true; } | sed -n 's/^Error relocating [^:]*: \(.*\): symbol not found$/\1/p')
  [ -n "$missed" ] || die "musl's loader looked up nothing"
  ! grep -v '^_\?Py' <<<"$missed" || die "musl's loader does not find these"
  echo "wheels-cross: musl's loader finds all but $(wc -l <<<"$missed") symbols, which are Python's"
  chmod +x "$work/installed/libgather/bin/gather"
  run_command "the command" "${runner[@]}" "$loader" "$work/installed/libgather/bin/gather"
}

# run_windows: the command, by Wine where it is.
run_windows() {
  install
  if script/wine --version >"$work/wine.log" 2>&1; then
    run_command "the command" "$PWD/script/wine" "$work/installed/libgather/bin/gather.exe"
  else
    echo "wheels-cross: $platform: nothing of it can run here without Wine (script/bootstrap windows)"
  fi
}
