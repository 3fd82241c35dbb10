# SPDX-License-Identifier: GPL-2.0
"""lab/kernel/steps.py: each step of the series builds, and the whole without pghot.

A file of its own, because it takes longest: the tests of a file run one after the other.
"""

import pytest

from lab.errors import LabError
from lab.kernel import apply, series, source, steps

pytestmark = pytest.mark.kernel


def test_every_step_of_the_series_builds() -> None:
    assert steps.build_all() == [step.subject for step in series.steps(source.ensure())]


def test_hooked_files_compile_without_pghot() -> None:
    assert "mm/migrate.o" in steps.build_without()


def test_failing_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {**apply.expected(source.ensure()), "mm/migrate.c": b"not C at all;\n"}
    broken = series.Step("mm: break it", "Why.", files, [])
    monkeypatch.setattr(series, "steps", lambda _pristine: [broken])
    with pytest.raises(
        LabError,
        match=r"step 1 of the series \(mm: break it\) "
        r"does not build: .*mm/migrate\.c:1:1: error",
    ):
        steps.build_all()
