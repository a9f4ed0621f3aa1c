"""The work of each command: one module per command, whose function takes the options and prints the result.

`jobs/cli.py` declares the commands, with their options and their help. The work itself lies in the other
rooms of jobs/.
"""
