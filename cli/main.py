"""The ``trellis`` command: its verbs, and how every way of ending ends.

Verbs are imported when they are called, so that help and completion answer at once. Exit codes:
0 fine, 1 refused or failed with the reason on standard error, 2 a mistake in how the command was
called, 3 rendered while something is held back, 4 the output belongs to another history, 130
interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from graph.model.errors import TrellisError, Unavailable
from graph.model.names import did_you_mean, nearest

VERBS: dict[str, tuple[str, str]] = {
    "select": ("cli.select:select", "Which clusters? The answer to a selector."),
    "explain": ("cli.select:explain", "Why a cluster is in or out, clause by clause."),
    "tree": ("cli.explore:tree", "Counts along a hierarchy."),
    "facets": ("cli.explore:facets", "Counts per child of a group or value of a label."),
    "cross-tab": ("cli.explore:cross_tab", "Counts of two dimensions at once."),
    "cypher": ("cli.explore:cypher", "A selector as one Cypher statement."),
    "load": ("cli.change:load", "Load files of commands, in batches."),
    "apply": ("cli.change:apply", "Make a file of commands happen, all or nothing."),
    "preview": ("cli.change:preview", "What a file of commands would do."),
    "save": ("cli.change:save", "Keep a selector under a name."),
    "history": ("cli.record:history", "What happened to an object, newest first."),
    "revert": ("cli.record:revert", "Take part of the fleet back to what it was."),
    "report": ("cli.record:report", "Clusters that break the declared standards."),
    "serve": ("cli.serve:serve", "Serve the fleet over GraphQL."),
    "render": ("cli.render:render", "Keep a git repository equal to what should run."),
    "bundle": ("cli.bundle:bundle", "Everything one cluster runs, as one archive."),
    "verify": ("cli.upkeep:verify", "Prove that log, facts and index agree."),
    "backup": ("cli.upkeep:backup", "Copy the store to a file, while it is in use."),
    "restore": ("cli.upkeep:restore", "Replace the store by a backup."),
    "compact": ("cli.upkeep:compact", "Archive and drop old changesets."),
    "generate": ("cli.generate:generate", "Write a sample fleet as JSON lines."),
    "demo": ("cli.demo:demo", "A sample fleet, asked, explained, changed, rendered, served."),
}
"""Where each verb lives, and its line of help. A test holds the two homes of a line equal."""


class Verbs(click.Group):
    """The verbs, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every verb, in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, imported now."""
        if cmd_name not in VERBS:
            return None
        module, _, name = VERBS[cmd_name][0].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command), f"{cmd_name} is a command"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown verb is answered with the nearest ones."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            close = nearest(args[0], VERBS)
            ctx.fail(f"there is no verb '{args[0]}'. {did_you_mean(close).capitalize()}".rstrip())
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """As click does; whoever reads our output may stop when they have seen enough."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            _let_go_of_output()
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their lines of help, without importing one."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.command(
    cls=Verbs,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--store", "store_url", metavar="URL", help="The record, instead of the setting's.")
@click.version_option(package_name="trellis-fleet", message="trellis %(version)s")
@click.pass_context
def trellis(context: click.Context, store_url: str | None) -> None:
    """Which clusters? Ask, explain and change a fleet along its business hierarchies.

    Settings come from the environment, as TRELLIS_STORE_URL=sqlite:///fleet.db.
    """
    context.obj = store_url


def run(arguments: Sequence[str]) -> int:
    """Do what ``arguments`` say and return the exit code."""
    try:
        code = trellis.main(args=list(arguments), prog_name="trellis", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except TrellisError as error:
        _print_refusal(error)
        return 1
    except OSError as error:
        _let_go_of_output()
        _print_refusal(_failure(error))
        return 1
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what was committed stays", err=True)
        return 130


def _print_refusal(error: TrellisError) -> None:
    from cli.problems import print_refusal

    print_refusal(error)


def _failure(error: OSError) -> TrellisError:
    """What the system said no to; what the core asks of it has better words already."""
    reason = error.strerror or str(error)
    what = f"{error.filename}: {reason}" if error.filename else f"the output: {reason}"
    return Unavailable(what, hint="check the path, its permissions and the room on the disk")


def _let_go_of_output() -> None:
    """Keep the interpreter's own last flush from complaining again about output nobody takes."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Give Python the streams its caller closed, or the next file opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def main() -> None:
    """The entry point."""
    _open_streams()
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
