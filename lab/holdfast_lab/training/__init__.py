"""A small network is trained while batches go wrong, with rules that training code uses, and with ours."""
