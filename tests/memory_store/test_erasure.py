"""Forgetting: no read shows it and no byte holds it."""

from __future__ import annotations

import gc
import random
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from sgam.memory_store.erasure import forget
from sgam.memory_store.errors import EpisodeForgotten, ErasureIncomplete, InvalidInput, UnknownRecord
from sgam.memory_store.model import Episode, Quarantined, QuarantineReason
from sgam.memory_store.sqlite import SqliteStore, connection
from sgam.memory_store.store import Belief, FactFilter

from .ledgers import Claim, Notebook, day, episode, notebook


def bytes_of(folder: Path) -> bytes:
    """All the bytes of the database, its write-ahead log and the index of that."""
    files = sorted(folder.glob("ledger.db*"))
    assert files
    return b"".join(path.read_bytes() for path in files)


def standing(folder: Path, words: Iterable[str]) -> list[str]:
    held = bytes_of(folder)
    return [word for word in words if word.encode() in held]


def lost(raw: str) -> Quarantined:
    return Quarantined(reason=QuarantineReason.UNGROUNDED, message="the quote is not in the text", raw=raw)


SECRETS = {
    "text": "Zsófia moved to Übersee-Straße",
    "long": " ".join(f"paragraph-{number}-of-a-letter" for number in range(900)),
    "quotes": """she said "it's 'fine'" -- and; left""",
    "value": "Quetzaltenango",
    "item": "Grünkohl-Pinkel",
    "speaker": "Zsófia Übermann",
    "session": "session-of-zsofia",
    "raw": '{"quote": "Hexenschuss"}',
}


def whisper(
    book: Notebook, name: str = "secret-episode-id", subject: str = "zsófia_übermann", long: str = SECRETS["long"]
) -> None:
    """An episode with something secret in every place that takes text."""
    said = Episode(
        text="\n".join((SECRETS["text"], long, SECRETS["quotes"])),
        observed_at=day(0),
        episode_id=name,
        speaker=SECRETS["speaker"],
        session_id=SECRETS["session"],
    )
    book.commit(
        said,
        Claim(value=SECRETS["value"], subject=subject),
        Claim(value=SECRETS["quotes"], attribute="city", subject=subject),
        Claim(value="like-no-other", attribute="rating", item=SECRETS["item"], subject=subject),
        quarantined=(lost(SECRETS["raw"]),),
    )


EVERY_WORD = [
    "secret-episode-id",
    "zsófia_übermann",
    "Zsófia",
    "Übersee",
    "paragraph-0-of",
    "paragraph-450-of",
    "paragraph-899-of",
    "and; left",
    "Quetzaltenango",
    "quetzaltenango",
    "Grünkohl",
    "grünkohl",
    "like-no-other",
    "session-of-zsofia",
    "Hexenschuss",
]


class TestBytes:
    def test_they_hold_it_before(self, sqlite_book: Notebook, tmp_path: Path) -> None:
        whisper(sqlite_book)

        assert standing(tmp_path, EVERY_WORD) == EVERY_WORD

    @pytest.mark.parametrize(
        "what",
        [{"subject": "Zsófia Übermann"}, {"episode_id": "secret-episode-id"}, {"everything": True}],
        ids=["subject", "episode", "everything"],
    )
    def test_they_hold_nothing_of_it_afterwards(
        self, sqlite_book: Notebook, tmp_path: Path, what: dict[str, object]
    ) -> None:
        sqlite_book.tell("Porto")
        whisper(sqlite_book)
        sqlite_book.tell("Lisbon", since=3)
        forget(sqlite_book.ledger, "t", **what)  # type: ignore[arg-type]

        assert standing(tmp_path, EVERY_WORD) == []

    def test_nor_when_rows_had_moved_between_pages(self, sqlite_book: Notebook, tmp_path: Path) -> None:
        chance = random.Random(7)
        for number in range(60):
            long = SECRETS["long"][: chance.randrange(3000)]
            whisper(sqlite_book, f"secret-episode-id-{number}", f"zsófia_übermann_{number % 3}", long)
            said = episode(f"public {number}", text="x" * chance.randrange(1, 3000))
            sqlite_book.commit(said, Claim(value="v" * chance.randrange(1, 900), since=day(chance.randrange(50))))
            if number % 7 == 3:
                sqlite_book.ledger.retract("t", episode_id=f"secret-episode-id-{chance.randrange(number)}")
        for number in range(60):
            forget(sqlite_book.ledger, "t", episode_id=f"secret-episode-id-{number}")

        assert standing(tmp_path, EVERY_WORD) == []
        assert len(sqlite_book.records(FactFilter(subject="mira"))) > 5

    def test_nor_after_it_was_decided_again(self, sqlite_book: Notebook, tmp_path: Path) -> None:
        sqlite_book.tell("Quetzaltenango", since=1)
        sqlite_book.tell("Porto", since=2)  # its decision names the value before
        forget(sqlite_book.ledger, "t", episode_id="e1")

        assert standing(tmp_path, ["Quetzaltenango", "quetzaltenango"]) == []

    def test_another_tenant_may_hold_the_same_words(self, sqlite_book: Notebook, tmp_path: Path) -> None:
        other = replace(sqlite_book, tenant="u")
        whisper(sqlite_book)
        whisper(other)
        forget(sqlite_book.ledger, "t", everything=True)

        assert standing(tmp_path, EVERY_WORD) == EVERY_WORD
        assert len(other.records()) == 3

    @pytest.mark.parametrize("word", ["e1", "5", "user", "candidate", "current_value", "people"])
    def test_a_word_that_the_file_holds_anyway_is_no_residue(self, sqlite_book: Notebook, word: str) -> None:
        sqlite_book.commit(episode(word), Claim(value=word))
        receipt = forget(sqlite_book.ledger, "t", episode_id=word)

        assert receipt.removed["episodes"] == 1

    def test_a_text_that_another_and_the_time_beside_it_make_up_is_no_residue(self, sqlite_book: Notebook) -> None:
        sqlite_book.commit(episode("short", text="I live at number 37"), Claim(value="Porto"))
        sqlite_book.commit(episode("long", text="I live at number 372"), Claim(value="Faro", since=day(2)))
        receipt = forget(sqlite_book.ledger, "t", episode_id="long")  # the other is stored as ...number 372026-01-01...

        assert receipt.removed["episodes"] == 1

    def test_a_text_that_is_left_in_a_file_beside_is_residue(self, sqlite_book: Notebook, tmp_path: Path) -> None:
        whisper(sqlite_book)
        (tmp_path / "ledger.db-journal").write_bytes(b'was "Quetzaltenango" before')

        with pytest.raises(ErasureIncomplete, match="still stand in the store's bytes"):
            forget(sqlite_book.ledger, "t", everything=True)


class TestOpenReaders:
    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.05)

    def reader(self, path: Path) -> sqlite3.Connection:
        """A reader that holds on to what it saw."""
        reading = sqlite3.connect(path, isolation_level=None)
        reading.execute("begin")
        reading.execute("select count(*) from episodes").fetchone()
        return reading

    def test_while_one_holds_a_snapshot_the_erasure_is_incomplete(self, tmp_path: Path) -> None:
        book = notebook(SqliteStore(tmp_path / "ledger.db"))
        whisper(book)
        reading = self.reader(tmp_path / "ledger.db")

        with pytest.raises(ErasureIncomplete) as caught:
            forget(book.ledger, "t", episode_id="secret-episode-id")
        assert caught.value.retryable
        assert book.records() == []
        reading.close()
        book.ledger.store.close()

    def test_trying_again_under_the_same_reader_does_not_claim_success(self, tmp_path: Path) -> None:
        book = notebook(SqliteStore(tmp_path / "ledger.db"))
        whisper(book)
        reading = self.reader(tmp_path / "ledger.db")
        for _ in range(2):
            with pytest.raises(ErasureIncomplete):
                forget(book.ledger, "t", subject="Zsófia Übermann")

        assert standing(tmp_path, ["Quetzaltenango"]) == ["Quetzaltenango"]
        reading.close()
        book.ledger.store.close()

    @pytest.mark.parametrize("what", [{"subject": "Zsófia Übermann"}, {"episode_id": "secret-episode-id"}], ids=str)
    def test_trying_again_without_the_reader_completes_it(self, tmp_path: Path, what: dict[str, str]) -> None:
        book = notebook(SqliteStore(tmp_path / "ledger.db"))
        book.tell("Porto")
        whisper(book)
        reading = self.reader(tmp_path / "ledger.db")
        with pytest.raises(ErasureIncomplete):
            forget(book.ledger, "t", **what)  # type: ignore[arg-type]
        reading.close()
        forget(book.ledger, "t", **what)  # type: ignore[arg-type]

        assert standing(tmp_path, EVERY_WORD) == []
        assert book.current() == "Porto"
        book.ledger.store.close()


class TestReceipt:
    def test_it_counts_what_went(self, book: Notebook) -> None:
        book.tell("Porto")
        whisper(book)
        receipt = forget(book.ledger, "t", subject="Zsófia Übermann")

        assert receipt.removed == {
            "episodes": 1,
            "candidates": 3,
            "evidence": 3,
            "decisions": 3,
            "assertions": 3,
            "facts": 3,
            "quarantine": 1,
        }
        assert receipt.needles > 20
        assert receipt.scanned_bytes > 0

    def test_it_counts_the_words_taken_out_of_the_evidence_of_others(self, book: Notebook) -> None:
        book.commit(episode("both"), Claim(value="Porto", subject="mira"), Claim(value="Faro", subject="noor"))
        receipt = forget(book.ledger, "t", subject="noor")

        assert receipt.erased_evidence == 1
        assert receipt.removed["episodes"] == 1

    def test_the_known_time_of_the_erasure_is_a_new_one(self, book: Notebook) -> None:
        whisper(book)
        before = book.known()
        receipt = forget(book.ledger, "t", everything=True)

        assert receipt.known_at == book.known() > before

    def test_an_unknown_subject_is_an_empty_receipt(self, book: Notebook) -> None:
        assert forget(book.ledger, "t", subject="nobody").removed == {}

    def test_an_unknown_episode_is_an_error(self, book: Notebook) -> None:
        with pytest.raises(UnknownRecord, match="no episode 'nothing'"):
            forget(book.ledger, "t", episode_id="nothing")

    @pytest.mark.parametrize("what", [{}, {"subject": "a", "everything": True}], ids=str)
    def test_one_thing_is_forgotten_at_a_time(self, book: Notebook, what: dict[str, object]) -> None:
        with pytest.raises(InvalidInput, match="give one of"):
            forget(book.ledger, "t", **what)  # type: ignore[arg-type]


class TestOthers:
    def test_their_facts_stay_and_their_evidence_is_erased(self, book: Notebook) -> None:
        book.commit(episode("both"), Claim(value="Porto", subject="mira"), Claim(value="Faro", subject="noor"))
        forget(book.ledger, "t", subject="noor")
        (left,) = book.records()

        assert (left.fact.subject, left.fact.value) == ("mira", '"Porto"')
        assert (left.episode_id, left.quote, left.speaker) == (None, None, None)

    def test_what_a_subject_said_of_others_stays_without_its_words(self, book: Notebook) -> None:
        book.commit(episode("told", speaker="Noor"), Claim(value="Porto", subject="mira"))
        forget(book.ledger, "t", subject="noor")
        (left,) = book.records()

        assert (left.fact.value, left.episode_id, left.quote, left.speaker) == ('"Porto"', None, None, None)

    def test_with_an_episode_go_the_facts_that_rest_on_it(self, book: Notebook) -> None:
        book.commit(episode("first"))
        book.commit(episode("second"), Claim(value="Porto", also_in="first"))
        forget(book.ledger, "t", episode_id="first")

        assert book.records() == []


class TestTombstones:
    def test_a_forgotten_episode_does_not_come_back(self, book: Notebook) -> None:
        book.tell("Porto")
        forget(book.ledger, "t", episode_id="e1")
        for _ in range(2):
            with pytest.raises(EpisodeForgotten):
                book.commit(episode("e1"), Claim(value="Faro"))
        with pytest.raises(EpisodeForgotten):
            book.ledger.capture("t", episode("e1"))

    def test_nor_does_one_that_went_with_its_subject_or_with_everything(self, book: Notebook) -> None:
        book.tell("Porto")
        forget(book.ledger, "t", subject="mira")
        book.tell("Faro")
        forget(book.ledger, "t", everything=True)
        for name in ("e1", "e2"):
            with pytest.raises(EpisodeForgotten):
                book.commit(episode(name))

    def test_nor_after_the_store_was_opened_again(self, tmp_path: Path) -> None:
        book = notebook(SqliteStore(tmp_path / "ledger.db"))
        book.tell("Porto")
        forget(book.ledger, "t", episode_id="e1")
        book.ledger.store.close()
        again = notebook(SqliteStore(tmp_path / "ledger.db"))

        with pytest.raises(EpisodeForgotten):
            again.commit(episode("e1"))
        again.ledger.store.close()

    def test_another_tenant_may_tell_it(self, book: Notebook) -> None:
        book.tell("Porto")
        forget(book.ledger, "t", everything=True)
        other = replace(book, tenant="t2")
        other.commit(episode("e1"), Claim(value="Porto"))

        assert other.current() == "Porto"

    def test_forgetting_it_again_is_an_empty_receipt(self, book: Notebook) -> None:
        book.tell("Porto")
        forget(book.ledger, "t", episode_id="e1")

        assert forget(book.ledger, "t", episode_id="e1").removed == {}


class TestPastBeliefs:
    def test_they_are_those_of_a_store_that_never_heard_it(self, book: Notebook) -> None:
        book.tell("Lisbon", since=1)
        book.tell("Paris", since=3)
        marked = book.known()
        book.tell("Rome", since=5)
        forget(book.ledger, "t", episode_id="e2")

        assert book.timeline(known_at=marked) == [(day(1), None, "Lisbon")]
        assert book.timeline() == [(day(1), day(5), "Lisbon"), (day(5), None, "Rome")]

    def test_what_was_held_against_it_counts_from_when_it_was_heard(self, book: Notebook) -> None:
        book.tell("Lisbon", since=1)
        book.tell("Paris", since=1)
        marked = book.known()
        forget(book.ledger, "t", episode_id="e1")

        assert book.timeline(known_at=marked) == [(day(1), None, "Paris")]
        assert book.holds() == []

    def test_what_was_retracted_stays_so_and_is_seen_before(self, book: Notebook) -> None:
        book.tell("Lisbon", since=1)
        marked = book.known()
        book.ledger.retract("t", episode_id="e1")
        book.tell("Paris", since=2)
        forget(book.ledger, "t", episode_id="e2")

        assert book.timeline(known_at=marked) == [(day(1), None, "Lisbon")]
        assert book.timeline() == []

    def test_no_read_of_any_time_shows_it(self, book: Notebook) -> None:
        whisper(book)
        book.ledger.retract("t", episode_id="secret-episode-id")
        forget(book.ledger, "t", subject="Zsófia Übermann")

        assert book.records(belief=Belief(ever=True)) == []

    def test_who_confirmed_what_remains_is_still_known(self, book: Notebook) -> None:
        book.tell("Lisbon", since=1)
        book.tell("Paris", since=1)
        book.ledger.confirm("t", book.holds()[0].candidate.candidate_id, by="ana")
        book.tell("Rome", since=2)
        paris = book.records()[0].fact.assertion_id
        forget(book.ledger, "t", episode_id="e3")
        decisions = book.ledger.store.read("t", lambda view: view.decisions(paris))

        assert [(row.reason, row.by) for row in decisions] == [("equal_time", None), ("confirmed", "ana")]


def test_an_abandoned_scan_of_the_cells_does_not_stop_a_write(sqlite_book: Notebook) -> None:
    sqlite_book.tell("Porto")
    scan = sqlite_book.ledger.store.cells()
    next(scan)
    del scan
    gc.collect()

    assert sqlite_book.tell("Faro", since=2) == "supersede other_value_then"
