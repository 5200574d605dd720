"""`python -m sgam.extraction.distill`: from replay cases to an adapter of the local model."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer

from ...memory_store.errors import InvalidInput
from . import plan as plans
from .pairs import Case

app = typer.Typer(help=__doc__, no_args_is_help=True, rich_markup_mode=None)


@app.command()
def pairs(
    sources: Annotated[list[str], typer.Argument(metavar="CASES=COUNT...", help="a file of cases or `generated`")],
    out: Annotated[Path, typer.Option(help="file to write (JSON Lines)")],
    seed: Annotated[int, typer.Option(help="the same seed gives the same pairs")] = 0,
) -> None:
    """Build training pairs.

    Example: python -m sgam.extraction.distill pairs sgd_train.jsonl.xz=4000 generated=1000 --out pairs.jsonl
    """
    rng = random.Random(seed)
    chosen = [plans.plan(_cases(name, count, seed), count, rng) for name, count in map(_source, sources)]
    plans.write(plans.mixed(chosen, rng), out)
    for source, batches in zip(sources, chosen, strict=True):
        typer.echo(f"{source}: {sum(map(len, batches))} pairs")


def _source(argument: str) -> tuple[str, int]:
    name, _, count = argument.rpartition("=")
    if not name or not count.isdigit():
        raise InvalidInput(f"{argument!r}: expected FILE=COUNT", hint="for instance cases.jsonl=1000")
    return name, int(count)


def _cases(name: str, count: int, seed: int) -> list[Case]:
    if name == "generated":
        from .generator import generate

        return [*generate(count, seed)]
    return [*plans.read_cases(Path(name))]


@app.command()
def train(
    file: Annotated[Path, typer.Argument(help="pairs, as `pairs` writes them")],
    out: Annotated[Path, typer.Option(help="folder of the checkpoints; a run that was interrupted goes on")],
    base: Annotated[str, typer.Option(help="the model: `default`, a folder, a .gguf file or a hub id")] = "default",
    start: Annotated[Path | None, typer.Option(help="adapter to begin with")] = None,
    rank: Annotated[int, typer.Option(help="rank of a new adapter")] = 16,
    rate: Annotated[float, typer.Option(help="highest learning rate")] = 8e-4,
    final: Annotated[float, typer.Option(help="last learning rate, as a share of the highest")] = 0.02,
    warmup: Annotated[int, typer.Option(help="steps until the rate is reached")] = 15,
    longest: Annotated[int, typer.Option(help="tokens of question and answer; longer pairs are left out")] = 440,
    seed: Annotated[int, typer.Option(help="seed of a new adapter")] = 0,
    skip: Annotated[int, typer.Option(help="leave out the first SKIP batches, which an adapter has seen")] = 0,
    limit: Annotated[int | None, typer.Option(help="train on the first LIMIT batches alone")] = None,
    threads: Annotated[int | None, typer.Option(help="CPU threads")] = None,
) -> None:
    """Train an adapter.

    Example: python -m sgam.extraction.distill train pairs.jsonl --out run
    """
    from .train import Settings, train_on

    if limit is not None and limit <= skip:
        raise InvalidInput(
            f"--limit {limit} leaves nothing after --skip {skip}", hint="both count from the first batch"
        )
    settings = Settings(rank=rank, rate=rate, final=final, warmup=warmup, longest=longest, seed=seed)
    train_on(plans.read(file)[skip:limit], out, settings, base=base, start=start, threads=threads)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="folder that `train` wrote")],
    out: Annotated[Path, typer.Option(help="folder of the adapter: half precision, ready for `local:FOLDER`")],
) -> None:
    """Write the trained adapter in the form in which it is used.

    Example: python -m sgam.extraction.distill export run --out adapter
    """
    from .train import export as write

    write(run, out)


@app.command()
def calibrate(
    turns: Annotated[Path, typer.Argument(help="turns.jsonl of `python -m sgam.evals.extraction --out`")],
    adapter: Annotated[Path, typer.Argument(help="folder of the adapter, fresh from `export`")],
    update_bias: Annotated[float | None, typer.Option(help="store this bias towards a first update as well")] = None,
) -> None:
    """Fit how sure the model says it is to how often it is right, and store that with the adapter.

    Example: python -m sgam.extraction.distill calibrate scores/turns.jsonl adapter
    """
    from .card import calibrate as fitted

    found = fitted(turns, adapter, update_bias=update_bias)
    typer.echo(f"slope {found.slope:.3f}, offset {found.offset:.3f}")


@app.command()
def card(
    adapter: Annotated[Path, typer.Argument(help="folder of the adapter")],
    name: Annotated[str, typer.Option(help="what the model is called")],
    data: Annotated[list[str], typer.Option(help="a set that was trained on, with its licence; may be repeated")],
    figures: Annotated[list[Path] | None, typer.Option(help="figures.json of an evaluation; may be repeated")] = None,
) -> None:
    """Write the model card into the folder of the adapter.

    Example: python -m sgam.extraction.distill card adapter --name mine --data "my ledger, private" --figures f.json
    """
    from .card import write_card

    typer.echo(write_card(adapter, figures or [], data, name))


if __name__ == "__main__":
    app()
