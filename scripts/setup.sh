#!/bin/sh
# Make .venv from requirements.lock, or do nothing when it is up to date. Says plainly what is missing.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd -P)

fail() { echo "setup: $1" >&2; exit 1; }
is_new() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
has_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

command -v git >/dev/null 2>&1 || fail "git was not found; install it (Debian: apt-get install git) and try again"
git_version=$(git --version | sed 's/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/')
[ "$(printf '2.39\n%s\n' "$git_version" | sort -t. -k1,1n -k2,2n | head -n 1)" = 2.39 ] ||
  fail "git $git_version is too old; Mendbot needs 2.39 or newer"

# The directory counts too: a virtual environment holds its own path, so a moved one is made again.
state=$( (echo "$here"; cat requirements.lock pyproject.toml scripts/setup.sh bot/workspace/sandbox/tools.lock) | git hash-object --stdin)
[ "$(cat .venv/.ready 2>/dev/null || true)" = "$state" ] && is_new .venv/bin/python && exit 0

python=
without_venv=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
  is_new "$candidate" || continue
  has_venv "$candidate" && { python=$candidate; break; }
  without_venv=${without_venv:-$candidate}
done
if [ -z "$python" ]; then
  [ -z "$without_venv" ] || fail "$without_venv cannot make virtual environments; \
install its venv package (Debian: apt-get install python3-venv) and try again"
  [ -z "${PYTHON:-}" ] || fail "$PYTHON is not Python 3.11 or newer"
  found=$(python3 --version 2>/dev/null || echo "no python3")
  fail "Python 3.11 or newer was not found (there is $found); install it, or name one: make PYTHON=/path/to/python3"
fi

echo "setup: making .venv (a minute or so the first time)" >&2
rm -f .venv/.ready
is_new .venv/bin/python && grep -qF "$here/.venv" .venv/pyvenv.cfg || {
  rm -rf .venv
  "$python" -m venv "$here/.venv" || fail "$python could not make .venv; what it says stands above"
}
# -qq: errors alone, for what pip merely warns about is the machine's own configuration
.venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock &&
  .venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable . ||
  fail "the requirements could not be installed; what pip says stands above"
.venv/bin/python -m bot.workspace.sandbox.check_tools || exit 1
# pytest compiles its plugins anew at each start, half a second, until one stores the result, which no check may do
PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest -c /dev/null --noconftest -p no:cacheprovider scripts >/dev/null 2>&1 || :
echo "$state" > .venv/.ready
