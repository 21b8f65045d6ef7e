# Two commands matter: `make demo` shows the main job, `make test` proves it. Both set up what they need.
.PHONY: help .venv demo test lint docs bench soak agents format lock
.DEFAULT_GOAL := help
BIN := .venv/bin

help: ## list these commands
	@grep -E '^[a-z.]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

.venv: ## make the virtual environment from the pinned, hashed lock
	@scripts/setup.sh

demo: .venv ## the bot at work, on this machine alone (KEEP=1 leaves it running; SCENARIO=pull-request, commands, published)
	@$(BIN)/python -m demo $(if $(KEEP),--keep) $(if $(SCENARIO),--scenario $(SCENARIO))

test: .venv ## the whole test suite
	@scripts/setup-browser
	@root=$$(mktemp -d) && PYTEST_DEBUG_TEMPROOT=$$root $(BIN)/python -m pytest --numprocesses 6 --dist worksteal \
	  && rm -rf "$$root" # a directory of its own: pytest cannot delete the deep trees of a run that was killed

lint: .venv ## ruff, mypy --strict, the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: .venv ## the site of documents, in site/
	@$(BIN)/python -m sphinx -q -W --keep-going -b html -d site/.doctrees docs site

bench: .venv ## measure, each goal beside its reference
	@$(BIN)/python -m benchmarks

soak: .venv ## the slow repeats: crash points and races by the hundred
	@$(BIN)/python -m pytest -m soak

AGENT_PROGRAMS ?= $(HOME)/.cache/mendbot-agents
agents: .venv ## the real coding agents, installed into AGENT_PROGRAMS, against APIs on loopback
	@scripts/setup-agents "$(AGENT_PROGRAMS)"
	@root=$$(mktemp -d) && MENDBOT_TEST_AGENTS="$(AGENT_PROGRAMS)" PYTEST_DEBUG_TEMPROOT=$$root \
	  $(BIN)/python -m pytest -m agents -n 2 --dist worksteal tests/e2e/agents && rm -rf "$$root"

format: .venv ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: ## resolve requirements.lock, image.lock and bot/workspace/sandbox/tools.lock anew (needs uv)
	@command -v uv >/dev/null || { echo "make lock: install uv (https://docs.astral.sh/uv/), which resolves the locks" >&2; exit 1; }
	@uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 \
	  --all-extras --group test --group docs --group lint --group build --group demo --quiet pyproject.toml -o requirements.lock
	@uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 \
	  --constraint requirements.lock --no-annotate --all-extras --group build --quiet pyproject.toml -o image.lock
	@uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 \
	  --constraint requirements.lock --no-annotate --group tools --quiet -o bot/workspace/sandbox/tools.lock
