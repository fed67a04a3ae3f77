"""The track `steps`: recorded norms, and small trainings."""

from collections.abc import Sequence

from holdfast_lab.gauntlet.entry import read_entry
from holdfast_lab.gauntlet.scores import Score, finite
from holdfast_lab.gauntlet.stepping import STEPPERS, Stepper
from holdfast_lab.gauntlet.traces import TraceScenario, make_trace, play_trace
from holdfast_lab.gauntlet.track import Contestant, Setting, Track
from holdfast_lab.gauntlet.trainings import TrainingScenario, count_bad, train

RECORDED = (
    "gpt_clean",
    "gpt_noise",
    "gpt_one_byte",
    "gpt_wrong_order",
    "gpt_large_step",
    "lstm_clean",
    "lstm_noise",
    "lstm_sgd",
)
ADDED = ("masking", "one NaN", "early spike", "many NaN", "new scale", "ramp", "infinite")
_QUICK = ("gpt_clean", "gpt_one_byte", "gpt_large_step")
_TRAININGS = (
    "clean",
    "masking",
    "one NaN",
    "early spike",
    "many NaN",
    "new scale",
    "large features",
    "infinite features",
    "spikes 5 %",
    "wrong labels 10 %",
)
StepScenario = TraceScenario | TrainingScenario


def scenarios(setting: Setting) -> list[StepScenario]:
    steps = 1000 if setting.quick else 3000
    traces = ("gpt_clean",) if setting.quick else ("gpt_clean", "lstm_sgd")
    some = [TraceScenario(trace, steps=steps) for trace in (_QUICK if setting.quick else RECORDED)]
    for trace in traces:
        some += [TraceScenario(trace, kind, steps=steps) for kind in ADDED]
        some += [TraceScenario(trace, "spikes", share, steps) for share in (0.01, 0.1, 0.2)]
        some += [TraceScenario(trace, "burst", share, steps) for share in (0.02, 0.1)]
    some = [each._replace(seed=setting.seed) for each in some]
    kinds = [kind for kind in _TRAININGS if not (setting.quick and kind in ("clean", "one NaN"))]
    seeds = (0,) if setting.quick else (0, 1, 2)
    return [*some, *(TrainingScenario(kind, seed=seed + setting.seed) for kind in kinds for seed in seeds)]


def steppers_of(setting: Setting) -> dict[str, Stepper]:
    entry = read_entry(setting.entry)
    return STEPPERS if entry is None or entry.stepper is None else {**STEPPERS, entry.name: entry.stepper}


def contestants(setting: Setting) -> dict[str, Contestant]:
    entry = read_entry(setting.entry)
    return {
        name: Contestant(stepper.told, stepper.ours, entry is not None and name == entry.name)
        for name, stepper in steppers_of(setting).items()
    }


def measure(setting: Setting, scenario: StepScenario, names: Sequence[str]) -> dict[str, Score | None]:
    steppers = steppers_of(setting)
    if isinstance(scenario, TraceScenario):
        trace = make_trace(scenario)
        return {name: play_trace(steppers[name], trace) for name in names}
    least, _ = train(scenario, None)
    bad = count_bad(scenario)
    found: dict[str, Score | None] = {}
    for name in names:
        loss, score = train(scenario, steppers[name], bad)
        found[name] = score._replace(excess=None if score.broken else finite(loss / least - 1.0))
    return found


STEPS = Track(scenarios, contestants, measure)
