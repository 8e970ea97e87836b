from __future__ import annotations

import onnx
import onnx.parser
import pytest

from core.intake.limits import NEWEST_OPSETS, check_versions, newest_ir, newest_opset
from tests.intake.texts import TINY

ort = pytest.importorskip("onnxruntime")


def opens(ir_version: int, opsets: str) -> bool:
    proto = onnx.parser.parse_model(f"<ir_version: {ir_version}, opset_import: [{opsets}]>\n{TINY}")
    ort.set_default_logger_severity(4)
    try:
        ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - whatever the runtime raises, it refuses
        return False
    return True


def test_the_newest_format_is_that_of_the_installed_runtime() -> None:
    assert opens(newest_ir(), '"" : 17')
    assert not opens(newest_ir() + 1, '"" : 17')


@pytest.mark.parametrize("domain", sorted(NEWEST_OPSETS))
def test_the_newest_operator_set_is_that_of_the_installed_runtime(domain: str) -> None:
    newest = newest_opset(domain)
    assert newest is not None
    rest = "" if domain == "" else ', "" : 17'
    assert opens(8, f'"{domain}" : {newest}{rest}')
    assert not opens(8, f'"{domain}" : {newest + 1}{rest}')


def test_no_operator_set_at_all_is_an_error_an_old_one_a_warning() -> None:
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 6]>\n{TINY}')
    assert [finding.severity for finding in check_versions(proto)] == ["warning"]
    del proto.opset_import[:]
    assert [finding.severity for finding in check_versions(proto)] == ["error"]
