"""The samples for operators fit the server: its port, its home, its exit codes and its settings."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import yaml

from bot.config import Settings
from bot.web.webhook import MAX_BODY

CONTRIB = Path(__file__).parents[2] / "contrib"


def test_the_unit_is_one_that_systemd_reads_and_starts_the_server(tmp_path: Path) -> None:
    text = (CONTRIB / "mendbot.service").read_text()
    assert "mendbot serve --host 127.0.0.1 --port 3000" in text
    assert "RestartPreventExitStatus=2" in text
    assert int(re.findall(r"TimeoutStopSec=(\d+)", text)[0]) > 10
    if shutil.which("systemd-analyze") is None:
        return
    unit = tmp_path / "mendbot.service"
    unit.write_text(text.replace("/opt/mendbot/bin/mendbot", "/bin/true").replace("mendbot\nGroup=mendbot", "root"))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60)
    assert "Unknown" not in done.stderr and "mendbot.service:" not in done.stderr


def test_proxies_let_the_largest_delivery_pass_and_buffer_no_stream() -> None:
    megabytes = MAX_BODY >> 20
    nginx, caddy = (CONTRIB / "nginx.conf").read_text(), (CONTRIB / "Caddyfile").read_text()
    assert f"client_max_body_size {megabytes}m;" in nginx and f"max_size {megabytes}MB" in caddy
    assert "proxy_buffering off;" in nginx and "flush_interval -1" in caddy
    assert "Host $http_host" in nginx
    assert nginx.count("{") == nginx.count("}") and caddy.count("{") == caddy.count("}")


def test_the_compose_file_sets_settings_that_there_are() -> None:
    services = yaml.safe_load((CONTRIB / "compose.yml").read_text())["services"]
    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    assert set(services["mendbot"]["environment"]) <= known
    assert services["mendbot"]["volumes"] == ["home:/var/lib/mendbot"]
    used = set(re.findall(r"\{\$(\w+)", (CONTRIB / "Caddyfile").read_text()))
    assert used == set(services["caddy"]["environment"])
