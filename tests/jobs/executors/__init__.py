"""Tests of jobs/executors: the same rollup by several processes, and what may happen to them."""
