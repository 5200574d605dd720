"""What a user gets: the distribution, built from a clean copy and installed into a fresh environment.

A copy whose folder has another name, since nothing may depend on how the checkout is called.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("agent", "evals", "extraction", "memory_store", "prompts")
NOT_COPIED = (".git", ".venv", ".work", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")

CONSUMER = """
import importlib
import sys
from importlib.resources import files
from pathlib import Path

import evals
import prompts

assert prompts.OWN and evals.OWN
for name in {packages!r}:
    module = importlib.import_module(name)
    assert "site-packages" in Path(module.__file__).parts, module.__file__
for package, name in {data!r}:
    (files(package) / name).read_bytes()
assert prompts is sys.modules["prompts"] is not sys.modules["sgam.prompts"]
"""


def run(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def shipped() -> set[str]:
    """Name every file of the package folders and of the root, as the wheel is to hold it."""
    inside = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    kept = {path for path in inside if path.suffix != ".pyc"} | {ROOT / "__init__.py", ROOT / "py.typed"}
    return {f"sgam/{path.relative_to(ROOT).as_posix()}" for path in kept}


def packages() -> list[str]:
    return sorted(name.removesuffix("/__init__.py").replace("/", ".") for name in shipped() if "__init__" in name)


def data() -> list[tuple[str, str]]:
    """Pair each packaged file that is no module with the package that it is read from."""
    found: list[tuple[str, str]] = []
    for name in sorted(shipped()):
        owner = max((each for each in packages() if name.startswith(each.replace(".", "/") + "/")), key=len)
        if not name.endswith(".py"):
            found.append((owner, name.removeprefix(owner.replace(".", "/") + "/")))
    return found


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source archive from a clean copy, and the wheel from the source archive."""
    copy = tmp_path_factory.mktemp("built") / "elsewhere"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    run(sys.executable, "-m", "build", cwd=copy)
    return copy / "dist"


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    (built,) = distributions.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel with its base dependencies and nothing else; gives the folder of programs."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    run(programs / "python", "-m", "pip", "install", "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    return programs


def test_the_wheel_holds_the_package_and_its_metadata_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}

    inside = {name for name in names if ".dist-info/" not in name}
    metadata = names - inside

    assert wheel.name == "sgam-0.1.0-py3-none-any.whl"
    assert inside == shipped()
    assert {name.partition("/")[0] for name in metadata} == {"sgam-0.1.0.dist-info"}
    assert "sgam-0.1.0.dist-info/licenses/LICENSE" in metadata


def test_the_source_archive_holds_what_the_wheel_is_built_from(distributions: Path) -> None:
    (built,) = distributions.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {name.removeprefix("sgam/") for name in shipped()} <= names
    assert {"LICENSE", "README.md", "pyproject.toml"} <= names


def test_only_the_package_lands_in_site_packages(environment: Path) -> None:
    code = "from importlib.metadata import files; print(*files('sgam'), sep='\\n')"
    listed = run(environment / "python", "-c", code, cwd=environment).split()

    tops = {name.partition("/")[0] for name in listed}

    assert tops == {"sgam", "sgam-0.1.0.dist-info", ".."}
    assert [name for name in listed if name.startswith("..")] == ["../../../bin/sgam"]


def test_the_command_starts_without_any_extra(environment: Path) -> None:
    assert "ingest" in run(environment / "sgam", "--help", cwd=environment)


def test_a_project_with_its_own_prompts_and_evals_packages_works_beside_it(environment: Path, tmp_path: Path) -> None:
    for name in ("prompts", "evals"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWN = True\n", encoding="utf-8")
    importable = [name for name in packages() if name != "sgam.extraction.backends.local"]
    code = CONSUMER.format(packages=importable, data=data())
    (tmp_path / "app.py").write_text(code, encoding="utf-8")

    run(environment / "python", "app.py", cwd=tmp_path)


def test_the_dependencies_of_the_installed_wheel_fit_together(environment: Path) -> None:
    assert "No broken requirements found" in run(environment / "python", "-m", "pip", "check", cwd=environment)
