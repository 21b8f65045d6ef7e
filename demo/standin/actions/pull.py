"""What can be done to pull requests: open, keep up with their branches, merge. Git decides what is possible."""

from __future__ import annotations

import re
from dataclasses import dataclass

from demo.standin.actions import thread
from demo.standin.answers import ApiError, invalid
from demo.standin.gitrepo import ZERO, GitFailed, Identity, MergeConflict
from demo.standin.records import Json, Pull, Repository, User
from demo.standin.webhooks import Hooks

_CLOSING = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """What someone asks for; `head_repo` is the fork the branch is in, or the repository itself."""

    title: str
    body: str | None
    head_repo: Repository
    head: str
    base: str
    draft: bool = False


def closing_numbers(body: str | None) -> tuple[int, ...]:
    """The issues that a body closes ("Linking a pull request to an issue using a keyword")."""
    return tuple(dict.fromkeys(int(number) for number in _CLOSING.findall(body or "")))


def find_head(hooks: Hooks, repo: Repository, head: str) -> tuple[Repository, str]:
    """`branch`, or `owner:branch` for a fork's. -> the repository it is in, and its name there."""
    owner, colon, branch = head.rpartition(":")
    if not colon or owner.lower() == repo.owner.login.lower():
        return repo, branch
    for fork in hooks.state.repos.values():
        if fork.fork_of is repo and fork.owner.login.lower() == owner.lower():
            return fork, branch
    raise invalid("PullRequest", "head", "invalid")


async def open_pull(hooks: Hooks, repo: Repository, author: User, asked: Request) -> Pull:
    """Open one, or refuse as GitHub does; two requests at once make one pull request."""
    async with repo.git.lock:
        return await _open(hooks, repo, author, asked)


async def _open(hooks: Hooks, repo: Repository, author: User, asked: Request) -> Pull:
    thread.check_text("PullRequest", asked.title, asked.body)
    heads, bases = await asked.head_repo.git.branches(), await repo.git.branches()
    for side, known in (("base", bases), ("head", heads)):
        if getattr(asked, side) not in known:
            raise invalid("PullRequest", side, "invalid")
    if asked.draft and not repo.drafts:
        raise ApiError(422, "Draft pull requests are not supported in this repository.")
    label = f"{asked.head_repo.owner.login}:{asked.head}"
    for pull in repo.pulls:
        same = (pull.head_repo, pull.head_ref, pull.base_ref) == (asked.head_repo, asked.head, asked.base)
        if pull.issue.state == "open" and same:
            raise ApiError(422, "Validation Failed", [_custom(f"A pull request already exists for {label}.")])
    base_sha, head_sha = bases[asked.base], heads[asked.head]
    if asked.head_repo is not repo:
        await repo.git.fetch(asked.head_repo.git, head_sha, f"refs/mendbot-standin/{head_sha}")
    if not await repo.git.count(base_sha, head_sha):
        raise ApiError(422, "Validation Failed", [_custom(f"No commits between {asked.base} and {asked.head}")])
    issue = thread.new_thread(hooks, repo, author, asked.title, asked.body)
    pull = Pull(
        hooks.state.new_id(), issue, asked.head_repo, asked.head, head_sha, asked.base, base_sha, draft=asked.draft
    )
    pull.closes = closing_numbers(asked.body)
    issue.pull = pull
    await repo.git.update_ref(f"refs/pull/{issue.number}/head", head_sha)
    await measure(hooks, pull)
    thread.tell(hooks, issue, "opened", author)
    return pull


def _custom(message: str) -> dict[str, str]:
    return {"resource": "PullRequest", "code": "custom", "message": message}


async def measure(hooks: Hooks, pull: Pull) -> None:
    """Take the figures anew: commits, lines, files, and whether it merges."""
    git = pull.issue.repo.git
    base = await git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    files = await git.diff(base, pull.head_sha)
    pull.commits = await git.count(base, pull.head_sha)
    pull.additions = sum(file.additions for file in files)
    pull.deletions = sum(file.deletions for file in files)
    pull.changed_files = len(files)
    who = Identity("GitHub", "noreply@github.com")
    try:
        pull.merge_commit_sha = await git.merge(base, pull.head_sha, "Test merge", who)
        pull.mergeable = True
    except MergeConflict:
        pull.mergeable, pull.merge_commit_sha = False, None


async def follow_push(hooks: Hooks, repo: Repository, branch: str, span: tuple[str, str], pusher: User) -> None:
    """Bring the open pull requests of a moved branch up to date; the base's move changes only whether they merge."""
    old, new = span
    for base in hooks.state.repos.values():
        for pull in base.pulls:
            if pull.issue.state != "open":
                continue
            if (pull.head_repo, pull.head_ref) == (repo, branch) and new != ZERO:
                await _move_head(hooks, pull, new)
                thread.tell(hooks, pull.issue, "synchronize", pusher, before=old, after=new)
            elif (base, pull.base_ref) == (repo, branch):
                await measure(hooks, pull)


async def edit(hooks: Hooks, pull: Pull, actor: User, changes: Json) -> None:
    """New `title`, `body` and `base`, where they are given and differ: one webhook tells of all of them."""
    base = changes.get("base") or pull.base_ref
    before: Json = {}
    if base != pull.base_ref:
        sha = await pull.issue.repo.git.resolve(f"refs/heads/{base}")
        if sha is None or pull.merged_at:
            raise invalid("PullRequest", "base", "invalid")
        before = {"base": {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}}
        pull.base_ref, pull.base_sha = base, sha
        await measure(hooks, pull)
    thread.edit(hooks, pull.issue, actor, changes, before)
    pull.closes = closing_numbers(pull.issue.body)


def set_draft(hooks: Hooks, pull: Pull, actor: User, draft: bool) -> None:
    """Press "Ready for review" or "Convert to draft"; what is so already stays."""
    if pull.issue.state != "open":
        raise invalid("PullRequest", "draft", "invalid")
    if pull.draft != draft:
        pull.draft, pull.issue.updated_at = draft, hooks.state.now()
        thread.tell(hooks, pull.issue, "converted_to_draft" if draft else "ready_for_review", actor)


async def reopen(hooks: Hooks, pull: Pull, actor: User) -> None:
    """Open it again at what its branch is at now; refused where the branch is gone."""
    if pull.issue.state == "closed" and not pull.merged_at:
        sha = await pull.head_repo.git.resolve(f"refs/heads/{pull.head_ref}")
        if sha is None:
            said = f"state cannot be changed. The {pull.head_ref} branch has been deleted."
            raise invalid("PullRequest", "state", "custom", said)
        if sha != pull.head_sha:
            await _move_head(hooks, pull, sha)
    thread.reopen(hooks, pull.issue, actor)


async def _move_head(hooks: Hooks, pull: Pull, sha: str) -> None:
    repo = pull.issue.repo
    ref = f"refs/pull/{pull.issue.number}/head"
    if pull.head_repo is repo:
        await repo.git.update_ref(ref, sha)
    else:
        await repo.git.fetch(pull.head_repo.git, sha, ref)
    pull.head_sha = sha
    pull.base_sha = await repo.git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    pull.issue.updated_at = hooks.state.now()
    await measure(hooks, pull)


async def merge(hooks: Hooks, pull: Pull, actor: User) -> str:
    """Merge as the green button does: a merge commit on the base branch, the thread closed, and the issues its
    body names closed where the base is the default branch. -> the merge commit. The caller reports the push."""
    issue, repo = pull.issue, pull.issue.repo
    if issue.state != "open" or pull.draft:
        raise ApiError(405, "Pull Request is not mergeable")
    base = await repo.git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    title = f"Merge pull request #{issue.number} from {pull.head_repo.owner.login}/{pull.head_ref}\n\n{issue.title}"
    try:
        sha = await repo.git.merge(base, pull.head_sha, title, Identity(actor.login, actor.email))
    except GitFailed as error:
        raise ApiError(405, f"Pull Request is not mergeable: {error}") from error
    await repo.git.update_ref(f"refs/heads/{pull.base_ref}", sha)
    pull.merged_at, pull.merged_by, pull.merge_commit_sha, pull.mergeable = hooks.state.now(), actor, sha, None
    thread.close(hooks, issue, actor)
    if pull.base_ref == repo.default_branch:
        for number in pull.closes:
            if number in repo.issues:
                thread.close(hooks, repo.issues[number], actor)
    return sha
