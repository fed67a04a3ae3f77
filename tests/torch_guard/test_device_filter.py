"""The filter on tensors decides as the core filter does, whatever the sizes are."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import TopK, TopShare

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

from holdfast.torch.device_filter import DeviceFilter  # noqa: E402

SIZES = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 1e300, math.inf, math.nan]), st.floats(0.0, 1e6), st.floats(0.5, 2.0)
)
RULES = [
    *(TopK(k, window=window) for k in (0, 1, 4) for window in (None, 5, 9)),
    *(
        TopShare(share, slack=slack, exact=True, window=window, patience=patience)
        for share, slack in ((0.01, 2.0), (0.1, 1.1), (0.4, 3.0))
        for window, patience in ((2, 0), (40, 0), (40, 9))
    ),
]


@settings(deadline=None)
@given(st.sampled_from(RULES), st.lists(SIZES, max_size=120))
def test_it_decides_as_the_core_filter(rule, sizes):
    state, device = rule.init(1), DeviceFilter(rule, 1, torch.device("cpu"))
    for size in sizes:
        state, _, kept = rule.decide(state, size)
        _, ours = device.decide(torch.tensor([size], dtype=torch.float64))
        assert bool(ours) == kept


def test_each_part_has_a_memory_of_its_own():
    rule = TopK(1, window=3)
    together = DeviceFilter(rule, 2, torch.device("cpu"))
    apart = [DeviceFilter(rule, 1, torch.device("cpu")) for _ in range(2)]
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        sizes = torch.rand(2, generator=generator, dtype=torch.float64).pow(-1)
        _, kept = together.decide(sizes)
        assert kept.tolist() == [
            bool(one.decide(size[None])[1]) for one, size in zip(apart, sizes, strict=True)
        ]


def test_a_share_needs_a_window():
    with pytest.raises(ValueError, match="window"):
        DeviceFilter(TopShare(0.01), 1, torch.device("cpu"))
