from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from sgam.agent.ingest import MAX_LINE_BYTES, Gate, Line, read_lines
from sgam.memory_store.errors import InvalidInput
from sgam.memory_store.model import MAX_EPISODE_LENGTH
from sgam.memory_store.schema import MemorySchema

SCHEMA = MemorySchema.from_json({"name": "s", "version": 1, "types": {"p": {"attributes": {"city": {"type": "text"}}}}})
GATE = Gate(schema=SCHEMA, tenant="acme")
GOOD = {"observed_at": "2026-06-01T09:00:00Z", "text": "I live in Oslo."}


def line(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode() + b"\n"


def read(data: bytes, gate: Gate = GATE) -> list[Line]:
    return list(read_lines(io.BytesIO(data), "chat.jsonl", gate))


def refused(data: bytes, gate: Gate = GATE) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(data, gate)
    return str(caught.value)


def test_each_line_becomes_an_episode_with_its_number() -> None:
    lines = read(line(text="one") + line(text="two"))

    assert [(found.number, found.tenant, found.episode.text) for found in lines] == [
        (1, "acme", "one"),
        (2, "acme", "two"),
    ]


def test_blank_lines_a_byte_order_mark_and_a_missing_last_newline_do_no_harm() -> None:
    lines = read(b"\xef\xbb\xbf" + line() + b"\n  \r\n" + line(text="two").strip())

    assert [found.number for found in lines] == [1, 4]


def test_line_separators_inside_a_text_do_not_end_a_line() -> None:
    raw = json.dumps({**GOOD, "text": "a\u2028b\x85c\x0bd\re"}, ensure_ascii=False).encode()

    assert [found.episode.text for found in read(raw)] == ["a\u2028b\x85c\x0bd\re"]


def test_a_byte_order_mark_in_a_later_line_is_refused() -> None:
    assert refused(line() + b"\xef\xbb\xbf" + line()).startswith("chat.jsonl line 2: not JSON: ")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"  \t\n", b"\xef\xbb\xbf"])
def test_a_file_without_episodes_is_refused(data: bytes) -> None:
    assert refused(data) == "chat.jsonl: holds no episode"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"hello\n", "not JSON: Expecting value at column 1"),
        (b'{"text": "a"\n', "not JSON: Expecting ',' delimiter at column 13"),
        (b'{"text": "a"} {"text": "b"}\n', "not JSON: Extra data at column 15"),
        (b"[]\n", "episode: expected an object"),
        (b"null\n", "episode: expected an object"),
        (b'"text"\n', "episode: expected an object"),
        (b"{}\n", "text: missing"),
        (b'{"text": "a"}\n', "observed_at: missing"),
        (line(observed_at="2026-06-01T09:00:00"), "observed_at: 2026-06-01T09:00:00 has no offset"),
        (line(observed_at="2026-06-01"), "observed_at: 2026-06-01T00:00:00 has no offset"),
        (line(observed_at="yesterday"), "observed_at: expected an ISO 8601 time with offset, got 'yesterday'"),
        (line(observed_at=1780000000), "observed_at: expected an ISO 8601 time with offset, got 1780000000"),
        (line(observed_at=None), "observed_at: expected an ISO 8601 time with offset, got None"),
        (
            line(observed_at="0001-01-01T00:00:00+10:00"),
            "observed_at: 0001-01-01T00:00:00+10:00 is out of the calendar's range",
        ),
        (line(text=""), "text: is empty"),
        (line(text=" \n "), "text: is empty"),
        (line(text=5), "text: expected text, got int"),
        (line(text=None), "text: expected text, got NoneType"),
        (line(text="a\x00b"), "text: contains a NUL character"),
        (line(text="\ud800"), "text: contains a lone surrogate, which is no character"),
        (line(text="a" * (MAX_EPISODE_LENGTH + 1)), "text: has 100001 characters, more than 100000"),
        (line(speaker=""), "speaker: '' is no name"),
        (line(zone="Mars/Olympus"), "zone: 'Mars/Olympus' is no IANA time zone"),
        (line(session_id=7), "session_id: expected text, got int"),
        (line(episode_id="x" * 501), "episode_id: longer than 500 characters"),
        (line(author="mira"), "author: unknown field"),
        (b'{"text": "a", "text": "b", "observed_at": "2026-06-01T09:00:00Z"}\n', "text: stands twice"),
        (b'{"text": NaN}\n', "not JSON: NaN is no JSON number"),
        (b'{"text": "a", "session_id": ' + b"9" * 5000 + b"}\n", "not JSON that we read: "),
        (b"[" * 100_000 + b"\n", "not JSON that we read: nested too deeply"),
        (b'{"text": "caf\xe9"}\n', "invalid UTF-8 at byte 14 (0xe9)"),
        (b'{"text": "\xed\xa0\x80"}\n', "invalid UTF-8 at byte 11 (0xed)"),
        (json.dumps(GOOD).encode("utf-16"), "invalid UTF-8 at byte 1 (0xff)"),
        (b'"' + b"a" * MAX_LINE_BYTES, f"longer than {MAX_LINE_BYTES} bytes"),
    ],
)
def test_a_line_that_is_no_episode_is_refused_by_line_and_field(bad: bytes, message: str) -> None:
    assert refused(line() + b"\n" + bad).startswith(f"chat.jsonl line 3: {message}")


def test_the_longest_text_is_taken_even_when_every_character_is_escaped() -> None:
    [found] = read(line(text="\U0001f600" * MAX_EPISODE_LENGTH))

    assert len(found.episode.text) == MAX_EPISODE_LENGTH


class TestTenants:
    @pytest.mark.parametrize("tenant", ["other", "acm", "acme2", "ACME", "acme ", "", "acm%", "*"])
    def test_a_line_of_another_tenant_is_refused(self, tenant: str) -> None:
        assert refused(line(tenant_id=tenant)) == f"chat.jsonl line 1: tenant_id: {tenant!r} is not the tenant 'acme'"

    def test_the_same_tenant_may_be_named(self) -> None:
        assert [found.tenant for found in read(line(tenant_id="acme"))] == ["acme"]

    def test_all_tenants_come_in_when_asked_for_and_unnamed_ones_are_the_given_one(self) -> None:
        gate = Gate(schema=SCHEMA, tenant="acme", all_tenants=True)

        assert [found.tenant for found in read(line(tenant_id="other") + line(), gate)] == ["other", "acme"]


class TestSources:
    def test_a_file_may_not_claim_that_the_user_confirmed_it(self) -> None:
        assert refused(line(source="user_confirmed")) == (
            "chat.jsonl line 1: source: user_confirmed is not taken from a file"
        )

    def test_it_may_when_the_caller_trusts_it(self) -> None:
        gate = Gate(schema=SCHEMA, tenant="acme", trust_source=True)

        assert [found.episode.source for found in read(line(source="user_confirmed"), gate)] == ["user_confirmed"]

    @pytest.mark.parametrize("source", ["admin", "USER_CONFIRMED", "user_confirmed ", ""])
    def test_a_source_that_the_schema_does_not_list_is_refused(self, source: str) -> None:
        gate = Gate(schema=SCHEMA, tenant="acme", trust_source=True)

        assert refused(line(source=source), gate).startswith(f"chat.jsonl line 1: source: {source!r} is none of ")


def test_memory_stays_flat_over_many_lines(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(b"".join(line(text=f"episode {number}") for number in range(5_000)))
    with file.open("rb") as stream:
        tracemalloc.start()
        assert sum(1 for _ in read_lines(stream, "f", GATE)) == 5_000
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert peak < 500_000  # to keep the episodes would take two megabytes
