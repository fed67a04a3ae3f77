"""Ctrl-C during machine code takes effect when that returns."""

import contextlib
import os
import signal
import threading

import numpy as np
import pytest
from laws import same

import holdfast as hf
from holdfast import _compiled
from holdfast._compiled import programs
from holdfast._compiled.long_calls import deferred_interrupts


def test_an_interrupt_takes_effect_after_the_block():
    done = []
    with pytest.raises(KeyboardInterrupt), deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        done.append("the block")
    assert done == ["the block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_the_block_is_raised_and_the_handler_is_restored():
    with pytest.raises(ValueError, match="ours"), deferred_interrupts():
        raise ValueError("ours")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_may_use_it():
    done = []

    def work():
        with deferred_interrupts():
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]


def test_a_compiled_game_ends_before_the_interrupt(monkeypatch):
    real, ended = _compiled.call, []

    def interrupted(*args):
        signal.raise_signal(signal.SIGINT)
        ended.append(real(*args))
        return ended[-1]

    monkeypatch.setattr(_compiled, "call", interrupted)
    replay = hf.Replay(np.ones((20, 5)), np.ones(20), hf.Logistic())
    with pytest.raises(KeyboardInterrupt):
        hf.play(hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopK(5)), replay, compiled=True)
    with pytest.raises(KeyboardInterrupt):
        hf.Gate(hf.TopK(5), compiled=True).keep_many(np.ones(20_000))
    assert len(ended) == 2


def test_an_interrupt_while_machine_code_runs_takes_effect_when_the_game_has_ended(monkeypatch):
    run, begun, ended = programs.run, threading.Event(), []

    def interrupt():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)

    def announced(*args):
        begun.set()
        run(*args)
        thread.join()
        ended.append(True)

    monkeypatch.setattr(programs, "run", announced)
    replay = hf.Replay(np.ones((300_000, 5)), np.ones(300_000), hf.Logistic())
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        hf.play(hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopK(5)), replay, compiled=True)
    assert ended == [True]


def test_after_an_interrupt_between_machine_code_and_its_answer_the_next_round_is_played(monkeypatch):
    player, plain = (
        hf.Player(hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopShare(0.1, window=50)), 2, compiled=c)
        for c in (True, False)
    )
    run, numbers = programs.run, range(100)

    def interrupted(*args):
        run(*args)
        raise KeyboardInterrupt

    for i in numbers:
        with monkeypatch.context() as patch:
            if i % 3 == 1:
                patch.setattr(programs, "run", interrupted)
            with contextlib.suppress(KeyboardInterrupt):
                player.learn([1.0, i], 1.0, hf.Hinge())
        plain.learn([1.0, i], 1.0, hf.Hinge())
    assert player.predict().tolist() == plain.predict().tolist()
    assert same(player.state, plain.state)
