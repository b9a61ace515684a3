"""Where the course is published, and what an index gets to read."""

import subprocess

import pytest

import published
from checkout import copies


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/some/course.git", "git+https://github.com/some/course.git"),
        ("https://me:secret@github.com/some/course", "git+https://github.com/some/course"),
        ("https://git.example.org:8443/course", "git+https://git.example.org:8443/course"),
        ("git@github.com:some/course.git", "git+https://github.com/some/course.git"),
        ("ssh://git@gitlab.com:22/some/course", "git+https://gitlab.com/some/course"),
        ("git@git.example.org:course.git", ""),  # by ssh; who knows whether it answers by https
        ("http://github.com/some/course", ""),
        ("https://localhost/course", ""),
        ("https://127.0.0.1:3000/course", ""),
        ("https://[::1]/course", ""),
        ("https://10.0.0.7/course", ""),
        ("https://box/course", ""),
        ("https://git.internal/course", ""),
        ('https://example.org/"course', ""),
        ("https://[broken/course", ""),
        ("file:///srv/course", ""),
        ("/srv/course", ""),
        ("../course", ""),
        ("C:/course", ""),
        ("", ""),
    ],
)
def test_only_a_public_remote_is_an_address_and_no_password_is_in_it(remote, address):
    assert published.public(remote) == address


def git(folder, *words):
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def test_a_checkout_with_a_public_remote_names_it_to_the_index(tmp_path):
    copies(tmp_path, "README.md")
    git(tmp_path, "init")
    git(tmp_path, "remote", "add", "origin", "https://example.org/course.git")
    told = {}
    published.Metadata(str(tmp_path), {}).update(told)
    assert told["urls"] == {"Source": "https://example.org/course.git"}


