"""End of life of CPython's versions, and the vendor of an interpreter from what it says of itself."""

import datetime

import pytest

from mpsdoctor.knowledge import pythons

TODAY = datetime.date(2026, 12, 1)
APPLE_CLANG = "3.11.9 (main, Apr  4 2024, 05:10:52) [Clang 14.0.3 (clang-1403.0.22.14.1)]"
STANDALONE = "3.12.11 (main, Aug 18 2025, 19:02:39) [Clang 20.1.4 ]"
PYTHON_ORG = "3.13.7 (v3.13.7:bcee1c32211, Aug 14 2025, 19:10:51) [Clang 16.0.0 (clang-1600.0.26.6)]"
CONDA_FORGE = "3.13.3 | packaged by conda-forge | (main, Apr 14 2025, 20:46:04) [Clang 18.1.8 ]"
ANACONDA = "3.12.8 | packaged by Anaconda, Inc. | (main, Dec 11 2024, 10:37:40) [Clang 14.0.6 ]"
OLD_ANACONDA = "3.9.13 (main, Aug 25 2022, 18:29:29) \n[Clang 12.0.0 ]"
APPLE = "3.9.6 (default, Sep 26 2022, 11:37:49) \n[Clang 14.0.0 (clang-1400.0.29.202)]"
XCODE = "3.9.6 (default, May 22 2026, 11:13:45) [Clang 21.0.0 (clang-2100.1.1.101)]"
LINUX = "3.12.3 (main, Nov  6 2024, 18:32:19) [GCC 13.2.0]"
BY_UV = "[externally-managed]\nError=This Python installation is managed by uv and should not be modified."
BY_BREW = "[externally-managed]\nError=To install Python packages system-wide, try brew install\n xyz"
BY_DEBIAN = "[externally-managed]\nError=To install Python packages system-wide, try apt install python3-xyz"
HOME = "/Users/user"
CLT = "/Library/Developer/CommandLineTools/Library/Frameworks/Python3.framework/Versions/3.9"
BREW = "/opt/homebrew/opt/python@3.11/Frameworks/Python.framework/Versions/3.11"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.7", True),
        ("3.9", True),
        ("3.10", True),
        ("3.10.21", True),
        ("3.11", False),
        ("3.13t", False),
        ("3.15", False),
        ("3.16", None),
        ("3.1", None),
        ("2.7", None),
        ("", None),
    ],
)
def test_end_of_life_today(version, expected):
    assert pythons.end_of_life(version, TODAY) is expected


def test_a_month_ends_on_its_last_day():
    assert not pythons.end_of_life("3.10", datetime.date(2026, 10, 31))
    assert pythons.end_of_life("3.10", datetime.date(2026, 11, 1))
    assert not pythons.end_of_life("3.9", datetime.date(2025, 10, 31))
    assert pythons.end_of_life("3.8", datetime.date(2024, 10, 8))


def test_every_version_lives_about_five_years():
    rows = pythons.pythons()
    assert [row.minor for row in rows] == [f"3.{minor}" for minor in range(7, 16)]
    assert all(4.9 < (row.end_of_life - row.released).days / 365 < 5.2 for row in rows)


def venv_on(sys_version, base_prefix, *, conda=False, managed=None, platform="darwin"):
    """The vendor of a virtual environment in a project folder, on that base."""
    return pythons.vendor(sys_version, f"{HOME}/proj/.venv/bin/python", base_prefix, conda, managed, platform)


@pytest.mark.parametrize(
    ("sys_version", "base_prefix", "conda", "managed", "expected"),
    [
        (PYTHON_ORG, "/Library/Frameworks/Python.framework/Versions/3.13", False, None, "python.org"),
        (PYTHON_ORG, f"{HOME}/hostedtoolcache/Python/3.13.7/arm64", False, None, "python.org"),
        (
            APPLE,
            "/Library/Developer/CommandLineTools/Library/Frameworks/Python3.framework/Versions/3.9",
            0,
            None,
            "apple",
        ),
        (
            XCODE,
            "/Applications/Xcode-27.app/Contents/Developer/Library/Frameworks/Python3.framework",
            False,
            None,
            "apple",
        ),
        (
            APPLE_CLANG,
            "/opt/homebrew/opt/python@3.11/Frameworks/Python.framework/Versions/3.11",
            0,
            BY_BREW,
            "homebrew",
        ),
        (APPLE_CLANG, "/usr/local/Cellar/python@3.11/3.11.9/Frameworks/Python.framework", False, BY_BREW, "homebrew"),
        (APPLE_CLANG, f"{HOME}/somewhere", False, BY_BREW, "homebrew"),
        (APPLE_CLANG, f"{HOME}/.pyenv/versions/3.11.9", False, None, "pyenv"),
        (APPLE_CLANG, "/opt/homebrew/var/pyenv/versions/3.11.9", False, None, "pyenv"),
        (APPLE_CLANG, f"{HOME}/.asdf/installs/python/3.11.9", False, None, "asdf"),
        (STANDALONE, f"{HOME}/.local/share/mise/installs/python/3.12.11", False, None, "mise"),
        (STANDALONE, f"{HOME}/.local/share/uv/python/cpython-3.12.11-macos-aarch64-none", False, BY_UV, "uv"),
        (STANDALONE, f"{HOME}/Library/Application Support/uv/python/cpython-3.14.6-macos", False, None, "uv"),
        (STANDALONE, f"{HOME}/proj/.venv", False, None, "uv"),
        (CONDA_FORGE, f"{HOME}/miniforge3/envs/torch", True, None, "conda-forge"),
        (CONDA_FORGE, "/opt/homebrew/Caskroom/miniforge/base", True, None, "conda-forge"),
        (CONDA_FORGE, f"{HOME}/.pyenv/versions/miniforge3-25.1", True, None, "conda-forge"),
        (ANACONDA, f"{HOME}/miniconda3/envs/ml", True, None, "anaconda"),
        (OLD_ANACONDA, f"{HOME}/opt/anaconda3/envs/ml", True, None, "anaconda"),
        (OLD_ANACONDA, f"{HOME}/opt/anaconda3/envs/ml", False, None, "anaconda"),
        (APPLE_CLANG, "/nix/store/abc-python3-3.11.9", False, None, "nix"),
        (APPLE_CLANG, "/opt/local/Library/Frameworks/Python.framework/Versions/3.11", False, None, "macports"),
        (APPLE_CLANG, f"{HOME}/built-by-me", False, None, "unknown"),
        ("", "", False, None, "unknown"),
    ],
)
def test_vendor_on_a_mac(sys_version, base_prefix, conda, managed, expected):
    assert venv_on(sys_version, base_prefix, conda=conda, managed=managed) == expected
    assert venv_on(sys_version, base_prefix, conda=conda, managed=managed, platform="macosx-11.0-arm64") == expected


def test_every_vendor_is_known_to_the_rules():
    rules = {rule["vendor"] for rule in pythons._data.document("pythons")["vendors"]}
    assert rules | {"unknown"} == set(pythons.VENDORS)


@pytest.mark.parametrize(
    ("sys_version", "base_prefix", "managed", "expected"),
    [
        (LINUX, "/usr", BY_DEBIAN, "debian"),
        (LINUX, "/usr", None, "unknown"),
        (LINUX, "/usr/local", None, "unknown"),
        (LINUX, "/home/linuxbrew/.linuxbrew/opt/python@3.12", None, "homebrew"),
        (
            "3.12.11 (main, Aug 18 2025, 19:02:39) [Clang 20.1.4 ]",
            "/home/me/.local/share/uv/python/cpython-3.12",
            None,
            "uv",
        ),
        (STANDALONE, "/srv/python", None, "unknown"),
    ],
)
def test_vendor_on_linux(sys_version, base_prefix, managed, expected):
    assert venv_on(sys_version, base_prefix, managed=managed, platform="linux") == expected


def test_the_stub_in_usr_bin_is_apples_only_on_a_mac():
    assert pythons.vendor(APPLE, "/usr/bin/python3", "", False, None, "darwin") == "apple"
    assert pythons.vendor(LINUX, "/usr/bin/python3", "/usr", False, None, "linux") == "unknown"


def test_the_base_outranks_the_place_of_the_environment():
    """A venv inside pyenv's or Homebrew's tree, made by another Python, belongs to that other Python."""
    executable = f"{HOME}/.pyenv/versions/tools/bin/python"
    base = "/Library/Frameworks/Python.framework/Versions/3.13"
    assert pythons.vendor(APPLE_CLANG, executable, base, False, None, "darwin") == "python.org"
    assert pythons.vendor(APPLE_CLANG, executable, f"{HOME}/elsewhere", False, None, "darwin") == "pyenv"
