"""Editions, the complete sets of figures of a shop: which exist, which batches each has applied, which
batches failed, and which process may write.

Start in `editions.py`. How a batch is applied is in `jobs/pipeline`.
"""
