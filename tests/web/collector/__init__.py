"""The collector: over HTTP, on real disks, with processes that are killed."""
