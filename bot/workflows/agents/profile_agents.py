"""Prepares a coding agent that Mendbot knows by name: its program, its key, and the hosts that it may reach.

It receives one key and the settings of its own API, sees its own installation, and reaches its API alone (T15)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.agent.profiles import HOOKS, PROFILES, URL, AgentProfile, ApiKey
from bot.agent.program_hooks import hooks_as_toml
from bot.config import Settings
from bot.model.reasons import Reason
from bot.rules.reasons import any_of, make_reason
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.network_filter import AllowedHost, NetworkFilter, host_of_url
from bot.workspace.sandbox.program_files import find_program


@dataclass(frozen=True, slots=True)
class PreparedProfile:
    """A coding agent that can be started: its command line and what the sandbox grants it."""

    profile: AgentProfile
    key: ApiKey
    program: tuple[str, ...]
    argv: tuple[str, ...]
    env: Mapping[str, str]
    read_only: tuple[Path, ...]
    host: AllowedHost

    def grant(self, tree: Path) -> SandboxGrant:
        """Returns the grant for one run in `tree`, with a network filter of its own."""
        hidden = tuple(tree / name for name in self.profile.settings)
        return SandboxGrant(reach=NetworkFilter((self.host,)), hidden=hidden)


def unavailable_profiles(settings: Settings) -> Mapping[str, Reason]:
    """Returns the coding agents of MENDBOT_AGENTS that cannot be started, each with the reason."""
    prepared = {name: prepare_profile(name, settings) for name in settings.agents if name in PROFILES}
    return {name: found for name, found in prepared.items() if isinstance(found, Reason)}


def prepare_profile(
    name: str, settings: Settings, environ: Mapping[str, str] = os.environ, *, trace: Path | None = None
) -> PreparedProfile | Reason:
    """Returns the agent, or why it is unavailable, with the remedy. `trace` as in `AgentProfile.run_settings`."""
    profile = PROFILES[name]
    files = find_program(profile.program)
    if files is None:
        return make_reason("agent_profile.no_program", program=profile.program, install=profile.install)
    key = next((each for each in profile.keys if environ.get(each.variable)), None)
    if key is None:
        variables = any_of(dict.fromkeys(each.variable for each in profile.keys))
        return make_reason("agent_profile.no_key", variables=variables)
    url = environ.get(key.base_url, "") if key.base_url else ""
    host = host_of_url(url, allow_private=settings.allow_private_api) if url else AllowedHost(key.host)
    if host is None:
        kind = "bad_url" if url.startswith(("http://", "https://")) else "no_scheme"
        return make_reason(f"agent_profile.{kind}", variable=key.base_url, url=url)
    hooks = hooks_as_toml(trace)
    passed = {name: environ[name] for name in (*profile.variables, key.base_url) if name and environ.get(name)}
    own = {name: value.replace(URL, url.rstrip("/")) for name, value in key.variables.items()} if url else {}
    model = environ.get(profile.model[0]) if profile.model else None
    chosen = (profile.model[1], model) if profile.model and model else ()
    # one attempt may not use more than a day's budget, which is counted after it
    cost = (profile.cost_flag, f"{settings.model_day_cost:g}") if profile.cost_flag and settings.model_day_cost else ()
    arguments = (*profile.arguments, *(key.arguments if url else ()), *chosen, *cost)
    return PreparedProfile(
        profile=profile,
        key=key,
        program=files.argv,
        argv=(*files.argv, *(each.replace(HOOKS, hooks).replace(URL, url.rstrip("/")) for each in arguments)),
        env={**profile.env, **passed, **own, key.passed_as or key.variable: environ[key.variable]},
        read_only=files.read_only,
        host=host,
    )
