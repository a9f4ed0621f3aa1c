"""A command that runs another one of the program, in its own process."""

import click


def run_within(name: str, *arguments: str) -> None:
    """Run a command of the program within the one that runs. Raises what it raises."""
    ctx = click.get_current_context()
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    command = group.get_command(ctx, name)
    assert command is not None
    with command.make_context(name, list(arguments), parent=ctx) as sub:
        command.invoke(sub)
