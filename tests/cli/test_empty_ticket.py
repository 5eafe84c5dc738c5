"""A ticket without a word in it is no ticket: that is said, and nothing is judged."""

import pytest


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n", b"\xef\xbb\xbf\n", b"\xff\xfe"])
def test_an_empty_file_is_called_empty(mpsdoctor, tmp_path, content):
    (tmp_path / "t.txt").write_bytes(content)
    ran = mpsdoctor("check", "--from", "t.txt")
    assert (ran.code, ran.out) == (2, "")
    assert "the file is empty" in ran.err
    assert mpsdoctor("check", "--from", "-", stdin=content).code == 2


def test_an_empty_file_among_others_is_left_out(mpsdoctor, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "a.txt").write_text("No module named 'torch'")
    (folder / "b.txt").write_bytes(b"\n")
    ran = mpsdoctor("check", "--from", "many")
    assert "1 ticket\n" in ran.out
    assert "left out b.txt: the file is empty" in ran.err


def test_a_command_in_a_report_is_whole(mpsdoctor):
    ran = mpsdoctor("check", "--from", "-", stdin=b"No module named 'torch'", env={"COLUMNS": "40"})
    lines = [line.strip() for line in ran.out.splitlines()]
    asked = 'python -c "import sys, platform; print(sys.version, platform.machine())"'
    assert any(line.endswith(asked) for line in lines)
    assert "python -m pip install torch torchvision" in lines
