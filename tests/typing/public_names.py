"""Every public name, used once, for mypy (`make check`) and pyright. Nothing here is run.

What needs torch, Optax or Spark is in `heavy_names.py`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    import holdfast as hf
    from holdfast import (
        adversaries,
        audit,
        bounds,
        checks,
        domains,
        filters,
        game,
        intervals,
        learners,
        levels,
        losses,
        measures,
        norms,
        player,
        protocols,
        record,
        regret,
        river,
        rule,
        serve,
        sketches,
        sklearn,
        steady,
    )
    from holdfast.certificates.certificate import Certificate
    from holdfast.certificates.certified import Certified
    from holdfast.journal import Forgotten
    from holdfast.play_many import KeyedRecord
    from holdfast.steady.certificate import DefaultCertificate, default_certificate

    X, y = np.ones((9, 2)), np.ones(9)

    def the_parts() -> None:
        """Filters, sketches, domains, norms and losses."""
        asked: list[protocols.Filter] = [filters.Everything(), filters.TopK(1), filters.TopShare(0.1)]
        asked += [filters.Quantile(0.9)]
        _, threshold, kept = asked[0].decide(asked[0].init(1), 1.0)
        said: tuple[float, bool] = threshold, kept
        order: float = sketches.LogHistogram.empty().push(1.0).at(1)[1]
        order = sketches.Ranks.empty().push(1.0).at(1)[1]
        order = sketches.WindowedHistogram.empty(9).push(1.0).at(1)[1]
        order = sketches.Largest(np.zeros(2)).push(1.0).smallest()
        order = sketches.Windowed(sketches.Ranks.empty(), sketches.Ranks.empty(), 0, 9).push(1.0).at(1)[1]
        ball, eye = domains.Ball(1.0), np.eye(2)
        everywhere: list[protocols.Domain] = [ball, domains.Box(0.0, 1.0), domains.Interval(0.0, 1.0)]
        everywhere += [domains.Ellipsoid(eye), domains.Everywhere(), domains.L1Ball(1.0)]
        everywhere += [domains.Simplex(), domains.Shifted(ball, 1.0)]
        most: float = everywhere[0].support(np.ones(2))
        lengths: list[protocols.Norm] = [norms.L1(), norms.L2(), norms.LInf(), norms.Lp(3.0)]
        lengths += [norms.Mahalanobis(eye)]
        most = lengths[0].of(np.ones(2)) + norms.L2().dual().of(np.ones(2))
        costs: list[protocols.Loss] = [losses.Absolute(), losses.EpsilonInsensitive(), losses.Hinge()]
        costs += [losses.Huber(), losses.Linear(), losses.Logistic(), losses.Pinball(), losses.Squared()]
        costs += [losses.SquaredHinge()]
        most = costs[0].value(0.0, 1.0) + costs[0].slope(0.0, 1.0) + losses.Huber().lipschitz()
        print(said, order, most)

    def the_learners() -> list[protocols.Learner]:
        ball, ogd, grad = domains.Ball(1.0), learners.OGD(domains.Ball(1.0)), learners.FreeGrad()
        found: list[protocols.Learner] = [ogd, learners.AdaFTRL(ball), learners.AdaGrad(ball), grad]
        found += [learners.AdaHedge(), learners.Averaged(ogd), learners.Bounded(learners.Clipped(grad), ball)]
        found += [learners.DiagonalMetaGrad(domains.Box(0.0, 1.0)), learners.EG(0.1), learners.MetaGrad(ball)]
        found += [learners.Fixed(np.ones(2)), learners.ONS(ball, 0.5), learners.OnlineRidge(), learners.VAW()]
        found += [learners.OnlineLogistic(), learners.ProjectedAdaGrad(ball), learners.Penalized(ogd, 0.1)]
        found += [learners.ScaleInvariant(), learners.Scaled(ogd), learners.SoloFTRL(ball)]
        found += [
            learners.Squint(),
            learners.Bettors(),
            learners.Reserved(1),
            learners.ReservedEpochs(1),
            learners.Recentered(ogd, ball),
        ]
        found += [learners.Mixture((ogd, grad)), learners.RobustRidge(weights=learners.Redescending())]
        steps: list[protocols.Step] = [learners.Adaptive(), learners.StronglyConvex(1.0)]
        print(steps, learners.LogWealth(), learners.HuberWeights(), learners.InverseMultiquadric())
        return found

    def the_adversaries() -> list[protocols.Adversary]:
        replay = adversaries.Replay(X, y, losses.Absolute())
        found: list[protocols.Adversary] = [replay, adversaries.Gradients(X), adversaries.Tight(1)]
        found += [
            adversaries.Accumulating(replay, 1),
            adversaries.Chaser(replay, 1),
            adversaries.Ramp(replay, 1),
        ]
        found += [adversaries.Contaminated(replay, replay, 0.1), adversaries.Contrarian(9, 2)]
        found += [adversaries.FeatureBlowUp(replay, 1), adversaries.LabelFlip(replay, 1)]
        found += [adversaries.Functions(lambda t, w: 0.0, lambda t, w: w, 9, 2)]
        found += [adversaries.HeavyTails(0.3, 9), adversaries.IidLowerBound(1, 9)]
        found += [adversaries.StronglyConvexLowerBound(1, 9), adversaries.Weighted(replay, y)]
        found += [adversaries.SparseReplay(y, y, y, 2, y, losses.Absolute())]
        tails: list[protocols.Tail] = [adversaries.Uniform(), adversaries.Exponential(), adversaries.Pareto()]
        found += [adversaries.QuantileStream(0.9, 9, 2, tail=tails[0])]
        risk: float = adversaries.HeavyTails(0.3, 9).risk([1.0])
        print(risk)
        return found

    def the_game() -> None:
        """Players, records, regret and certificates."""
        player_of = game.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1), on=measures.Features())
        sizes: list[protocols.Measure] = [measures.Gradient(), measures.Range(), measures.LossForm(1.0)]
        games: record.Record = hf.play(player_of, hf.Replay(X, y, hf.Logistic()))
        keyed: KeyedRecord = hf.play_many(player_of, hf.Replay(X, y, hf.Logistic()), keys=y)
        one = player.Player(player_of, dim=2)
        decided: hf.Verdict = one.learn(np.ones(2), 1.0, hf.Logistic())
        by_label = checks.LabelCheck(measures.Gradient(), hf.TopK(1))
        both = (checks.Check(measures.Target(), hf.TopK(1)), by_label)
        guarded = checks.Guarded(hf.OGD(hf.Ball(1.0)), both)
        usual = checks.Guarded(hf.OGD(hf.Ball(1.0)), checks.usual_checks(hf.TopK(1)))
        gate = hf.Gate(hf.TopK(1))
        answer: bool = gate.keep(1.0)
        journal = hf.Journal(one, every=10)
        learned: hf.Verdict = journal.learn(np.ones(2), 1.0, hf.Logistic(), row_id="a")
        forgotten: Forgotten = journal.forget(["a"])
        widths = intervals.Widths(intervals.Tracker(np.array([0.9])))
        told: list[levels.Event] = list(hf.Level(season=24).events())
        reading: levels.Reading = levels.Level().update(1.0)
        readings: levels.Readings = levels.Level().update_many([1.0])
        print(told, reading, readings, levels.Webhook, levels.json_lines)
        events = levels.Events()
        levels.Decisions(patience=3, on_event=events).add(1, kept=True)
        levels.RowEvents(["a"], events).add(np.ones(1, bool), np.ones((1, 1)))
        levels.FrozenColumns(["a"], events).add(np.arange(1), np.ones((1, 1)))
        found: list[levels.Event] = [*events]
        print(found, hf.Gate(hf.TopK(1), on_event=events, patience=5))
        reports: tuple[intervals.IntervalReport, ...] = widths.report()
        print(widths.at(0.9), reports[0].missed(1))
        many: np.ndarray = gate.keep_many([1.0, 2.0])
        number: float = regret.robust_regret(games) + regret.linearised_regret(games)
        worst: regret.Worst = regret.worst_case(games, 1)
        best: np.ndarray = regret.best_comparator(games)
        number = float(regret.losses_of(games, best).sum()) + worst.regret
        proof: Certificate = games.certificate(1)
        certified = Certified(player_of, 1)
        default = steady.Steady(steady.Ridges(covariance=steady.Full()))
        parts = steady.Logits(), steady.Diagonal()
        shown: DefaultCertificate = default_certificate(default, one.state, 1)
        print(
            sizes,
            keyed,
            decided,
            guarded,
            usual,
            answer,
            learned,
            forgotten,
            many,
            number,
            proof.bound,
            certified,
            parts,
            shown,
        )
        print(hf.Round(1.0, np.ones(2)), audit.HoldfastWarning)

    def the_bounds() -> float:
        r, sizes, kept = np.ones(9, int), [1.0, 2.0], [True, False]
        odds: bounds.RankOdds = bounds.rank_odds(r, 0.5)
        odds = bounds.empirical_rank_odds(r, 3.0)
        counts: int = bounds.binomial_budget(0.1, 9, 0.1) + bounds.huber_budget(0.1, 9, 0.1)
        counts += bounds.huber_budget_paper(0.1, 9, 0.1) + bounds.topshare_budget(0.1, 9, 0.1)
        counts += bounds.window_budget(0.1, 9, 0.1)
        used: np.ndarray = bounds.ranks(hf.Quantile(0.5), 9) + bounds.ends(hf.Quantile(0.5), 9)
        used = used + bounds.uniform_ranks(0.5, 9)
        found: list[float] = [bounds.best_slack(1.0, 9, 1.0, 1), bounds.corollary_2(1.0, 1.0, 1, 9)]
        found += [
            bounds.corollary_2_hindsight(1.0, sizes, kept, kept),
            bounds.corollary_2_paper(1.0, 1.0, 1, 9),
        ]
        found += [bounds.corollary_2_sizes(1.0, sizes, 1), bounds.corollary_2_squares(1.0, 1.0, 1, 9.0)]
        found += [bounds.corollary_2_squares_paper(1.0, 1.0, 1, 9.0), bounds.corollary_3(1.0, 1.0, 1.0, 1, 9)]
        found += [bounds.corollary_3_hindsight(1.0, sizes, kept, kept, sizes)]
        found += [bounds.corollary_3_paper(1.0, 1.0, 1.0, 1, 9), bounds.corollary_5(1.0, 1.0, 0.1, 9, 0.1)]
        found += [bounds.corollary_5_paper(1.0, 1.0, 0.1, 9, 0.1), bounds.default_bound(1.0, sizes)]
        found += [
            bounds.empirical_overhead(r, 3.0),
            bounds.epochs_factor(4.0),
            bounds.failure_probability(r, 0.5),
        ]
        found += [bounds.heavy_tails(1.0, 1.0, 1.0, 9), bounds.heavy_tails_example(0.5, 9)]
        found += [
            bounds.heavy_tails_rate(0.5),
            bounds.huber_floor(1.0, 1.0, 0.1),
            bounds.lemma_4(1.0, 1.0, 0.1, 9, 0.1),
        ]
        found += [bounds.lemma_4_expectation(1.0, 0.1, 9), bounds.lemma_4_paper(1.0, 1.0, 0.1, 9, 0.1)]
        found += [bounds.mixability_gap(0.1, 1.0), bounds.ogd(1.0, 1.0, 9), bounds.ogd_hindsight(1.0, sizes)]
        found += [bounds.ogd_paper(1.0, 1.0, 9), bounds.ogd_strongly_convex(1.0, 1.0, 9)]
        found += [bounds.ogd_strongly_convex_hindsight(1.0, sizes), bounds.pareto_quantile(0.5, 0.9)]
        found += [bounds.pareto_tail(0.5, 0.9), bounds.proposition_9(1.0, 1.0, 1.0, 0.5, 9)]
        found += [bounds.proposition_9_paper(1.0, 1.0, 1.0, 0.5, 9), bounds.specialists(1.0, 1.0, 1, 9)]
        found += [bounds.theorem_1(1.0, 1.0, 1.0, 1), bounds.theorem_1_at_best_slack(1.0, 9, 1.0, 1.0, 1)]
        found += [
            bounds.theorem_1_hindsight(1.0, 1.0, sizes, kept, kept),
            bounds.theorem_1_paper(1.0, 1.0, 1.0, 1),
        ]
        found += [bounds.theorem_1_sizes(1.0, 1.0, sizes, 1), bounds.theorem_6(1.0, 1.0, 1)]
        found += [bounds.theorem_6_combined(1.0, 1.0, 1, 9), bounds.theorem_6_paper(1.0, 1.0, 1)]
        found += [bounds.theorem_7(1.0, 1.0, 1), bounds.theorem_7_combined(1.0, 1.0, 1, 9)]
        found += [bounds.theorem_8(1.0, 1.0, 1.0, 0.5, 9), bounds.theorem_8_exact(1.0, 1.0, 1.0, r, 0.5)]
        found += [bounds.theorem_8_paper(1.0, 1.0, 1.0, 0.5, 9)]
        found += [bounds.theorem_8_probable(1.0, 1.0, 1.0, r, 0.5, 0.1)]
        found += [bounds.theorem_8_uniform(1.0, 1.0, 1.0, 0.5, 9), bounds.theorem_g(1.0, 1.0, 1.0, 1)]
        found += [
            bounds.theorem_h(1.0, 1.0, 1.0, 1, [(1.0, 10, 2.0)]),
            bounds.theorem_p(sizes, sizes, sizes, sizes),
        ]
        found += [bounds.theorem_u(1.0, 1, 1.0, 1.0)]
        found += [bounds.theorem_u_epochs(1.0, 1, 1.0, [(1.0, 1.0)])]
        found += [*bounds.theorem_i(0.9, 0.05, 1.0), bounds.theorem_ii(0.9, 0.05, 1.0, 8.0)]
        found += [bounds.theorem_w(1.0, 1.0, sizes, [1, 1]), bounds.theorem_x(sizes, [9], [0.1], 5, 0.1)]
        return sum(found) + counts + float(odds.skipped.sum() + used.sum())

    def the_adapters() -> None:
        """scikit-learn and River."""
        scores: np.ndarray = sklearn.RobustRegressor().fit(X, y).predict(X)
        scores = sklearn.RobustClassifier().fit(X, y).predict(X)
        print(sklearn.AuditDisplay, scores)
        print(river.Robust(None), river.RobustRegressor(), river.RobustClassifier())
        print(river.LinearRegressor(), river.LinearClassifier(), river.gradient_size, river.residual)
        print(river.LevelScorer(season=24).predict_interval_one())

    async def the_clients() -> None:
        """`holdfast.serve`."""
        with serve.Client("http://127.0.0.1:8000", token="secret", patience=1.0) as client:
            one: serve.Answer = client.predict({"a": 1.0, "b": "red", "c": None}, id="mine", key="k")
            statuses: list[str] = client.label_many([(one.id, 1.0), ("other", "yes")])
            print(client.predict_many([{"a": 1}]), client.label(one.id, 2.0), statuses, one.low, one.labels)
            print(
                client.learn([{"a": 1.0, "y": 2.0}], source="topic/0", first=7), client.call("GET", "/model")
            )
        async with serve.AsyncClient("http://127.0.0.1:8000") as other:
            print(await other.predict({"a": 1.0}), await other.label(one.id, 1.0))
            print(await other.retract("120-180", "in kW"), await other.release([7]))
        print(client.release([7]), client.retract("120-180", "in kW"), serve.ServerError(409, "no").status)

    @rule
    class Halved:
        """A rule of a user."""

        size: float

    def the_roles() -> None:
        """What a rule of a user may be annotated with."""
        more: list[type] = [protocols.AdversaryOptions, protocols.DomainOptions, protocols.FilterOptions]
        more += [protocols.HintedLearner, protocols.LearnerInDomain]
        more += [protocols.LearnerOptions, protocols.LearningOptions, protocols.LipschitzLoss]
        more += [protocols.LossOptions, protocols.MeasureOptions, protocols.NormOptions, protocols.Player]
        more += [protocols.PlayerInDomain, protocols.PlayerOptions]
        more += [protocols.Measure, protocols.StateOptions]
        print(more, Halved(2.0).size)
