from __future__ import annotations

from pathlib import Path

import pytest
from sgam.extraction.backends.base import Completion, Message, Request, Usage
from sgam.extraction.backends.scripted import ScriptedBackend
from sgam.memory_store.errors import BackendError, BackendUnavailable, InvalidInput


def request(source: str = "hello") -> Request:
    return Request(messages=(Message(role="user", content=source),), schema={"type": "null"}, source=source)


def texts(backend: ScriptedBackend, *sources: str) -> list[str]:
    return [answer.text for answer in backend.complete([request(source) for source in sources])]


def test_answers_come_in_the_order_in_which_they_were_given() -> None:
    backend = ScriptedBackend(["one", "two", "three"])

    assert texts(backend, "a", "b") == ["one", "two"]
    assert texts(backend, "c") == ["three"]
    assert backend.left == 0


def test_an_object_is_answered_as_json_in_the_order_of_its_keys() -> None:
    assert texts(ScriptedBackend([{"b": "é", "a": None}]), "x") == ['{"b": "é", "a": null}']


def test_a_text_is_answered_as_it_is_even_when_it_is_no_json() -> None:
    assert texts(ScriptedBackend(['{"cut": "he']), "x") == ['{"cut": "he']


def test_a_completion_is_answered_as_it_is() -> None:
    cut = Completion(text="{", finish="length", usage=Usage(calls=1, completion_tokens=9))

    assert ScriptedBackend([cut]).complete([request()]) == [cut]


def test_an_exception_in_the_script_is_raised_and_the_next_answer_follows() -> None:
    backend = ScriptedBackend([BackendError("the server fell over"), "fine"])

    with pytest.raises(BackendError, match="fell over"):
        backend.complete([request()])
    assert texts(backend, "again") == ["fine"]


def test_a_script_that_ran_out_says_which_request_it_could_not_answer() -> None:
    backend = ScriptedBackend(["only one"])
    texts(backend, "first")

    with pytest.raises(BackendUnavailable, match="request 2: 'second'") as caught:
        backend.complete([request("second")])
    assert not caught.value.retryable
    assert caught.value.hint


def test_an_answer_by_source_is_given_whenever_that_source_comes() -> None:
    backend = ScriptedBackend(["in order"], by_source={"b": {"is": "b"}})

    assert texts(backend, "b", "a", "b") == ['{"is": "b"}', "in order", '{"is": "b"}']


def test_every_request_is_recorded_even_the_one_that_failed() -> None:
    backend = ScriptedBackend(["x"])
    asked = [request("a"), request("b")]

    with pytest.raises(BackendUnavailable):
        backend.complete(asked)
    assert backend.requests == asked


def test_the_name_tells_scripts_apart_and_does_not_change_with_use() -> None:
    one, same, other = ScriptedBackend([{"a": 1}]), ScriptedBackend([{"a": 1}]), ScriptedBackend([{"a": 2}])
    before = one.name
    texts(one, "x")

    assert before == one.name == same.name
    assert one.name != other.name
    assert one.name.startswith("scripted@")


def test_a_file_holds_answers_in_order_and_by_source(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"updates": []}\n\n{"source": "b", "answer": {"is": "b"}}\n"raw"\n', encoding="utf-8")

    assert texts(ScriptedBackend.from_file(path), "a", "b", "c") == ['{"updates": []}', '{"is": "b"}', "raw"]


def test_a_line_that_is_no_json_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"updates": []}\n{"updates": [}\n', encoding="utf-8")

    with pytest.raises(InvalidInput, match="line 2"):
        ScriptedBackend.from_file(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"absent\.jsonl"):
        ScriptedBackend.from_file(tmp_path / "absent.jsonl")
