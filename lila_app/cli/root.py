"""`lila` itself: the global options, the list of commands, and what happens without one."""

from __future__ import annotations

import click

from lila_app.cli.groups import Entry, RootGroup
from lila_app.cli.opening import Invocation

ENTRIES = {
    "chat": Entry("chat", "Talk with LILA; what `lila` alone does."),
    "ask": Entry("ask", "Ask one thing; the answer goes to stdout."),
    "voice": Entry("voice", "Talk with LILA aloud; its devices and how long it takes."),
    "brief": Entry("brief", "Have the day's briefing composed."),
    "ingest": Entry("ingest", "Let LILA read files and folders."),
    "import": Entry("import_", "Bring in conversations from ChatGPT, Claude, Markdown, JSONL."),
    "documents": Entry("documents", "List, show, search and forget documents."),
    "sessions": Entry("sessions", "List, show, search, fork and delete conversations."),
    "goal": Entry("goal", "Set, list and finish goals LILA keeps in view."),
    "memory": Entry("memory", "Add, list, search and forget memories."),
    "graph": Entry("graph", "Add relations and follow them."),
    "context": Entry("context", "See what the model saw, replay it, compare it."),
    "policy": Entry("policy", "Show and check the tables that decide what the model sees."),
    "models": Entry("models", "List, fetch, adopt, choose and test models."),
    "keys": Entry("keys", "Set, list, test and delete the keys of model providers."),
    "cost": Entry("cost", "Show what models cost, and what each layer of a prompt would."),
    "cache": Entry("cache", "Show how well the caches of model providers are used."),
    "privacy": Entry("privacy", "See what is found in a text, who is told what, what is held."),
    "db": Entry("db", "Check, back up, export and restore the store."),
    "eval": Entry("eval", "Measure LILA on labelled data you name."),
    "doctor": Entry("doctor", "Check this machine and say what to do about what is missing."),
    "paths": Entry("paths", "Show where everything lives."),
}


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if not value or ctx.resilient_parsing:
        return
    import lila_app

    click.echo(f"lila {lila_app.__version__}")
    ctx.exit()


@click.group(
    cls=RootGroup,
    entries=ENTRIES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--profile",
    default="default",
    metavar="NAME",
    help="Which of your profiles; each is a store of its own ('sample' is a life to try LILA on).",
)
@click.option(
    "--key-file",
    "key_files",
    multiple=True,
    metavar="PROVIDER=PATH",
    help="A file with that provider's key and nothing else; may be given for several.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version.",
)
@click.pass_context
def lila(ctx: click.Context, profile: str, key_files: tuple[str, ...]) -> None:
    """LILA, an assistant for one person that can say what its model saw.

    Alone it opens the chat. stdout is the answer and nothing else; commands that print data take
    --json. LILA_HOME moves everything LILA keeps.
    """
    ctx.obj = Invocation(profile, key_files)
    if ctx.invoked_subcommand is None:
        from lila_app.cli.chat import chat

        ctx.invoke(chat)
