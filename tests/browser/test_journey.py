"""The journey of the first page of the README: a sample, its profile, all Conv in int8, built, measured, downloaded."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

#: Profiling, building and measuring on a busy machine.
WORK_MS = 300_000


def test_from_a_sample_to_a_faster_model_with_its_proof(
    open_page: Callable[..., Page], digits_data: Path, tmp_path: Path
) -> None:
    page = open_page()
    open_digits(page)
    profile(page)
    build_all_conv_in_int8(page)
    compare(page)
    path = tmp_path / "downloaded.onnx"
    with page.expect_download() as download:
        page.get_by_text("Download .onnx").click()
    download.value.save_as(path)
    assert accuracy(path, digits_data) >= 0.97
    assert "QuantizeLinear" in {node.op_type for node in onnx.load(path).graph.node}


def open_digits(page: Page) -> None:
    card = page.get_by_test_id("stVerticalBlock").filter(has_text=re.compile("^digits-cnn")).last
    card.get_by_role("button", name="Open sample").click()
    expect(page.get_by_text("Activation peak")).to_be_visible()


def profile(page: Page) -> None:
    page.get_by_role("link", name="Profile").click()
    page.get_by_role("button", name="Profile", exact=True).click()
    expect(page.get_by_role("button", name="Profile again")).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text(re.compile(r"^\d.* ms$")).first).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def build_all_conv_in_int8(page: Page) -> None:
    page.get_by_role("link", name="Mix").click()
    page.get_by_role("button", name="All Conv to int8").click()
    expect(page.get_by_text(re.compile("in int8")).first).to_be_visible()
    page.get_by_role("button", name="Build and measure").click()
    expect(page.get_by_role("button", name="Stop").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=WORK_MS)


def compare(page: Page) -> None:
    page.get_by_role("link", name="Compare").click()
    shown = page.get_by_text(re.compile(r"^\d[\d.]*x \[[\d.]+, [\d.]+\]")).first
    expect(shown).to_be_visible()
    speedup = float(shown.inner_text().split("x")[0])
    assert speedup > 1
    expect(page.get_by_text(re.compile("^Accuracy"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"^9\d[\d.]* % → 9\d[\d.]* %$"))).to_be_visible()


def accuracy(path: Path, data: Path) -> float:
    """Share of right answers of the downloaded model in plain onnxruntime."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with np.load(data) as given:
        image, labels = given["image"], given["y"]
    answers = session.run(None, {"image": image})[0].argmax(axis=1)
    return float((answers == labels).mean())
