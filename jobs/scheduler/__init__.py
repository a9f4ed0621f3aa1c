"""The scheduled jobs: the schedule as data, the processes that run it, and what `status` shows.

Start with `schedule.py`. The jobs themselves are commands in jobs/commands/.
"""
