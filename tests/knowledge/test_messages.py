"""Messages are found in any text, dated by torch's own strings, and never slowly."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.knowledge.causes import cause
from mpsdoctor.knowledge.messages import LEVELS, MOST_PER_ROW, dated, find, message, messages
from mpsdoctor.knowledge.releases import release
from mpsdoctor.knowledge.versions import stable

try:
    from re import _parser as sre
except ImportError:  # Python 3.10
    import sre_parse as sre

DATA = Path(__file__).parent / "data"
STRINGS = json.loads((DATA / "torch_mps_strings.json").read_text())
SAMPLES = json.loads((DATA / "message_samples.json").read_text())["samples"]
SIMILAR = json.loads((DATA / "message_samples.json").read_text())["similar"]
# Texts of torch that are not among the scanned strings, or not in all of their releases: without "MPS" in them, put
# together at run time, or of Python files.
ELSEWHERE = {
    *("not-linked-with-mps", "skipping-device", "unexpected-macos", "numpy-init", "numpy-unavailable"),
    *("op-missing", "op-missing-1.12", "same-device", "low-watermark", "high-watermark", "buffer-size"),
    *("int-max", "command-buffer-failed", "indexing-library", "metal-library", "pipeline-state", "share-filename"),
    *("autocast-mps", "autocast-device-type", "autocast-bf16-macos", "autocast-dtype", "cuda-gradscaler-off"),
    *("cuda-gradscaler-deprecated", "pin-memory", "no-device-allocator", "int64-reduction"),
}
REGEXES = [row for row in messages() if row.match == "regex"]
ROWS = pytest.mark.parametrize("row", messages(), ids=lambda row: row.id)


def has(row, text):
    return bool(re.search(row.pattern, text, re.MULTILINE)) if row.match == "regex" else row.pattern in text


def samples_of(row):
    return SAMPLES[row.id] if row.match == "regex" else [f"RuntimeError: x{row.pattern}y"]


def found(text):
    return {match.row.id for match in find(text)}


@ROWS
def test_every_row_is_well_formed(row):
    assert re.fullmatch(r"[a-z0-9._-]+", row.id)
    assert row.level in LEVELS
    assert row.means.endswith(".")
    assert row.remedy.endswith(".")
    assert row.source
    assert all(cause(slug) for slug in row.causes)
    assert len(set(row.causes)) == len(row.causes)
    assert row.causes or row.level != "error" or "Xcode" in row.source or "xcrun" in row.source
    assert bool(row.needles) == (row.match == "regex")
    assert all(bound is None or release(bound) or bound == "1.11.0" for bound in (row.since, row.until))
    if row.since and row.until:
        assert stable(row.since) <= stable(row.until)


def test_ids_and_patterns_are_unique():
    assert len({row.id for row in messages()}) == len({row.pattern for row in messages()}) == len(messages())
    assert message("mps-oom").pattern.startswith("MPS backend out of memory")
    assert message("no such") is None


@ROWS
def test_a_sample_is_found_in_the_midst_of_a_log(row):
    for sample in samples_of(row):
        text = f"epoch 1\nstep 2\r\n  {sample}\nepoch 3"
        hits = [match for match in find(text) if match.row == row]
        assert [(hit.line_no, hit.line) for hit in hits] == [(3, sample.strip())]
        assert any(needle in sample for needle in row.needles or (row.pattern,))


@ROWS
def test_an_earlier_row_never_hides_behind_a_later_one(row):
    """Where several rows match one line, the order is that of the table: the more exact first."""
    order = {each.id: place for place, each in enumerate(messages())}
    for sample in samples_of(row):
        places = [order[match.row.id] for match in find(sample)]
        assert places == sorted(places)


@pytest.mark.parametrize("identifier", SIMILAR)
def test_similar_lines_are_left_alone(identifier):
    for line in SIMILAR[identifier]:
        assert identifier not in found(line)


@ROWS
def test_torchs_own_texts_are_in_torchs_own_binaries(row):
    """Exactly in the releases that the row names, as far as the strings of that release were scanned."""
    spans = [
        (stable(first), stable(last))
        for text, (first, last) in STRINGS["strings"].items()
        if row.torch and has(row, text)
    ]
    since, until = stable(row.since or "0"), stable(row.until or "99")
    scanned = [stable(release) for release in STRINGS["releases"]]
    holding = [release for release in scanned if any(first <= release <= last for first, last in spans)]
    agrees = holding == [release for release in scanned if since <= release <= until] and bool(holding)
    assert agrees == (row.torch and row.id not in ELSEWHERE)


def test_the_list_of_texts_from_elsewhere_is_exact():
    assert {row.id for row in messages() if row.torch} >= ELSEWHERE


@ROWS
def test_no_pattern_can_backtrack_without_bound(row):
    """No repetition may hold another one: each pattern then takes time in proportion to what it looks at."""

    def repeats(parsed, inside):
        for operator, argument in parsed:
            if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT):
                _, most, body = argument
                assert not (inside and most > 1), row.pattern
                repeats(body, inside or most > 1)
            elif operator is sre.SUBPATTERN:
                repeats(argument[-1], inside)
            elif operator is sre.BRANCH:
                for branch in argument[1]:
                    repeats(branch, inside)
            elif operator in (sre.ASSERT, sre.ASSERT_NOT):
                repeats(argument[1], inside)

    if row.match == "regex":
        repeats(sre.parse(row.pattern), inside=False)


@pytest.mark.parametrize("row", REGEXES, ids=lambda row: row.id)
@pytest.mark.parametrize("shape", ["needles", "heads", "tails", "one line", "filler"])
def test_hostile_text_takes_no_longer_than_other_text(row, shape):
    sample = SAMPLES[row.id][0]
    unit = {
        "needles": row.needles[0],
        "heads": f"{sample[:-3]} ",
        "tails": f"{sample[3:]} ",
        "one line": sample + " ",
        "filler": f"{row.needles[0]}{'a' * 5000}",
    }[shape]
    text = unit * (400_000 // len(unit))
    before = time.perf_counter()
    hits = find(text)
    assert time.perf_counter() - before < 2
    assert len(hits) <= MOST_PER_ROW * len(messages())


def test_ten_megabytes_of_log_are_read_in_moments():
    line = "2026-12-01 10:00:00 INFO epoch 3 step 1200 loss=0.123 lr=3e-4 device=mps:0 samples/s=1203 torch MPS ok\n"
    text = (
        line * (10_000_000 // len(line)) + "RuntimeError: Placeholder storage has not been allocated on MPS device!\n"
    )
    before = time.perf_counter()
    hits = find(text)
    assert time.perf_counter() - before < 1.5
    assert [(hit.row.id, hit.line_no) for hit in hits] == [("placeholder-storage", text.count("\n"))]


def test_a_message_said_without_end_is_reported_a_few_times():
    text = "BFloat16 is not supported on MPS\n" * 100_000
    hits = find(text)
    assert [hit.line_no for hit in hits] == list(range(1, MOST_PER_ROW + 1))


def test_two_of_one_kind_in_a_line_count_once():
    assert len(find("zsh: bus error zsh: bus error Bus error: 10")) == 1


def test_very_long_lines_are_shown_in_part():
    text = "x" * 1_000_000 + "BFloat16 is not supported on MPS" + "y" * 1_000_000
    (hit,) = find(text)
    assert "BFloat16 is not supported on MPS" in hit.line
    assert len(hit.line) <= 500


def test_terminal_colours_and_typographic_apostrophes_do_not_hide_a_message():
    text = "\x1b[1m\x1b[36mhint\x1b[0m: You\u2019re on macOS (`\x1b[36mmacosx_15_0_x86_64\x1b[39m`), but `torch`"
    assert "uv-on-x86_64" in found(text)


@given(st.text())
def test_any_text_can_be_read(text):
    lines = text.count("\n") + 1
    assert all(1 <= match.line_no <= lines for match in find(text))


@given(st.lists(st.sampled_from([row for row in messages() if row.match == "literal"]), max_size=6))
def test_what_is_put_in_is_found(rows):
    text = "\n".join(f"> {row.pattern}" for row in rows)
    hits = {(match.row.id, match.line_no) for match in find(text)}
    assert hits >= {(row.id, number) for number, row in enumerate(rows, start=1)}


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([], (None, None)),
        (["no-cuda"], (None, None)),
        (["bf16-not-supported"], ("2.1.0", "2.2.2")),
        (["output-channels", "op-missing-prototype"], ("2.5.0", "2.5.1")),
        (["op-isin", "op-missing"], ("1.13.0", "2.3.1")),
        (["needs-macos-15", "pin-memory"], ("2.15.0", None)),
        (["no-backends-mps", "needs-macos-15"], (None, None)),  # two torches in one text
        (["needs-macos-14", "needs-macos-14-capital"], (None, None)),
    ],
)
def test_dated(ids, expected):
    assert dated(message(identifier) for identifier in ids) == expected
