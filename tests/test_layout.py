"""What the tree must look like for the root to be the package and for the parts to stay apart."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sgam

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("agent", "evals", "extraction", "memory_store", "prompts")

MAY_IMPORT = {
    "memory_store": set[str](),
    "prompts": set[str](),
    "extraction": {"memory_store", "prompts"},
    "agent": {"memory_store", "prompts", "extraction"},
    "evals": {"memory_store", "prompts", "extraction", "agent"},
}

LOCAL_MODEL = ("extraction/backends/local", "extraction/distill", "evals/benchmarks")
OWNERS = {
    "accelerate": LOCAL_MODEL,
    "dateparser": ("extraction/dates.py", "evals/benchmarks/dates.py"),
    "gguf": LOCAL_MODEL,
    "jsonschema": ("extraction/repair.py", "extraction/backends/probe.py"),
    "numpy": LOCAL_MODEL,
    "peft": ("extraction/distill",),
    "safetensors": LOCAL_MODEL,
    "torch": LOCAL_MODEL,
    "transformers": LOCAL_MODEL,
    "xgrammar": LOCAL_MODEL,
    "httpx2": ("extraction/backends/",),
    "instructor": ("extraction/backends/instructor",),
    "openai": ("extraction/backends/openai",),
    "outlines": ("evals/benchmarks",),
    "psycopg": ("memory_store/postgres",),
    "rich": ("agent", "evals", "extraction/distill"),
    "text_to_num": ("extraction/numbers.py",),
    "typer": ("agent", "evals", "extraction/distill"),
    "xllamacpp": ("evals/benchmarks",),
}
ANYWHERE = {"pydantic", "tenacity"}

EXPORTS = [
    "AsyncMemory",
    "Attribute",
    "Candidate",
    "Episode",
    "Evidence",
    "Fact",
    "LocalBackend",
    "Memory",
    "MemorySchema",
    "MemoryType",
    "Proposal",
    "Receipt",
    "ScriptedBackend",
    "SgamError",
    "attribute",
    "open_store",
]


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def sources(*tops: str) -> list[Path]:
    return sorted(path for top in tops for path in (ROOT / top).rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def package_of(folder: Path) -> str:
    return ".".join(("sgam", *folder.relative_to(ROOT).parts))


def imports(path: Path) -> Iterator[str]:
    """Name the modules that a file imports anywhere in it, relative ones resolved."""
    package = package_of(path.parent).split(".")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=module, names=names, level=0):
                yield from (f"{module}.{name.name}" for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) - level + 1] + ([module] if module else [])
                yield from (".".join((*base, name.name)) for name in names)
            case _:
                pass


def modules_loaded_by(statement: str) -> set[str]:
    """Run a statement in a new interpreter and name the top-level modules that it loaded."""
    code = f"import sys; before = set(sys.modules)\n{statement}\nprint(*(set(sys.modules) - before), sep='\\n')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "tests")

    assert ran.returncode == 0, ran.stderr
    return {name.partition(".")[0] for name in ran.stdout.split()}


class TestPackaging:
    def test_the_listed_packages_are_the_folders_that_hold_modules(self) -> None:
        folders = {package_of(path.parent) for path in sources(*FOLDERS)}

        assert sorted(pyproject()["tool"]["setuptools"]["packages"]) == sorted(folders | {"sgam"})

    def test_every_package_has_an_init_with_a_docstring(self) -> None:
        folders = {path.parent for path in sources(*FOLDERS)} | {ROOT}
        without = [
            relative(folder)
            for folder in sorted(folders)
            if not (init := folder / "__init__.py").is_file()
            or ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) is None
        ]

        assert without == []

    def test_every_file_that_is_not_a_module_is_listed_as_package_data(self) -> None:
        patterns = pyproject()["tool"]["setuptools"]["package-data"]
        listed = {
            path
            for package, globs in patterns.items()
            for glob in globs
            for path in ROOT.joinpath(*package.split(".")[1:]).glob(glob)
        }
        shipped = {
            path
            for folder in FOLDERS
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix not in {".py", ".pyc"}
        }

        assert sorted(map(relative, shipped | {ROOT / "py.typed"})) == sorted(map(relative, listed))

    def test_the_root_holds_no_module_but_its_init(self) -> None:
        assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]

    def test_the_links_for_type_checkers_lead_to_every_folder(self) -> None:
        links = {link.name: link for link in (ROOT / ".types" / "sgam").iterdir()}

        assert sorted(links) == sorted(("__init__.py", *FOLDERS))
        assert all(link.is_symlink() and not link.readlink().is_absolute() for link in links.values())
        assert all(link.resolve() == ROOT / name for name, link in links.items())


class TestImports:
    @pytest.mark.parametrize("folder", FOLDERS)
    def test_a_folder_imports_only_what_stands_below_it(self, folder: str) -> None:
        allowed = {f"sgam.{name}" for name in {folder} | MAY_IMPORT[folder]}
        wrong = [
            f"{relative(path)}: {name}"
            for path in sources(folder)
            for name in imports(path)
            if name.partition(".")[0] == "sgam" and ".".join(name.split(".")[:2]) not in allowed
        ]

        assert wrong == []

    def test_a_library_is_imported_only_by_the_modules_that_own_it(self) -> None:
        wrong = [
            f"{relative(path)}: {top}"
            for path in (*sources(*FOLDERS), ROOT / "__init__.py")
            for top in sorted({name.partition(".")[0] for name in imports(path)})
            if top not in sys.stdlib_module_names | ANYWHERE | {"sgam"}
            and not relative(path).startswith(OWNERS.get(top, ("/",)))
        ]

        assert wrong == []

    def test_importing_the_package_loads_nothing_but_the_standard_library(self) -> None:
        loaded = modules_loaded_by("import sgam")

        assert loaded - sys.stdlib_module_names == {"sgam"}

    @pytest.mark.parametrize(
        "statement",
        [
            "from sgam import MemorySchema, SgamError, open_store",
            "from sgam import Memory, ScriptedBackend",
            "import sgam.agent.cli",
        ],
    )
    def test_a_store_and_the_command_line_load_no_model_library(self, statement: str) -> None:
        heavy = OWNERS.keys() - {"rich", "typer"}

        assert modules_loaded_by(statement) & heavy == set()


class TestPublicNames:
    def test_the_names_are_the_ones_written_here(self) -> None:
        assert sorted(sgam.__all__) == EXPORTS

    @pytest.mark.parametrize("name", EXPORTS)
    def test_each_name_resolves_to_an_object_of_that_name(self, name: str) -> None:
        exported = getattr(sgam, name)

        assert exported.__name__ == name
        assert exported.__module__.startswith("sgam.")

    def test_the_names_are_offered_before_they_are_loaded(self) -> None:
        assert set(EXPORTS) <= set(dir(sgam))

    def test_another_name_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            _ = sgam.nonsense  # type: ignore[attr-defined]

    def test_type_checkers_are_told_the_same_homes(self) -> None:
        tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
        told = {
            name.name: f"sgam.{node.module}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.level == 1
            for name in node.names
        }

        assert told == vars(sgam)["_HOME"]


class TestSizes:
    def test_no_function_is_longer_than_sixty_lines(self) -> None:
        long = [
            f"{relative(path)}:{node.lineno} {node.name}"
            for path in sources(*FOLDERS, "tests")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or node.lineno) - node.lineno >= 60
        ]

        assert long == []

    def test_no_module_is_longer_than_six_hundred_lines(self) -> None:
        long = [
            relative(path) for path in sources(*FOLDERS) if len(path.read_text(encoding="utf-8").splitlines()) > 600
        ]

        assert long == []
