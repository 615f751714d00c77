"""Runs the chores of a worktree: the lines ``name: command`` of its ``chores.txt``."""
