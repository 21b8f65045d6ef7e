"""Pull requests of the bot's branches: looked for before one is opened, so that a branch has one
however often we ask."""

from __future__ import annotations

from dataclasses import dataclass

from bot.github.answers import Form, Invalid, read
from bot.github.api import Api
from bot.github.threads import checked_body
from bot.http import Unclear
from bot.model import PullRequest, Repo

MAX_TITLE_CHARACTERS = 256
_PULLS = "/repos/{owner}/{repo}/pulls"
_LOOK_AGAIN_S = 1.0


class _Ref(Form):
    ref: str
    sha: str = ""


class _Pull(Form):
    number: int
    html_url: str
    state: str
    head: _Ref
    base: _Ref

    @property
    def noun(self) -> PullRequest:
        return PullRequest(number=self.number, url=self.html_url, head_sha=self.head.sha)


@dataclass(frozen=True, slots=True)
class Pulls:
    """The pull requests of one repository between its own branches."""

    api: Api
    repo: Repo

    async def ensure(self, *, head: str, base: str, title: str, body: str) -> PullRequest:
        """The pull request from branch `head` into `base`: the open one, else the last closed one (it was closed for a
        reason), else a new one. Raises Invalid (a UserError) where there is nothing to pull, "No commits between"."""
        if len(title) > MAX_TITLE_CHARACTERS:
            raise ValueError(f"the title has {len(title)} characters, {MAX_TITLE_CHARACTERS} are allowed")
        request = {"title": title, "head": head, "base": base, "body": checked_body(body)}
        found = await self._find(head, base)
        if found is not None:
            return found
        try:
            return read(_Pull, await self.api.call("POST", _PULLS, self._names(), request)).noun
        except Unclear:
            await self.api.sleep(_LOOK_AGAIN_S)
            found = await self._find(head, base)
        except Invalid as error:
            # someone was quicker
            found = await self._find(head, base) if "already exists" in str(error) else None
            if found is None:
                raise
        if found is None:
            raise Unclear(f"GitHub did not say whether it opened a pull request for {head}")
        return found

    async def _find(self, head: str, base: str) -> PullRequest | None:
        names = self._names(head=f"{self.repo.owner}:{head}", state="all", per_page=100)
        pulls = [
            pull
            async for item in self.api.pages(_PULLS + "{?head,state,per_page}", names)
            # GitHub ignores a `head` it cannot read, and lists everything
            if (pull := read(_Pull, item)).head.ref == head and pull.base.ref == base
        ]
        best = max(pulls, key=lambda pull: (pull.state == "open", pull.number), default=None)
        return best.noun if best is not None else None

    def _names(self, **more: str | int) -> dict[str, str | int]:
        return {"owner": self.repo.owner, "repo": self.repo.name, **more}
