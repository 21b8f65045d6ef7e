#!/bin/sh
# Make .venv from requirements.lock, or do nothing when it is up to date. Says plainly what is missing.
set -eu

fail() { echo "setup: $1" >&2; exit 1; }

command -v git >/dev/null 2>&1 || fail "git was not found; install it (Debian: apt-get install git) and try again"
git_version=$(git --version | sed 's/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/')
[ "$(printf '2.39\n%s\n' "$git_version" | sort -t. -k1,1n -k2,2n | head -n 1)" = 2.39 ] ||
  fail "git $git_version is too old; Mendbot needs 2.39 or newer"

python=${PYTHON:-}
if [ -z "$python" ]; then
  for candidate in python3 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null 2>&1 &&
       "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      python=$candidate
      break
    fi
  done
fi
[ -n "$python" ] || fail "Python 3.11 or newer was not found; install it, or name one: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 ||
  fail "$python is not Python 3.11 or newer"
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
  fail "$python cannot make virtual environments; install its venv package (Debian: apt-get install python3-venv)"

state=$(cat requirements.lock pyproject.toml scripts/setup.sh | git hash-object --stdin)
[ "$(cat .venv/.ready 2>/dev/null || true)" = "$state" ] && exit 0

echo "setup: making .venv (a minute or so the first time)" >&2
[ -x .venv/bin/python ] && .venv/bin/python -c '' 2>/dev/null || { rm -rf .venv; "$python" -m venv .venv; }
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
echo "$state" > .venv/.ready
