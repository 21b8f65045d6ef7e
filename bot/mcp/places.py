"""Where tools may work: anywhere over stdio, as the user's own agent started it; in the workspace roots over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason


@dataclass(frozen=True, slots=True)
class Places:
    """The directories that tools may work in; None allows every one."""

    roots: Sequence[Path] | None = None

    def allowed(self, path: str) -> str:
        """The path, with its links followed where roots are set. Raises UserError for one outside of them."""
        if self.roots is None:
            return path
        if not self.roots:
            raise user_error(make_reason("session.no_roots", path=path))
        try:
            found = Path(path).resolve()
            inside = any(found.is_relative_to(root.resolve()) for root in self.roots)
        except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL
            inside = False
        if not inside or not Path(path).is_absolute():
            names = ", ".join(map(str, self.roots))
            raise user_error(make_reason("session.outside_roots", path=path, roots=names))
        return str(found)

    def worktrees(self, repo: str | None, base: str | None) -> tuple[str | None, str | None]:
        """The repository and the directory for its worktrees, both allowed, for `manage_worktree`."""
        if self.roots is None:
            return repo, base
        if repo is None:
            raise user_error(make_reason("mcp.no_repo"))
        repository = self.allowed(repo)
        return repository, self.allowed(str(Path(repository).parent / "worktrees") if base is None else base)
