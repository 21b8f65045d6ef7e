"""What GitHub says about reviews of pull requests and the comments on their lines (schemas pull-request-review and
pull-request-review-comment, and the forms that webhooks carry)."""

from __future__ import annotations

from demo.standin.json.account import node_id, stamp
from demo.standin.json.thread import Threads
from demo.standin.records import Json, Review, ReviewComment


class Reviewing:
    def __init__(self, threads: Threads) -> None:
        self.threads = threads
        self.accounts = threads.accounts

    def page(self, review: Review) -> str:
        return f"{self.threads.page(review.pull.issue)}#pullrequestreview-{review.id}"

    def review(self, review: Review) -> Json:
        """As the answer to a request: the state in capitals, no body as empty text."""
        issue, page = review.pull.issue, self.page(review)
        home = self.threads.pull_url(review.pull)
        return {
            "id": review.id,
            "node_id": node_id("PullRequestReview", review.id),
            "user": self.accounts.user(review.user),
            "body": review.body or "",
            "state": review.state.upper(),
            "html_url": page,
            "pull_request_url": home,
            "author_association": self.threads.association(issue.repo, review.user),
            "_links": {"html": {"href": page}, "pull_request": {"href": home}},
            "submitted_at": stamp(review.submitted_at),
            "commit_id": review.commit_sha,
        }

    def review_event(self, review: Review) -> Json:
        """As `pull_request_review` webhooks carry it: the state in small letters, no body as null."""
        more = {"body": review.body, "state": review.state, "updated_at": stamp(review.updated_at)}
        return self.review(review) | more

    def comment_url(self, comment: ReviewComment) -> str:
        return f"{self.accounts.repo_url(comment.pull.issue.repo)}/pulls/comments/{comment.id}"

    def comment(self, comment: ReviewComment) -> Json:
        pull, home = comment.pull, self.comment_url(comment)
        page = f"{self.threads.page(pull.issue)}#discussion_r{comment.id}"
        pull_home = self.threads.pull_url(pull)
        return {
            "id": comment.id,
            "node_id": node_id("PullRequestReviewComment", comment.id),
            "pull_request_review_id": comment.review.id,
            "url": home,
            "html_url": page,
            "pull_request_url": pull_home,
            "_links": {name: {"href": url} for name, url in
                       (("self", home), ("html", page), ("pull_request", pull_home))},
            "diff_hunk": comment.hunk,
            "path": comment.path,
            "position": comment.position,
            "original_position": comment.position,
            "commit_id": pull.head_sha,
            "original_commit_id": comment.review.commit_sha,
            "user": self.accounts.user(comment.user),
            "body": comment.body,
            "created_at": stamp(comment.created_at),
            "updated_at": stamp(comment.updated_at),
            "author_association": self.threads.association(pull.issue.repo, comment.user),
            "start_line": None,
            "original_start_line": None,
            "start_side": None,
            "line": comment.line,
            "original_line": comment.line,
            "side": "RIGHT",
            "subject_type": "line",
            "reactions": self.threads.rollup(f"{home}/reactions", comment.reactions),
        }  # fmt: skip
