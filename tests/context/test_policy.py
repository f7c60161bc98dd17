"""Policy tables: what is accepted, how a person's table is laid over, and what is refused."""

from __future__ import annotations

import json

import pytest

from lila_app.context import Policy, Source, concerns, from_snapshot, parse_policy, policy_hash
from lila_app.context import snapshot as snapshot_of
from lila_app.context.parse import BLOCKS
from lila_app.context.policy import LAYERS, Lifetime, ToolsPolicy
from lila_app.errors import ConfigError, PolicyError
from tests.context.support import HERE, PROMPTS, clock_in_l1, table

MINE = "/home/ada/.config/lila/policies/allocation.toml"


def parsed(allocation: str = "", blocks: str = "") -> Policy:
    return parse_policy(
        [table("allocation"), Source(MINE, allocation)],
        [table("blocks"), Source("mine/blocks.toml", blocks)],
        PROMPTS,
        known_tools=("search", "remember"),
    )


def refusal(allocation: str = "", blocks: str = "") -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        parsed(allocation, blocks)
    error = caught.value
    assert isinstance(error, ConfigError)
    assert error.exit_code == 3
    # Whatever is wrong, the sentence names all four.
    for part in (error.file, error.key, error.found, error.allowed):
        assert part in str(error)
    assert error.found
    assert error.allowed
    assert error.file in error.hint
    return error


def replaced(change: tuple[str, str]) -> str:
    """The shipped table of blocks with one thing changed, to stand in for the whole of it."""
    text = table("blocks").text
    assert change[0] in text
    return text.replace(*change, 1)


def shipped() -> Policy:
    """The policy as it comes with LILA, with its prompts."""
    root = HERE.parents[1]

    def source(name: str) -> Source:
        return Source(name, (root / "policies" / f"{name}.toml").read_text("utf-8"))

    texts = {path.stem: path.read_text("utf-8") for path in root.glob("assets/prompts/*.md")}
    tools = [path.stem.removeprefix("tool-") for path in root.glob("assets/schemas/tool-*.json")]
    return parse_policy([source("allocation")], [source("blocks")], texts, tools)


def test_the_shipped_tables_hold_what_each_use_case_may_spend() -> None:
    shares = {
        row.name: {share.name: share.ratio for share in row.layers} for row in shipped().use_cases
    }
    assert set(shares) == {"chat", "briefing", "voice", "voice_continuity", "recall"}
    assert all(sum(row.values()) in (0, 10_000) for row in shares.values())
    top_two = {name: set(sorted(row, key=row.__getitem__)[-2:]) for name, row in shares.items()}
    assert top_two["chat"] == {"conversation", "memory"}
    assert top_two["briefing"] == {"memory", "rag"}
    assert set(shares["voice"].values()) == {0}
    assert shares["voice_continuity"]["conversation"] == 10_000
    assert shipped().layers == LAYERS
    voice = shipped().use_case("voice")
    assert voice is not None
    assert voice.tools == ()
    measured = shipped().use_case("recall")
    assert measured is not None
    assert (measured.whole, measured.answers, measured.past, measured.tools) == (
        True, False, 600, (),
    )  # fmt: skip


def test_the_shipped_blocks_are_each_there_once_with_an_owner_and_argue_with_nothing() -> None:
    assert sorted(block.name for block in shipped().blocks) == sorted(BLOCKS)
    assert all(block.owner for block in shipped().blocks)
    assert concerns(shipped()) == ()


def test_one_key_of_the_person_is_laid_over_the_shipped_row_and_the_rest_stays() -> None:
    mine = parsed("[chat.memory]\ncap = 77\n[voice]\ndeadline_ms = 9\n")
    theirs = parsed()
    chat, before = mine.use_case("chat"), theirs.use_case("chat")
    assert chat is not None
    assert before is not None
    assert chat.layer("memory").cap == 77
    assert chat.layer("memory").ratio == before.layer("memory").ratio
    assert chat.layer("rag") == before.layer("rag")
    assert mine.use_case("briefing") == theirs.use_case("briefing")
    voice = mine.use_case("voice")
    assert voice is not None
    assert voice.deadline_ms == 9


def test_a_use_case_of_the_persons_own_is_accepted_when_it_is_whole() -> None:
    rows = "\n".join(f"{name} = {{ ratio = 2_000, cap = 9, floor = 0 }}" for name in LAYERS)
    row = parsed(
        f"""
        [letters]
        budget = 900
        reply_reserve = 9
        deadline_ms = 9
        tools = ["search"]
        identity = "identity"
        {rows}
        """
    ).use_case("letters")
    assert row is not None
    assert row.closing == ""
    assert row.tools == ("search",)
    assert [share.name for share in row.layers] == list(LAYERS)


def test_the_order_of_layers_can_be_declared_anew_but_not_their_number() -> None:
    order = '["rag", "graph", "memory", "conversation", "session"]'
    swapped = parsed(f"layers = {order}")
    chat = swapped.use_case("chat")
    assert chat is not None
    assert [share.name for share in chat.layers] == list(swapped.layers) == json.loads(order)
    error = refusal('layers = ["session", "memory"]')
    assert (error.file, error.key) == (MINE, "layers")
    assert "conversation" in error.allowed


@pytest.mark.parametrize(
    ("text", "key", "found", "allowed"),
    [
        ("[chat.memory]\ncap = -1", "chat.memory.cap", "-1", "whole number from 0"),
        ("[chat.memory]\nratio = 2_799", "chat", "9,999", "sum to 10,000"),
        ("[chat.memory]\nratio = 0.28", "chat.memory.ratio", "0.28", "whole number"),
        ("[chat.memory]\nratio = true", "chat.memory.ratio", "True", "whole number"),
        ("[chat.memory]\nratio = '2800'", "chat.memory.ratio", "'2800'", "whole number"),
        ("[chat.memory]\nfloor = 10_001", "chat.memory.floor", "10001", "to 10000"),
        ("[chat]\nbudget = 0", "chat.budget", "0", "from 1"),
        (f"[chat]\nbudget = 0x{'f' * 5000}", "chat.budget", "60 digits", "whole number"),
        ("[chat]\nmemory = 3", "chat.memory", "3", "a table"),
        ("[chat]\nbugdet = 3", "chat.bugdet", "unknown key", "did you mean budget?"),
        ("[chat.memory]\nrato = 3", "chat.memory.rato", "unknown key", "did you mean ratio?"),
        ("[chat.wiki]\nratio = 3", "chat.wiki", "unknown key", "session, conversation"),
        ("[chta]\nbudget = 9", "chta.reply_reserve", "nothing", "did you mean chat?"),
        ("tokenratio = 10_000", "tokenratio", "unknown key", "did you mean token_ratio?"),
        ("[chat]\ntools = ['serch']", "chat.tools", "'serch'", "search, remember"),
        ("[chat]\ntools = ['search', 'search']", "chat.tools", "search", "without repetition"),
        ("[chat]\ntools = [1]", "chat.tools", "[1]", "list of texts"),
        ("[chat]\nidentity = 'nobody'", "chat.identity", "'nobody'", "identity, voice"),
        ("[chat]\nidentity = ''", "chat.identity", "''", "one of the prompts"),
        ("[chat]\nclosing = 4", "chat.closing", "4", "text in quotes"),
        ("layers = ['session', 'wiki']", "layers", "'wiki'", "conversation"),
        ("token_ratio = 9_000", "token_ratio", "9000", "from 10000"),
        ("version = 2", "version", "2", "from 1 to 1"),
        ("[query]\nshort = 1", "query.short", "unknown key", "short_words"),
        ("chat = 3", "chat", "unknown key", "table for a use case"),
    ],
)
def test_a_bad_value_is_refused_with_the_file_that_set_it_the_key_and_what_is_allowed(
    text: str, key: str, found: str, allowed: str
) -> None:
    error = refusal(text)
    assert error.file == MINE
    assert error.key == key
    assert found in error.found
    assert allowed in error.allowed


def test_a_missing_layer_is_named() -> None:
    row = table("allocation").text.replace("rag = { ratio = 1_600, cap = 3_000, floor", "# ")
    with pytest.raises(PolicyError) as caught:
        parse_policy([Source("whole.toml", row)], [table("blocks")], PROMPTS)
    assert (caught.value.file, caught.value.key) == ("whole.toml", "chat.rag")
    assert caught.value.found == "nothing"


@pytest.mark.parametrize(
    "text",
    [
        "[chat]\nbudget = 8\t000",
        "[chat\t]\nbudget\n\t= 8",
        "[chat\n",
        "a = " + "[" * 5_000,
        "a = " + "1" * 5_000,
        "chat = 1\nchat = 2",
    ],
)
def test_text_that_is_not_toml_is_refused_by_file(text: str) -> None:
    error = refusal(text)
    assert error.file == MINE
    assert "not TOML" in error.found


def test_a_byte_order_mark_is_no_reason_to_refuse() -> None:
    row = parsed("\ufeff[chat]\nbudget = 4_321").use_case("chat")
    assert row is not None
    assert row.budget == 4_321


def test_the_file_named_is_the_one_that_set_the_value() -> None:
    broken = table("allocation").text.replace("budget = 8_000", "budget = -8")
    sources = [Source("shipped.toml", broken), Source(MINE, "[chat]\ndeadline_ms = 4")]
    with pytest.raises(PolicyError) as caught:
        parse_policy(sources, [table("blocks")], PROMPTS)
    assert caught.value.file == "shipped.toml"
    sources = [table("allocation"), Source(MINE, "[chat]\nbudget = -8")]
    with pytest.raises(PolicyError) as caught:
        parse_policy(sources, [table("blocks")], PROMPTS)
    assert caught.value.file == MINE


PROFILE = '[[block]]\nname = "profile"\nlifetime = "L2"\n'


@pytest.mark.parametrize(
    ("blocks", "key", "found", "allowed"),
    [
        (('lifetime = "L2"', 'lifetime = "L4"'), "block", "L4 L3", "in order from L0"),
        (('lifetime = "L2"', 'lifetime = "L9"'), "block[3].lifetime", "L9", "L0, L1"),
        (
            ('name = "profile"', 'name = "goals"'),
            "block",
            "profile 0 times, goals 2 times",
            "one each of",
        ),
        (
            ('name = "profile"', 'name = "pack"'),
            "block",
            "profile 0 times, pack 1 times",
            "one each of",
        ),
        ((PROFILE, f"{PROFILE}\n{PROFILE}"), "block[3].ceiling", "nothing", "from 0"),
        (("ceiling = 600", "ceiling = -1"), "block[2].ceiling", "-1", "from 0"),
        (("ceiling = 600", "cieling = 1"), "block[2].cieling", "unknown", "mean ceiling?"),
        (('owner = "the person"', "owner = 1"), "block[13].owner", "1", "text"),
        (
            ('name = "turn"\nlifetime = "L4"', 'name = "turn"\nlifetime = "L5"'),
            "block[13].lifetime",
            "L5",
            "L4",
        ),
        (
            ('owner = "the tool catalogue"', 'owner = "x"\nheading = "Tools:"'),
            "block[1].heading",
            "Tools:",
            "none for tools",
        ),
        ("block = 3", "block", "3", "array of tables"),
        ("block = [3]", "block", "3", "a table"),
        ("[window]\ngrid = 0", "window.grid", "0", "from 1"),
        ("[window]\nkeep_turns = 1", "window.keep_turns", "1", "from 2"),
        ("window = 1", "window", "1", "a table"),
        ('breakpoints = ["middle"]', "breakpoints", "middle", "profile"),
        ("extra = 1", "extra", "unknown key", "breakpoints"),
        ("version = 0", "version", "0", "1"),
    ],
)
def test_a_bad_layout_is_refused(
    blocks: str | tuple[str, str], key: str, found: str, allowed: str
) -> None:
    error = refusal(blocks=blocks if isinstance(blocks, str) else replaced(blocks))
    assert error.file == "mine/blocks.toml"
    assert error.key == key
    assert found in error.found
    assert allowed in error.allowed


def test_a_snapshot_comes_back_as_the_same_policy_with_the_same_hash() -> None:
    mine = parsed("[chat]\nbudget = 4_321\ntools = ['search']")
    text = snapshot_of(mine)
    back = from_snapshot(text)
    assert back == mine
    assert back.blocks[0].lifetime is Lifetime.L0
    assert snapshot_of(back) == text
    assert policy_hash(back) == policy_hash(mine)
    canonical = {"ensure_ascii": False, "sort_keys": True, "separators": (",", ":")}
    assert json.dumps(json.loads(text), **canonical) == text
    assert json.loads(text)["prompts"]  # what the prompts say is part of the policy


def test_a_snapshot_from_before_there_were_tools_still_comes_back() -> None:
    old = json.loads(snapshot_of(parsed()))
    del old["tools"]
    assert from_snapshot(json.dumps(old)).tools == ToolsPolicy(0, 0, 0)


def test_the_shipped_chat_has_tools_and_voice_and_briefing_have_none() -> None:
    rows = {row.name: row.tools for row in shipped().use_cases}
    assert "memory_add" in rows["chat"] and "memory_search" in rows["chat"]
    assert rows["briefing"] == rows["voice"] == rows["voice_continuity"] == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[tools]\nsteps = 0\n", "tools.steps"),
        ("[tools]\nresult_tokens = 1\n", "tools.result_tokens"),
        ("[tools]\nrounds = 1\n", "tools.rounds"),
        ('[chat]\ntools = ["serach"]\n', "chat.tools"),
    ],
)
def test_wrong_numbers_and_names_of_tools_are_refused(text: str, key: str) -> None:
    assert refusal(text).key == key


def test_the_hash_changes_with_any_value_and_not_with_how_it_was_written() -> None:
    plain = policy_hash(parsed())
    assert policy_hash(parsed("# a comment\n[chat]\nbudget = 8000")) == plain
    assert policy_hash(parsed("[chat]\nbudget = 8_001")) != plain
    assert policy_hash(parsed(blocks="[window]\ngrid = 501")) != plain
    other = parse_policy(
        [table("allocation")], [table("blocks")], {**PROMPTS, "closing": "Be brief."}
    )
    assert policy_hash(other) != plain


def test_a_clock_above_a_breakpoint_is_allowed_and_argued_with() -> None:
    (concern,) = concerns(parsed(blocks=clock_in_l1()))
    assert "block clock" in concern
    assert "above a breakpoint" in concern


def test_a_breakpoint_after_what_changes_every_time_is_argued_with() -> None:
    found = concerns(parsed(blocks='breakpoints = ["profile", "memory"]'))
    assert any("block memory" in concern for concern in found)


def test_a_share_that_can_never_be_spent_is_argued_with() -> None:
    (concern,) = concerns(parsed("[chat.graph]\ncap = 0"))
    assert concern.startswith("chat.graph")
