"""What GitHub says about issues, labels, comments, reactions and pull requests (schemas issue, label, issue-comment,
reaction, pull-request, pull-request-simple and pull-request-minimal)."""

from __future__ import annotations

from collections import Counter
from urllib.parse import quote

from demo.standin.json.account import Accounts, maybe_stamp, node_id, stamp
from demo.standin.records import Comment, Issue, Json, Label, Pull, Reaction, Repository, User

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")

_OF_THE_THREAD = (
    *("number", "title", "body", "user", "state", "locked", "active_lock_reason", "assignee", "assignees"),
    *("milestone", "created_at", "updated_at", "closed_at", "author_association"),
)
"""What a pull request shares with its thread."""


class Threads:
    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts

    def association(self, repo: Repository, user: User) -> str:
        """GitHub's `author_association`; a hint for people, not a permission."""
        if user is repo.owner:
            return "OWNER"
        return "COLLABORATOR" if repo.roles.get(user.login, "none") in ("admin", "maintain", "write") else "NONE"

    def _via_app(self, user: User) -> Json | None:
        return self.accounts.integration() if user is self.accounts.app.bot else None

    def label(self, repo: Repository, label: Label) -> Json:
        return {
            "id": label.id,
            "node_id": node_id("Label", label.id),
            "url": f"{self.accounts.repo_url(repo)}/labels/{quote(label.name, safe='')}",
            "name": label.name,
            "color": label.color,
            "default": False,
            "description": label.description,
        }

    def issue_url(self, issue: Issue) -> str:
        return f"{self.accounts.repo_url(issue.repo)}/issues/{issue.number}"

    def pull_url(self, pull: Pull) -> str:
        return f"{self.accounts.repo_url(pull.issue.repo)}/pulls/{pull.issue.number}"

    def page(self, issue: Issue) -> str:
        kind = "pull" if issue.pull else "issues"
        return f"{self.accounts.repo_page(issue.repo)}/{kind}/{issue.number}"

    def issue(self, issue: Issue) -> Json:
        home = self.issue_url(issue)
        body: Json = {
            "id": issue.id,
            "node_id": node_id("Issue", issue.id),
            "url": home,
            "repository_url": self.accounts.repo_url(issue.repo),
            "labels_url": f"{home}/labels{{/name}}",
            "comments_url": f"{home}/comments",
            "events_url": f"{home}/events",
            "timeline_url": f"{home}/timeline",
            "html_url": self.page(issue),
            "number": issue.number,
            "title": issue.title,
            "body": issue.body,
            "user": self.accounts.user(issue.user),
            "labels": [self.label(issue.repo, label) for label in issue.labels],
            "state": issue.state,
            "state_reason": issue.state_reason,
            "locked": False,
            "active_lock_reason": None,
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "comments": len(issue.comments),
            "created_at": stamp(issue.created_at),
            "updated_at": stamp(issue.updated_at),
            "closed_at": maybe_stamp(issue.closed_at),
            "author_association": self.association(issue.repo, issue.user),
            "performed_via_github_app": self._via_app(issue.user),
            "reactions": self.rollup(f"{home}/reactions", []),
        }
        if issue.pull:
            page = self.page(issue)
            body["draft"] = issue.pull.draft
            body["pull_request"] = {
                "url": self.pull_url(issue.pull),
                "html_url": page,
                "diff_url": f"{page}.diff",
                "patch_url": f"{page}.patch",
                "merged_at": maybe_stamp(issue.pull.merged_at),
            }
        return body

    def single_issue(self, issue: Issue) -> Json:
        """As the answer for one issue: with who closed it."""
        return self.issue(issue) | {"closed_by": self.accounts.user(issue.closed_by) if issue.closed_by else None}

    def comment_url(self, comment: Comment) -> str:
        return f"{self.accounts.repo_url(comment.issue.repo)}/issues/comments/{comment.id}"

    def comment(self, comment: Comment) -> Json:
        home = self.comment_url(comment)
        return {
            "id": comment.id,
            "node_id": node_id("IssueComment", comment.id),
            "url": home,
            "html_url": f"{self.page(comment.issue)}#issuecomment-{comment.id}",
            "issue_url": self.issue_url(comment.issue),
            "user": self.accounts.user(comment.user),
            "body": comment.body,
            "created_at": stamp(comment.created_at),
            "updated_at": stamp(comment.updated_at),
            "author_association": self.association(comment.issue.repo, comment.user),
            "performed_via_github_app": self._via_app(comment.user),
            "reactions": self.rollup(f"{home}/reactions", comment.reactions),
        }

    def reaction(self, reaction: Reaction) -> Json:
        return {
            "id": reaction.id,
            "node_id": node_id("Reaction", reaction.id),
            "user": self.accounts.user(reaction.user),
            "content": reaction.content,
            "created_at": stamp(reaction.created_at),
        }

    def rollup(self, url: str, reactions: list[Reaction]) -> Json:
        """How often each reaction was given."""
        counts = Counter(reaction.content for reaction in reactions)
        return {"url": url, "total_count": len(reactions), **{name: counts[name] for name in REACTIONS}}

    def minimal_pull(self, pull: Pull) -> Json:
        """As check runs and check suites name the pull requests of their commit."""

        def side(repo: Repository, ref: str, sha: str) -> Json:
            return {
                "ref": ref,
                "sha": sha,
                "repo": {"id": repo.id, "url": self.accounts.repo_url(repo), "name": repo.name},
            }

        return {
            "id": pull.id,
            "number": pull.issue.number,
            "url": self.pull_url(pull),
            "head": side(pull.head_repo, pull.head_ref, pull.head_sha),
            "base": side(pull.issue.repo, pull.base_ref, pull.base_sha),
        }

    def listed_pull(self, pull: Pull) -> Json:
        """As in a list of pull requests (pull-request-simple)."""
        issue, page = pull.issue, self.page(pull.issue)
        home, repo_home = self.pull_url(pull), self.accounts.repo_url(issue.repo)
        statuses = f"{repo_home}/statuses/{pull.head_sha}"
        links = {
            "self": home,
            "html": page,
            "issue": self.issue_url(issue),
            "comments": f"{self.issue_url(issue)}/comments",
            "review_comments": f"{home}/comments",
            "review_comment": f"{repo_home}/pulls/comments{{/number}}",
            "commits": f"{home}/commits",
            "statuses": statuses,
        }
        thread = self.issue(issue)
        return {
            **{key: thread[key] for key in _OF_THE_THREAD},
            "id": pull.id,
            "node_id": node_id("PullRequest", pull.id),
            "url": home,
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "issue_url": links["issue"],
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": statuses,
            # the description of this list says text where a label's own schema allows null
            "labels": [label | {"description": label["description"] or ""} for label in thread["labels"]],
            "requested_reviewers": [self.accounts.user(user) for user in pull.reviewers],
            "requested_teams": [],
            "draft": pull.draft,
            "merged_at": maybe_stamp(pull.merged_at),
            "merge_commit_sha": pull.merge_commit_sha,
            "head": self._side(pull.head_repo, pull.head_ref, pull.head_sha),
            "base": self._side(issue.repo, pull.base_ref, pull.base_sha),
            "_links": {name: {"href": url} for name, url in links.items()},
            "auto_merge": None,
        }

    def _side(self, repo: Repository, ref: str, sha: str) -> Json:
        return {
            "label": f"{repo.owner.login}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": self.accounts.user(repo.owner),
            "repo": self.accounts.repository(repo),
        }

    def pull(self, pull: Pull) -> Json:
        """As the answer for one pull request, and as its webhooks carry it."""
        merges = {True: "draft" if pull.draft else "clean", False: "dirty", None: "unknown"}
        return {
            **self.listed_pull(pull),
            "merged": pull.merged_at is not None,
            "mergeable": pull.mergeable,
            "rebaseable": pull.mergeable,
            "mergeable_state": merges[pull.mergeable],
            "merged_by": self.accounts.user(pull.merged_by) if pull.merged_by else None,
            "comments": len(pull.issue.comments),
            "review_comments": len(pull.review_comments),
            "maintainer_can_modify": False,
            "commits": pull.commits,
            "additions": pull.additions,
            "deletions": pull.deletions,
            "changed_files": pull.changed_files,
        }
