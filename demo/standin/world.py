"""The people's side of the stand-in: what anyone with a browser could do or see, callable from any thread.

Each method runs on the stand-in's own loop and returns when it is done; webhooks it causes are then queued, not
yet delivered. Unknown users, repositories and numbers raise `ApiError` 404, as a browser would show it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from demo.standin.actions import repository
from demo.standin.answers import not_found
from demo.standin.auth import mint
from demo.standin.githttp import place_hook
from demo.standin.gitrepo import Identity
from demo.standin.pull_people import PullPeople
from demo.standin.records import Installation, Role
from demo.standin.state import ManifestCode


class World(PullPeople):
    """Made by `StandIn`; `repo` arguments are full names, `actor`, `author` and `login` account names."""

    # --- accounts and the App ------------------------------------------------------------------------------------

    def create_user(self, login: str, name: str = "", kind: Literal["User", "Organization"] = "User") -> str:
        return self._now(lambda: self._state.ensure_user(login, kind, name).login)

    def set_permission(self, repo: str, login: str, role: Role) -> None:
        """What `login` (made if new) may do in `repo`; `none` takes it away."""

        def work() -> None:
            user = self._state.ensure_user(login)
            self._state.repo(repo).roles[user.login] = role

        self._now(work)

    def installation_id(self, repo: str) -> int:
        return self._now(lambda: self._installation(repo).id)

    def _installation(self, repo: str) -> Installation:
        found = self._state.installation_of(self._state.repo(repo))
        if found is None:
            raise not_found()
        return found

    def new_token(self, repo: str, permissions: Mapping[str, str] | None = None) -> str:
        """An installation token for one repository, as the App would get it, without its JWT (for tests)."""

        def work() -> str:
            asked = {"repositories": [self._state.repo(repo).name]}
            body = asked if permissions is None else asked | {"permissions": dict(permissions)}
            return mint(self._state, self._installation(repo), body)[0]

        return self._now(work)

    def change_app(self, *, permissions: Mapping[str, str] | None = None, webhook_secret: str | None = None) -> None:
        """Change these permissions, or the secret of the webhook, on the App's settings page."""

        def work() -> None:
            app = self._state.app
            app.permissions.update(permissions or {})
            app.webhook_secret = app.webhook_secret if webhook_secret is None else webhook_secret

        self._now(work)

    def expire_tokens(self) -> None:
        """Every token minted so far stops working now."""
        self._now(self._state.tokens.clear)

    def allow_callback(self, url: str) -> None:
        """Add a callback address on the App's settings page; a sign-in must name one of them exactly."""
        self._now(lambda: self._state.app.callback_urls.append(url))

    def revoke_authorization(self, login: str) -> None:
        """The person revokes the App's authorization: its tokens for them end."""

        def work() -> None:
            tokens, user = self._state.user_tokens, self._state.user(login)
            for key in [key for key, token in tokens.items() if token.user is user]:
                del tokens[key]

        self._now(work)

    def submit_manifest(self, manifest: Mapping[str, Any], pem: str, *, valid_s: float = 3600.0) -> str:
        """A person has an App made from a manifest; the App is the one that there is, whose private key is `pem`.
        -> the code that GitHub adds to the manifest's `redirect_url`"""

        def work() -> str:
            state, code = self._state, secrets.token_hex(20)
            until = state.now() + timedelta(seconds=valid_s)
            state.manifest_codes[code] = ManifestCode(str(manifest["name"]), pem, secrets.token_hex(20), until)
            return code

        return self._now(work)

    def suspend_app(self, repo: str, suspended: bool = True) -> None:
        self._now(lambda: repository.suspend(self._hooks, self._installation(repo), suspended))

    def uninstall_app(self, repo: str) -> None:
        """Remove the App from the account that owns `repo`."""
        self._now(lambda: repository.uninstall(self._hooks, self._installation(repo)))

    def install_app(self, repo: str) -> int:
        """Install the App on a repository that exists, after `uninstall_app` or for the first time; -> the
        installation's id."""
        return self._now(lambda: repository.install(self._hooks, self._state.repo(repo)).id)

    def disable_issues(self, repo: str) -> None:
        self._now(lambda: setattr(self._state.repo(repo), "has_issues", False))

    def grant(self, repo: str, **permissions: str) -> None:
        """Change what the installation grants, for new tokens: `grant("o/r", workflows="write")`."""
        self._now(lambda: self._installation(repo).permissions.update(permissions))

    # --- repositories --------------------------------------------------------------------------------------------

    def create_repo(
        self,
        full_name: str,
        files: Mapping[str, str | bytes] | Path,
        *,
        default_branch: str = "main",
        private: bool = False,
        installed: bool = True,
    ) -> str:
        """A repository with one commit of `files` (names to contents, or a directory); -> its clone URL."""
        owner, _, name = full_name.partition("/")

        async def work() -> str:
            user = self._state.ensure_user(owner)
            repo = await repository.create(self._hooks, user, name, default_branch=default_branch, private=private)
            place_hook(repo.git.path)
            await repo.git.commit(default_branch, files, "Initial commit", Identity(user.login, user.email))
            if installed:
                repository.install(self._hooks, repo)
            return f"{self._state.accounts.repo_page(repo)}.git"

        return self._do(work)

    def fork(self, repo: str, owner: str) -> str:
        """A fork in another account, where the App is not installed; -> its full name."""

        async def work() -> str:
            source = self._state.repo(repo)
            copy = await repository.create(self._hooks, self._state.ensure_user(owner), source.name)
            copy.fork_of, copy.default_branch = source, source.default_branch
            for branch, sha in (await source.git.branches()).items():
                await copy.git.fetch(source.git, sha, f"refs/heads/{branch}")
            return copy.full_name

        return self._do(work)

    def protect(self, repo: str, pattern: str) -> None:
        """Refuse the App's pushes to branches that match a shell pattern such as `main` or `fix/*`."""
        self._now(lambda: self._state.repo(repo).protected.append(pattern))

    def reject_next_push(self, repo: str, reason: str) -> None:
        """Let the next push of the App fail with this text."""
        self._now(lambda: setattr(self._state.repo(repo), "next_push_refused", reason))

    def push_commit(
        self, repo: str, branch: str, files: Mapping[str, str | bytes | None], author: str, message: str = "Update"
    ) -> str:
        """`push_files` with its arguments in another order."""
        return self.push_files(repo, branch, files, message, author)

    def push_files(
        self,
        repo: str,
        branch: str,
        files: Mapping[str, str | bytes | None],
        message: str,
        actor: str,
        *,
        force: bool = False,
    ) -> str:
        """A person's push of one commit on `branch` (made if new); None as content deletes. -> its sha.

        With `force` it takes the place of the branch's last commit, as after an amended commit."""

        async def work() -> str:
            found, user = self._state.repo(repo), self._state.ensure_user(actor)
            async with found.git.lock:
                before = await found.git.branches()
                who = Identity(user.name, user.email)
                sha = await found.git.commit(branch, files, message, who, instead=force)
                await repository.pushed(self._hooks, found, before, user)
            return sha

        return self._do(work)

    def delete_branch(self, repo: str, branch: str, actor: str) -> None:
        async def work() -> None:
            found, user = self._state.repo(repo), self._state.user(actor)
            async with found.git.lock:
                before = await found.git.branches()
                await found.git.update_ref(f"refs/heads/{branch}", None)
                await repository.pushed(self._hooks, found, before, user)

        self._do(work)

    def branches(self, repo: str) -> dict[str, str]:
        """Each branch and the commit it is at."""
        return self._do(lambda: self._state.repo(repo).git.branches())

    def git_dir(self, repo: str) -> Path:
        """Where the bare repository lies on disk, for a test's own look with git."""
        return self._now(lambda: self._state.repo(repo).git.path)

    def read_file(self, repo: str, ref: str, path: str) -> bytes | None:
        """A file's bytes at a branch or commit; None where it is not there."""

        async def work() -> bytes | None:
            git = self._state.repo(repo).git
            entries = await git.entries(ref, path)
            return await git.blob(entries[0].sha) if entries and entries[0].path == path else None

        return self._do(work)
