"""The work of each command: a function that takes the options and prints the result. Its module has the name
of the command, or of one that it belongs to: `fields` lies beside `import`, `run` beside `scheduler`.

`jobs/cli.py` declares the commands, with their options and their help. The work itself lies in the other
rooms of jobs/.
"""
