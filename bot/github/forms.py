"""What is read of GitHub's JSON where several requests answer with it; a form that one request needs stands there."""

from __future__ import annotations

from bot.github.answers import Form


class User(Form):
    login: str = ""


class Label(Form):
    name: str


class App(Form):
    id: int
