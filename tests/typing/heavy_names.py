"""The public names that need torch, Optax or Spark, as in `public_names.py`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import optax as their_optax
    import torch as their_torch
    from pyspark.sql import DataFrame

    from holdfast import optax, spark, torch
    from holdfast.torch import lightning

    def the_adapters(table: DataFrame) -> None:
        layer = their_torch.nn.Linear(2, 1)
        optimizer = torch.guard(their_torch.optim.SGD(layer.parameters(), lr=0.1), outliers=0.01)
        steps: torch.StepGuard = optimizer.holdfast
        taken: int = steps.kept + steps.skipped
        examples = torch.PerExample(layer, their_torch.nn.functional.mse_loss)
        print(taken, examples, lightning.HoldfastCallback(outliers=0.01), torch.HoldfastCallback)
        state = optax.guarded(their_optax.sgd(0.1)).init({"w": np.ones(9)})
        assert isinstance(state, optax.GuardedOptState)
        print(optax.audit_of(state)["reason"])
        learned: spark.Learned = spark.learn(table, target="y", key="k", order="t")
        fleet = spark.Fleet(key="k", target="y", order="t")
        print(state.kept, learned, fleet, spark.gate, spark.predict, spark.to_run)
