"""From names and tables to providers, with a sentence for each name that leads nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.context import Source
from lila_app.context.items import ModelLimits
from lila_app.errors import ConfigError, MissingWeightsError, PolicyError
from lila_app.gateway.catalogue import catalogue
from lila_app.gateway.chat.discover import Found
from lila_app.gateway.chat.provider import Endpoint
from lila_app.gateway.embedded.weights import DEFAULT, adopt
from lila_app.gateway.routing import OwnLimits, Routes, limits_of, resolve
from lila_app.gateway.table import GatewayTable, parse_gateway
from tests.gateway.weights import gguf, write

BASE = """
version = 1
[jobs]
reply = ["embedded/smollm2-135m"]
summary = ["embedded/smollm2-135m"]
extraction = ["embedded/smollm2-135m"]
title = ["embedded/smollm2-135m"]
[calling]
attempts = 2
backoff_ms = 500
backoff_longest_ms = 4_000
offline_seconds = 30
[calling.chat]
deadline_seconds = 60
first_token_seconds = 45
stall_seconds = 30
[calling.voice]
deadline_seconds = 6
first_token_seconds = 4
stall_seconds = 4
[calling.background]
deadline_seconds = 300
first_token_seconds = 120
stall_seconds = 60
[calling.local]
first_token_seconds = 300
stall_seconds = 300
[calling.breaker]
failures = 3
open_seconds = 30
longest_seconds = 300
rate_seconds = 60
spend_seconds = 3_600
probe_seconds = 180
[limits."*"]
window = 8_192
context_budget = 4_000
"""


def parsed(*texts: str) -> GatewayTable:
    return parse_gateway([Source(f"gateway{at}.toml", text) for at, text in enumerate(texts)])


def test_the_shipped_table_is_sound(table: GatewayTable) -> None:
    assert table.chains["reply"] == (DEFAULT,)
    for name in (DEFAULT, "embedded/mine", "ollama/llama3.2", "local/anything"):
        limits = table.limits_of(name)
        assert limits.window > limits.context_budget >= 1_000
        assert limits.token_ratio > 10_500


def test_the_most_exact_name_wins() -> None:
    table = parsed(
        BASE
        + """
[limits."ollama/*"]
window = 4_096
context_budget = 2_000
[limits."ollama/big"]
window = 100_000
context_budget = 50_000
token_ratio = 12_000
"""
    )
    assert table.limits_of("ollama/big") == ModelLimits(100_000, 50_000, 12_000)
    assert table.limits_of("ollama/other").window == 4_096
    assert table.limits_of("vllm/other").window == 8_192


def test_the_persons_table_is_laid_over_the_shipped_one_key_by_key() -> None:
    table = parsed(BASE, '[limits."*"]\nwindow = 16_384\n[jobs]\nreply = ["ollama/a", "vllm/b"]')
    assert table.limits_of("x/y") == ModelLimits(16_384, 4_000)
    assert table.chains["reply"] == ("ollama/a", "vllm/b")


def test_numbers_of_calling_are_laid_over_one_by_one() -> None:
    rules = parsed(BASE, "[calling]\nbackoff_ms = 250\n[calling.voice]\nstall_seconds = 2").calling
    assert (rules.backoff, rules.backoff_longest, rules.attempts) == (0.25, 4.0, 2)
    assert (rules.patience["voice"].first_token, rules.patience["voice"].stall) == (4, 2)
    assert (rules.deadlines["voice"], rules.local.stall, rules.breaker.failures) == (6, 300, 3)


def test_a_number_of_calling_that_nobody_gives_is_named() -> None:
    with pytest.raises(PolicyError) as caught:
        parsed(BASE.replace("probe_seconds = 180", ""))
    assert caught.value.key == "calling.breaker.probe_seconds"


@pytest.mark.parametrize(
    ("text", "key", "found"),
    [
        ("jobs = 1", "jobs", "1"),
        ("nonsense = 1", "nonsense", "nonsense"),
        ("version = 2", "version", "2"),
        ('[jobs]\nsing = ["a/b"]', "jobs.sing", "sing"),
        ("[jobs]\nreply = []", "jobs.reply", "nothing"),
        ('[jobs]\nreply = "ollama/a"', "jobs.reply", "'ollama/a'"),
        ('[jobs]\nreply = ["llama3.2"]', "jobs.reply", "'llama3.2'"),
        ('[limits]\n"*" = 3', 'limits."*"', "3"),
        ('[limits."*"]\nwindow = -1', 'limits."*".window', "-1"),
        ('[limits."*"]\nwindow = true', 'limits."*".window', "True"),
        ('[limits."*"]\ntoken_ratio = 9_999', 'limits."*".token_ratio', "9999"),
        ('[limits."*"]\nwidth = 1', 'limits."*".width', "width"),
        ('[limits."*"]\nsource = 1', 'limits."*".source', "1"),
        ('[limits."a/b"]\nwindow = 4_096', 'limits."a/b".context_budget', "nothing"),
        ("calling = 1", "calling", "1"),
        ("[calling]\nattempts = 0", "calling.attempts", "0"),
        ("[calling]\npatience = 3", "calling.patience", "patience"),
        ("[calling.chat]\nstall_seconds = 1.5", "calling.chat.stall_seconds", "1.5"),
        ("[calling.chatt]\nstall_seconds = 1", "calling.chatt", "chatt"),
        ("[calling.breaker]\nfailure = 1", "calling.breaker.failure", "failure"),
        ("[calling.breaker]\nfailures = true", "calling.breaker.failures", "True"),
        ("[calling.breaker]\nopen_seconds = 600", "calling.breaker.longest_seconds", "300"),
        ("[calling]\nbackoff_ms = 9_000", "calling.backoff_longest_ms", "4000"),
        ("\tversion\t= =", "", "no TOML"),
    ],
)
def test_a_bad_table_is_refused_with_file_key_found_and_allowed(
    text: str, key: str, found: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        parsed(BASE, text)
    error = caught.value
    assert (error.file, error.key) == ("gateway1.toml", key)
    assert found in error.found
    assert error.allowed


def test_own_limits_beat_the_table() -> None:
    routes = Routes(parsed(BASE), limits={"vllm/m": OwnLimits(window=32_768)})
    assert limits_of("vllm/m", routes) == ModelLimits(32_768, 4_000)
    assert limits_of("vllm/other", routes).window == 8_192


def test_servers_have_their_usual_addresses_and_can_be_named(tmp_path: Path) -> None:
    routes = Routes(parsed(BASE), {"local": Endpoint("http://127.0.0.1:9999/v1", "k")})
    for name in ("ollama/llama3.2", "llama-server/x", "lmstudio/x", "vllm/a/b", "local/m"):
        assert resolve(name, routes, tmp_path).name == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("llama3.2", "is not a model's name"),
        ("ollama/", "is not a model's name"),
        ("", "is not a model's name"),
        ("olama/llama3.2", r"no provider is called 'olama'; did you mean ollama/llama3.2\?"),
        ("gpt/5", "no provider is called 'gpt'"),
    ],
)
def test_a_name_that_leads_nowhere_is_a_sentence(name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        resolve(name, Routes(parsed(BASE)), tmp_path)
    assert caught.value.hint


def test_an_embedded_model_without_its_file_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightsError):
        resolve(DEFAULT, Routes(parsed(BASE)), tmp_path)


def test_an_adopted_models_window_is_not_larger_than_it_was_trained_for(tmp_path: Path) -> None:
    adopt(write(tmp_path / "m.gguf", gguf(context_length=2_048)), tmp_path / "models")
    provider = resolve("embedded/m", Routes(parsed(BASE)), tmp_path / "models")
    assert provider.limits().window == 2_048


def test_the_list_says_plainly_what_the_default_is_and_what_to_take_instead(
    tmp_path: Path, models_dir: Path
) -> None:
    (absent,) = catalogue(tmp_path)
    assert (absent.name, absent.installed, absent.default) == (DEFAULT, False, True)
    assert "very small" in absent.note
    assert "ollama pull" in absent.note and "lila models pull" in absent.note
    assert next(m for m in catalogue(models_dir) if m.name == DEFAULT).installed


def test_the_list_has_adopted_files_running_servers_and_what_is_chosen(tmp_path: Path) -> None:
    adopt(write(tmp_path / "m.gguf", gguf()), tmp_path / "models")
    found = (Found("ollama", "http://127.0.0.1:11434/v1", ("llama3.2", "qwen3")),)
    listed = catalogue(tmp_path / "models", found, default="ollama/qwen3", configured=["local"])
    assert [(m.name, m.installed, m.default) for m in listed] == [
        (DEFAULT, False, False),
        ("embedded/m", True, False),
        ("ollama/llama3.2", True, False),
        ("ollama/qwen3", True, True),
        ("local/…", False, False),
    ]
    away = catalogue(tmp_path / "models", default="ollama/qwen3")
    assert [(m.name, m.installed) for m in away if m.default] == [("ollama/qwen3", False)]


def test_only_a_model_whose_table_says_so_is_offered_tools(table: GatewayTable) -> None:
    assert table.limits_of("anthropic/any").tools
    assert not table.limits_of("ollama/small").tools
    assert not table.limits_of(DEFAULT).tools
    own = parsed(BASE, '[limits."*"]\ntools = true\n')
    assert own.limits_of("x/y") == ModelLimits(8_192, 4_000, tools=True)
    assert not parsed(BASE, '[limits."*"]\ntools = false\n').limits_of("x/y").tools
    with pytest.raises(PolicyError, match="true or false"):
        parsed(BASE, '[limits."*"]\ntools = 1\n')
