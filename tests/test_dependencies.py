"""The bounds in the metadata, the pinned versions and what is installed agree."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def declared() -> list[Requirement]:
    found = (Requirement(line) for line in requires("sgam") or [])
    return [requirement for requirement in found if requirement.name != "sgam"]


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): release for name, release in pins}


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_a_dependency_has_a_lower_bound_without_which_years_old_releases_would_be_taken(
    requirement: Requirement,
) -> None:
    assert any(bound.operator == ">=" for bound in requirement.specifier)


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_the_pinned_version_lies_within_the_bounds(requirement: Requirement) -> None:
    assert requirement.specifier.contains(pinned()[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_the_installed_version_lies_within_the_bounds(requirement: Requirement) -> None:
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        pytest.skip(f"{requirement.name} is not installed: its extra was not asked for")

    assert requirement.specifier.contains(installed)
