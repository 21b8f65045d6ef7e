"""The manifest asks for what `app.yml` asks for, and no text gets out of its place in an address."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.rules.app_manifest import app_manifest, creation_address, is_code, is_organization

APP_YML = yaml.safe_load((Path(__file__).parents[2] / "app.yml").read_text(encoding="utf-8"))


def test_the_manifest_is_app_yml_with_the_operators_addresses() -> None:
    manifest = app_manifest("My Mendbot", "It fixes.", "https://mendbot.acme.org/", "http://127.0.0.1:4000/callback")
    assert manifest["default_permissions"] == APP_YML["default_permissions"]
    assert manifest["default_events"] == APP_YML["default_events"]
    assert (manifest["public"], manifest["description"]) == (APP_YML["public"], "It fixes.")
    assert manifest["hook_attributes"] == {"url": "https://mendbot.acme.org/api/github/webhooks", "active": True}
    assert (manifest["url"], manifest["name"]) == ("https://mendbot.acme.org", "My Mendbot")
    assert manifest["callback_urls"] == ["https://mendbot.acme.org/sign-in/github/callback"]
    assert manifest["redirect_url"] == "http://127.0.0.1:4000/callback"


def test_webhooks_may_go_to_a_relay() -> None:
    manifest = app_manifest("m", "", "https://a.example", "https://a.example/setup", "https://smee.io/abc")
    assert manifest["hook_attributes"]["url"] == "https://smee.io/abc"


def test_the_address_is_that_of_the_account_or_of_the_organization() -> None:
    own = creation_address("https://github.com", "s&t=1")
    assert own == "https://github.com/settings/apps/new?state=s%26t%3D1"
    acme = creation_address("https://ghe.acme.org/", "s", "acme")
    assert acme == "https://ghe.acme.org/organizations/acme/settings/apps/new?state=s"


@pytest.mark.parametrize(("text", "fits"), [("abc123", True), ("a/../b", False), ("", False), ("a" * 300, False)])
def test_a_code_is_a_word(text: str, fits: bool) -> None:
    assert is_code(text) is fits


@pytest.mark.parametrize(("text", "fits"), [("octo-org", True), ("-x", False), ("a/b", False), ("", False)])
def test_an_organization_is_a_login(text: str, fits: bool) -> None:
    assert is_organization(text) is fits
