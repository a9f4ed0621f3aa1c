"""The command line: one module per command, which reads the options and prints the result.

`jobs/cli.py` lists the commands. The work itself lies in the other rooms of jobs/.
"""
