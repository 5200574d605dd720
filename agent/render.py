"""What the command line shows to people.  Text from outside is printed with its control characters made visible."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..memory_store.model import Decision, DecisionKind, Evidence, Explanation, Fact, Hold, Quarantined
from .forms import instant, typed, value_of
from .ingest import FATES, MAX_ROWS, STATUSES, Row, Tally
from .text import printable, shortened

_WIDE = 1_000


def console(stream: TextIO | None = None) -> Console:
    """A console that cuts nothing when it does not write to a terminal."""
    stream = stream or sys.stdout
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=None if stream.isatty() else _WIDE)


def show(*lines: object) -> None:
    """Print lines of text or whole tables."""
    out = console()
    for line in lines:
        out.print(line if isinstance(line, Table | Text) else Text(str(line)), soft_wrap=not isinstance(line, Table))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A plain table; cells are made printable."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text("" if cell is None else printable(cell)) for cell in row))
    return made


def name_of(fact: Fact[Any]) -> str:
    """`subject.attribute[item]`."""
    return printable(f"{fact.subject}.{fact.attribute}" + (f"[{fact.item}]" if fact.item else ""))


def one_fact(fact: Fact[Any] | None) -> list[str]:
    """A fact with its times and its source."""
    if fact is None:
        return ["nothing known"]
    until = f" until {instant(fact.valid_to)}" if fact.valid_to else ""
    supersedes = f", supersedes fact {fact.supersedes_fact_id}" if fact.supersedes_fact_id else ""
    return [
        f"{name_of(fact)} = {printable(typed(fact.value))}",
        f"  valid   from {instant(fact.valid_from)}{until}",
        f"  known   from {instant(fact.known_from)}" + (f" until {instant(fact.known_to)}" if fact.known_to else ""),
        f"  source  {_source(fact)}",
        f"  fact    {fact.fact_id}{supersedes}",
    ]


def _source(fact: Fact[Any]) -> str:
    if fact.episode_id is None:
        return f"{fact.source}, erased"
    who = f"{fact.speaker} ({fact.source})" if fact.speaker else fact.source
    return printable(f'{who} in episode {fact.episode_id}: "{fact.quote}"')


def facts(known: Iterable[Fact[Any]], *, beliefs: bool = False) -> Table:
    """Facts in a table; with `beliefs` also when they were believed."""
    columns = ["fact", "about", "value", "valid from", "valid to", "episode", "quote"]
    if beliefs:
        columns[5:5] = ["known from", "known to"]
    return table(columns, (_fact_row(fact, beliefs=beliefs) for fact in known))


def _fact_row(fact: Fact[Any], *, beliefs: bool) -> list[object]:
    believed = [instant(fact.known_from), instant(fact.known_to)] if beliefs else []
    quote = "(erased)" if fact.quote is None else shortened(fact.quote)
    times = [instant(fact.valid_from), instant(fact.valid_to)]
    return [fact.fact_id, name_of(fact), typed(fact.value), *times, *believed, fact.episode_id, quote]


def holds(waiting: Iterable[Hold]) -> Table:
    """What waits, with the words that it rests on."""
    columns = ("hold", "about", "value", "reason", "valid from", "episode", "quote")
    return table(columns, (_hold_row(hold) for hold in waiting))


def _hold_row(hold: Hold) -> list[object]:
    value, quote = value_of(hold.value), shortened(hold.quote or "")
    return [hold.hold_id, hold.key, value, hold.reason.value, instant(hold.valid_from), hold.episode_id, quote]


def quarantine(lost: Iterable[Quarantined]) -> Table:
    """What could not become a candidate."""
    rows = ([q.quarantine_id, q.episode_id, q.reason.value, q.message, shortened(q.raw)] for q in lost)
    return table(("id", "episode", "reason", "message", "raw"), rows)


def decision(made: Decision) -> str:
    """A decision on one line."""
    value = "(no value)" if made.value is None else value_of(made.value)
    by = f" by {made.by}" if made.by else ""
    hold = f", hold {made.candidate_id}" if made.decision is DecisionKind.HOLD else ""
    return printable(f"{made.decision.value}: {made.key} = {value} ({made.reason.value}{by}{hold})")


def explanation(told: Explanation) -> list[object]:
    """A fact, the episode with its evidence marked, what was decided and who extracted it."""
    lines: list[object] = [*one_fact(told.fact), ""]
    if told.episode is None:
        lines.append("The episode was erased.")
    else:
        said = told.episode.speaker or told.episode.source
        lines += [f"{printable(said)} at {instant(told.episode.observed_at)}:", _marked(told), ""]
    lines.append(table(("span", "from", "to", "quote"), map(_span, told.evidence)))
    lines += [decision(made) for made in told.decisions]
    lines += [printable(f"settled: {settled}") for settled in told.settlements]
    if told.supports:
        lines.append(f"also said by assertions {', '.join(map(str, told.supports))}")
    model = printable(told.extractor or "none (given by the application)")
    return [*lines, f"model: {model}", f"prompt: {told.prompt_hash or 'none'}", f"time: {told.time_rule}"]


def _span(span: Evidence) -> list[object]:
    return [span.role, span.start, span.end, "(erased)" if span.quote is None else span.quote]


def _marked(told: Explanation) -> Text:
    """The episode with the evidence in reverse between `>>` and `<<`."""
    episode = told.episode
    if episode is None:
        return Text("")
    spans = [span for span in told.evidence if span.episode_id == episode.episode_id and not span.erased]
    inside = {at for span in spans for at in range(span.start, span.end)}
    marked, open_ = Text("  "), False
    for at, character in enumerate(episode.text):
        if (at in inside) != open_:
            marked.append("<<" if open_ else ">>")
            open_ = not open_
        shown = "\n  " if character == "\n" else printable(character)
        marked.append(shown, style="reverse" if open_ else "")
    return marked.append("<<") if open_ else marked


def tally(account: Tally) -> list[object]:
    """The decisions of an ingest one by one, or counted by attribute when they are many; then the sums."""
    return [_decisions(account), *sums(account)]


def _decisions(account: Tally) -> Table:
    if len(account.rows) <= MAX_ROWS:
        return table(("decision", "about", "value", "reason", "episode"), map(_row, account.rows))
    attributes = sorted({attribute for attribute, _ in account.by_attribute})
    rows = ([name or "-", *(account.by_attribute[name, fate] for fate in FATES)] for name in attributes)
    return table(("attribute", *FATES), rows)


def _row(row: Row) -> list[object]:
    return [row.fate, row.about, shortened(row.value), row.reason, shortened(row.episode_id, 32)]


def sums(account: Tally) -> list[str]:
    """Two lines in which every episode and every candidate is accounted for."""
    statuses = " + ".join(f"{account.episodes[status]} {status}" for status in STATUSES)
    fates = " + ".join(f"{account.fates[fate]} {fate}" for fate in FATES)
    before = f" ({account.done_before} of them done before)" if account.done_before else ""
    return [
        f"episodes:   {account.episodes.total()} = {statuses}{before}",
        f"candidates: {account.candidates} = {fates}",
    ]
