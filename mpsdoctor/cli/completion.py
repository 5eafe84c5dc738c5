"""`mpsdoctor completion`."""

from __future__ import annotations

import click

from mpsdoctor.cli.output import print_text

HOW = {
    "bash": 'eval "$(mpsdoctor completion bash)"      in ~/.bashrc; needs bash 4.4 or newer',
    "zsh": 'eval "$(mpsdoctor completion zsh)"       in ~/.zshrc, behind compinit',
    "fish": "mpsdoctor completion fish | source      in ~/.config/fish/config.fish",
}


@click.command(epilog="\b\n" + "\n".join(HOW.values()))
@click.argument("shell", type=click.Choice(list(HOW)))
def completion(shell: str) -> int:
    """Print the script that completes mpsdoctor's commands and options in a shell."""
    from click.shell_completion import get_completion_class

    from mpsdoctor.cli import cli

    found = get_completion_class(shell)
    assert found is not None  # the choices are click's own shells
    print_text(found(cli, {}, "mpsdoctor", "_MPSDOCTOR_COMPLETE").source().rstrip("\n"), None)
    return 0
