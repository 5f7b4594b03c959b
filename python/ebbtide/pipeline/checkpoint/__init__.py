"""How far a pipeline is, kept so that it can go on after any end.

    identity.json                what the checkpoint belongs to
    plan.json                    what that was made of, for the words of a refusal
    spark/                       Spark's own: offsets and commits of batches
    reasoner/00000012.snapshot   the units' states after batch 12
    reasoner/00000013.batch      the facts that came in with batch 13
    spool/NAME/                  what arrived on a stream that cannot be asked again

Going on at batch n: the last snapshot before n, and the batches from there to n - 1 fed again. A
unit is deterministic, so that is the state an uninterrupted run would have.
"""

from ebbtide.pipeline.checkpoint.checkpoint import Checkpoint
from ebbtide.pipeline.checkpoint.plan import Plan

__all__ = ["Checkpoint", "Plan"]
