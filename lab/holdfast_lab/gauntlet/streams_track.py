"""The track `streams`."""

from collections.abc import Sequence
from importlib.util import find_spec

from holdfast_lab.gauntlet.entry import read_entry
from holdfast_lab.gauntlet.learners import LEARNERS, Known, Learner
from holdfast_lab.gauntlet.play_stream import oracle_errors, play, score
from holdfast_lab.gauntlet.scores import Score
from holdfast_lab.gauntlet.streams import QUICK, StreamScenario, full_scenarios, make_stream
from holdfast_lab.gauntlet.track import Contestant, Setting, Track


def scenarios(setting: Setting) -> list[StreamScenario]:
    more: tuple[str, ...] = ()
    if setting.data is not None:
        from holdfast_lab.trials.data import available

        several = ("nab_streams", "covid_deaths")  # of several streams each
        more = tuple(name for name in available(setting.data) if name not in several)
    some = QUICK if setting.quick else full_scenarios(more)
    return [each._replace(seed=each.seed + setting.seed) for each in some]


def _learners(setting: Setting) -> dict[str, Learner]:
    found = {
        name: learner
        for name, learner in LEARNERS.items()
        if not (setting.quick and learner.slow) and (not learner.needs or find_spec(learner.needs))
    }
    entry = read_entry(setting.entry)
    return found if entry is None or entry.learner is None else {**found, entry.name: entry.learner}


def contestants(setting: Setting) -> dict[str, Contestant]:
    entry = read_entry(setting.entry)
    return {
        name: Contestant(learner.told, learner.ours, entry is not None and name == entry.name)
        for name, learner in _learners(setting).items()
    }


def measure(setting: Setting, scenario: StreamScenario, names: Sequence[str]) -> dict[str, Score | None]:
    stream = make_stream(scenario, setting.data)
    _, oracle = oracle_errors(stream, scenario.delay)
    known = Known(stream.regression, int(stream.bad.sum()))
    learners = _learners(setting)
    found: dict[str, Score | None] = {}
    for name in names:
        learner = learners[name]
        if learner.numbers_only and not stream.regression:
            found[name] = None
        else:
            played = play(learner.make(known), stream, scenario.delay, scenario.seed)
            found[name] = score(stream, played, oracle)
    return found


STREAMS = Track(scenarios, contestants, measure)
