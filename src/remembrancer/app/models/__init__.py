"""Use of models by the jobs: the ports of `ports.models` over the upstreams that are set up."""
