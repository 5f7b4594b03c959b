"""Watermarks and ticks, drawn.

e  an event arrives     h  a heartbeat     |  a tick is due     w  the watermark
"""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.time import EARLIEST, Ticks, Watermark, WindowError


def test_an_instant_is_complete_when_a_later_one_is_seen():
    #   0    5    10
    #             e        w = 9: other facts may still happen at 10
    watermark = Watermark()
    assert watermark.instant == EARLIEST
    watermark.see(10)
    assert watermark.instant == 9


def test_lateness_holds_the_watermark_back():
    #   0    5    10
    #     w--3--] e        lateness 3
    watermark = Watermark(lateness=3)
    watermark.see(10)
    assert watermark.instant == 6


def test_a_watermark_never_goes_back():
    watermark = Watermark()
    watermark.see(10)
    watermark.see(4)
    assert watermark.instant == 9


def test_complete_reaches_the_instant_whatever_the_lateness():
    watermark = Watermark(lateness=7)
    watermark.complete(20)
    assert watermark.instant == 20


def test_ticks_begin_at_the_first_grid_point_after_the_first_event():
    #   0         10        20        30
    #         e   |         |     w
    ticks = Ticks(step=10)
    assert list(ticks.due(26)) == []
    ticks.begin(7)
    assert list(ticks.due(26)) == [10, 20]


def test_an_event_on_the_grid_is_seen_by_its_own_tick():
    ticks = Ticks(step=10)
    ticks.begin(10)
    assert list(ticks.due(10)) == [10]


def test_the_grid_reaches_back_to_an_earlier_event_within_lateness():
    #   0         10        20        30
    #                           e              arrives first
    #      e2     |                            arrives second
    ticks = Ticks(step=10)
    ticks.begin(24)
    ticks.begin(3)
    assert list(ticks.due(25)) == [10, 20]


def test_a_start_fixes_the_grid():
    #        5         15        25
    #        |   e     |     w
    ticks = Ticks(step=10, start=5)
    ticks.begin(9)
    assert list(ticks.due(21)) == [5, 15]


def test_a_start_after_the_events():
    ticks = Ticks(step=10, start=25)
    ticks.begin(3)
    assert list(ticks.due(24)) == []
    assert ticks.at_or_after(3) == 25
    assert list(ticks.due(25)) == [25]


def test_negative_instants():
    #  -30       -20       -10        0
    #       e     |         |   w
    ticks = Ticks(step=10)
    ticks.begin(-26)
    assert list(ticks.due(-7)) == [-20, -10]


def test_each_tick_comes_once_and_whoever_stops_can_go_on():
    ticks = Ticks(step=1)
    ticks.begin(1)
    assert list(islice(ticks.due(10**15), 3)) == [1, 2, 3]
    assert ticks.count_due(10) == 7
    assert list(ticks.due(5)) == [4, 5]


def test_a_tick_without_events_can_be_asked_for():
    ticks = Ticks(step=10)
    ticks.begin_by(27)
    assert list(ticks.due(27)) == [20]


def test_a_tick_is_due_whether_or_not_it_was_handed_out():
    #   0         10        20        30
    #         e   |         |     w        20 is due: a fact at 20 would be late, one at 21 not
    ticks = Ticks(step=10)
    assert ticks.last_due(25) is None
    ticks.begin(7)
    assert ticks.last_due(9) is None
    assert ticks.last_due(25) == 20
    assert list(ticks.due(25)) == [10, 20]
    assert ticks.last_due(25) == 20


def test_state_can_be_put_away_and_brought_back():
    ticks = Ticks(step=10)
    ticks.begin(7)
    next(ticks.due(40))
    again = Ticks(step=10)
    again.restore(ticks.state())
    assert list(again.due(40)) == list(ticks.due(40)) == [20, 30, 40]


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_must_be_positive(step):
    with pytest.raises(WindowError, match="the step must be positive"):
        Ticks(step)


def test_lateness_must_not_be_negative():
    with pytest.raises(WindowError, match="the lateness must not be negative"):
        Watermark(lateness=-1)


@given(
    st.lists(st.integers(-200, 200), min_size=1),
    st.integers(1, 30),
    st.integers(0, 40),
    st.none() | st.integers(-50, 50),
    st.data(),
)
def test_ticks_do_not_depend_on_when_they_are_asked_for(events, step, lateness, start, data):
    """One asks after every event, one whenever it likes, and they get the same ticks."""

    def run(asks):
        watermark, ticks, got, late = Watermark(lateness), Ticks(step, start), [], []
        for at, ask in zip(events, asks, strict=True):
            over = ticks.last_due(watermark.instant)
            if over is not None and at <= over:
                late.append(at)
            else:
                watermark.see(at)
                ticks.begin(at)
            if ask:
                got += ticks.due(watermark.instant)
        return [*got, *ticks.due(watermark.instant)], late

    asks = data.draw(st.lists(st.booleans(), min_size=len(events), max_size=len(events)))
    assert run(asks) == run([True] * len(events))


@given(st.lists(st.integers(0, 60), min_size=1), st.integers(1, 30), st.randoms())
def test_order_within_lateness_does_not_matter(events, step, random):
    lateness = max(events) - min(events)
    shuffled = list(events)
    random.shuffle(shuffled)

    def run(order):
        watermark, ticks = Watermark(lateness), Ticks(step)
        got = []
        for at in order:
            over = ticks.last_due(watermark.instant)
            assert over is None or at > over
            watermark.see(at)
            ticks.begin(at)
            got += ticks.due(watermark.instant)
        watermark.complete(ticks.at_or_after(max(events)))
        return [*got, *ticks.due(watermark.instant)]

    assert run(events) == run(shuffled)
