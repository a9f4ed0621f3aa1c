"""Several hosts, which the tests make of namespaces: a night's rollup while hosts and links fail."""
