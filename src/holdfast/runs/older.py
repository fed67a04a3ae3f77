"""Read the results of a run whose checkpoint another version of holdfast has written."""

import math


def older_metrics(found, template):
    """The content of metrics.json, with all entries of `template`; raises ValueError if one has another type.

    Entries that the other version did not write are as in the template, that of a run without rounds.
    """
    if not isinstance(found, dict):
        raise ValueError("metrics.json is no JSON object")
    known = template | {name: value for name, value in found.items() if name in template}
    counts = [known[name] for name in ("rounds", "kept", "skipped", "warm_up", "learned_little", "released")]
    reasons = known["skipped_by_reason"]
    if not isinstance(reasons, dict):  # their names may be those of another version
        raise ValueError("the reasons in metrics.json are not those of a run")
    if not all(type(count) is int and 0 <= count < 1 << 53 for count in (*counts, *reasons.values())):
        raise ValueError("the counts in metrics.json are not those of a run")
    errors = (known["error"], known["error_of_all_rounds"], known["baseline"])
    if not all(error is None or (type(error) in (int, float) and math.isfinite(error)) for error in errors):
        raise ValueError("the errors in metrics.json are not numbers")
    return known
