"""Where the course is published, and what a package index shows of it.

`address` is what pip installs the course from: this checkout's public remote, if it has one.
`Metadata` is the build's own hook (hatchling): the README less its links into the repository,
which lead nowhere on a page of an index, and the address of the source where there is one.
"""

import os
import re
import subprocess
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parents[1]
# Hosts that answer everyone by https at the path that they show to a key by ssh.
BY_SSH_AND_HTTPS = {"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"}
NOBODY_ELSES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "test",
                "invalid", "example", "home.arpa")  # fmt: skip
PICTURE = re.compile(r"!\[[^]]*\]\((?!https?:)[^)]*\)\n*|<picture>[\s\S]*?</picture>\n*")
LINK = re.compile(r"(?<!!)\[([^]]*)\]\((?!https?:|#)[^)]*\)")


def address(checkout: Path = ROOT) -> str:
    """What pip installs the course from, "git+https://…"; "" without a public remote."""
    command = ["git", "-C", str(checkout), "remote", "get-url", "origin"]
    here = {**os.environ, "GIT_CEILING_DIRECTORIES": str(checkout.parent)}  # not one around it
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=here)
    except OSError:  # no git
        return ""
    return public(done.stdout.strip())


def public(remote: str) -> str:
    """A git remote as anyone's pip can reach it; "" for a path, a private host or an unknown one.

    Whoever stands before the host stays out of it: that may be a password.
    """
    if short := re.fullmatch(r"(?:[\w.-]+@)?([\w.-]{2,}):(?!/)(.+)", remote):  # git@host:path
        remote = f"ssh://{short[1]}/{short[2]}"
    try:
        parts = urlsplit(remote)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme == "ssh" and host in BY_SSH_AND_HTTPS:
        port = ""
    elif parts.scheme != "https" or not is_public(host):
        return ""
    found = f"git+https://{host}{port}{parts.path}"
    return found if re.fullmatch(r"[\w.~%+:/-]+", found) else ""  # it stands in a cell's string


def is_public(host: str) -> bool:
    """Whether a host's name or number can mean anything beyond one network."""
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host and not f".{host}".endswith(tuple(f".{name}" for name in NOBODY_ELSES))


def long_description(readme: str) -> str:
    """The README for an index: links into the repository become their words, its pictures go."""
    return LINK.sub(r"\1", PICTURE.sub("", readme))


class Metadata(MetadataHookInterface):
    """Fills in the fields that pyproject.toml calls dynamic."""

    def update(self, metadata: dict) -> None:
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = long_description(readme)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        source = address(Path(self.root)).removeprefix("git+")
        metadata["urls"] = {"Source": source} if source else {}
