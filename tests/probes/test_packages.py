"""Installed distributions, from metadata folders in every state and from what pip and uv print."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpsdoctor.facts import Distribution, Packages, normalize
from mpsdoctor.probes.packages import parse_pip_inspect, read_distributions
from tests.conftest_wheels import MacWheels, mac_wheels

__all__ = ["mac_wheels"]

RECORDINGS = Path(__file__).parents[1] / "recordings"
OWN_SITE = Path(sysconfig.get_path("purelib"))


def install(site: Path, name: str, version: str, **files: str | bytes) -> Path:
    """Make a *.dist-info folder; `files` add to or replace its METADATA, INSTALLER and WHEEL (None leaves one out)."""
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    given_files: dict[str, str | bytes] = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nText\n",
        "INSTALLER": "pip\n",
        "WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        **{key.replace("direct_url", "direct_url.json"): value for key, value in files.items()},
    }
    for key, content in given_files.items():
        (folder / key).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def only(site: Path) -> Distribution:
    (found,) = read_distributions([site])
    return found


def test_an_ordinary_distribution(tmp_path: Path):
    install(tmp_path, "Jinja2", "3.1.6", REQUESTED="", WHEEL="Tag: py2-none-any\r\nTag: py3-none-any\r\n")
    assert only(tmp_path) == Distribution(
        name="Jinja2",
        version="3.1.6",
        location=str(tmp_path),
        installer="pip",
        tags=("py2-none-any", "py3-none-any"),
        requested=True,
    )


def test_agrees_with_the_standard_library_on_our_own_environment():
    ours = {(normalize(d.name), d.version) for d in read_distributions([OWN_SITE])}
    theirs = {
        (normalize(d.metadata["Name"]), d.version) for d in importlib.metadata.distributions(path=[str(OWN_SITE)])
    }
    assert ours == theirs
    torch = Packages(distributions=read_distributions([OWN_SITE])).get("torch")
    assert torch is not None
    assert list(torch.requires or ()) == importlib.metadata.requires("torch")
    assert torch.missing_files == 0


def test_agrees_with_pip_inspect_on_our_own_environment():
    argv = [sys.executable, "-m", "pip", "--disable-pip-version-check", "inspect", "--path", str(OWN_SITE)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    told = {normalize(d.name): d for d in parse_pip_inspect(done.stdout)}
    read = {normalize(d.name): d for d in read_distributions([OWN_SITE])}
    assert told.keys() == read.keys()
    for name, inspected in told.items():
        for field in ("version", "location", "installer", "requested", "requires"):
            assert getattr(read[name], field) == getattr(inspected, field), (name, field)


@pytest.mark.parametrize(
    ("key", "version", "tag"),
    [
        ("torch-2.9.1", "2.9.1", "cp312-cp312-macosx_11_0_arm64"),
        ("torch-2.14.1", "2.14.1", "cp312-cp312-macosx_14_0_arm64"),
        # The file's name says 10_9, its WHEEL says 10_13: tags are no proof of anything.
        ("torch-2.2.2-x86_64", "2.2.2", "cp311-cp311-macosx_10_13_x86_64"),
    ],
)
def test_metadata_of_real_torch_wheels(mac_wheels: MacWheels, key: str, version: str, tag: str):
    torch = next(d for d in read_distributions([mac_wheels[key]]) if d.name == "torch")
    assert (torch.version, torch.tags) == (version, (tag,))
    assert any(requirement.startswith("sympy") for requirement in torch.requires or ())
    assert (torch.missing_files or 0) > 500, "only a part of the wheel was unpacked"


def test_two_copies_and_two_folders_keep_their_order(tmp_path: Path):
    first, second = tmp_path / "user", tmp_path / "site"
    install(second, "torch", "2.1.0")
    install(second, "torch", "2.2.2")
    install(first, "torch", "2.9.1")
    found = Packages(distributions=read_distributions([first, second]))
    assert [copy.version for copy in found.copies("torch")] == ["2.9.1", "2.1.0", "2.2.2"]
    assert found.version("torch") == "2.9.1"


def test_one_folder_under_two_names_is_read_once(tmp_path: Path):
    install(tmp_path / "lib", "torch", "2.9.1")
    (tmp_path / "lib64").symlink_to("lib")
    assert len(read_distributions([tmp_path / "lib", tmp_path / "lib64", tmp_path / "nothing"])) == 1


@pytest.mark.parametrize(
    ("metadata", "name", "version"),
    [
        (None, "torch", "2.9.1"),
        (b"", "torch", "2.9.1"),
        (b"\x00\xff\xfe\x00" * 100, "torch", "2.9.1"),
        (b"Name: torch\n\nVersion: 9.9\n", "torch", "2.9.1"),
        (b"Name: T\xf6rch\nVersion: 1\n\n", "T\ufffdrch", "1"),
        (b"\xef\xbb\xbfName: torch\r\nVersion: 2.9.1+local\r\n\r\n", "torch", "2.9.1+local"),
        (b"License: A\n  Name: nested\n  Version: 0\nName: torch\nVersion: 3\n", "torch", "3"),
        (b"Summary: " + b"x" * 9000 + b"\nName: torch\nVersion: 4\n\n", "torch", "4"),
        (b"Name: torch\nVersion: 5", "torch", "5"),
        (b"Name: " + b"x" * 4000 + b"\nVersion: 6\n\n", "x" * 256, "6"),
    ],
)
def test_metadata_in_every_state(tmp_path: Path, metadata: bytes | None, name: str, version: str):
    folder = install(tmp_path, "torch", "2.9.1", METADATA=metadata or b"")
    if metadata is None:
        (folder / "METADATA").unlink()
    found = only(tmp_path)
    assert (found.name, found.version) == (name, version)


def test_requirements_are_known_only_where_metadata_was_read(tmp_path: Path):
    header = "Name: torch\nVersion: 2.9.1\nRequires-Dist: filelock\nRequires-Dist: numpy<2; extra == 'x'\n"
    install(tmp_path / "a", "torch", "2.9.1", METADATA=header + "\nRequires-Dist: not a header\n")
    install(tmp_path / "b", "torch", "2.9.1", METADATA=b"\0")
    install(tmp_path / "c", "jinja2", "3.1", METADATA=header.replace("torch", "jinja2"))
    assert only(tmp_path / "a").requires == ("filelock", "numpy<2; extra == 'x'")
    assert only(tmp_path / "b").requires is None
    assert only(tmp_path / "c").requires is None


@pytest.mark.timeout(20)
def test_an_enormous_description_is_not_read(tmp_path: Path):
    folder = install(tmp_path, "torch", "2.9.1")
    with (folder / "METADATA").open("ab") as file:
        file.truncate(100_000_000)
    install(tmp_path, "numpy", "2.0", METADATA=b"Name: numpy\nVersion: 2.0\nX: " + b"y" * 30_000_000)
    start = time.perf_counter()
    assert {(d.name, d.version) for d in read_distributions([tmp_path])} == {("torch", "2.9.1"), ("numpy", "2.0")}
    assert time.perf_counter() - start < 1


@pytest.mark.timeout(20)
def test_pipes_folders_and_loops_in_the_place_of_files(tmp_path: Path):
    folder = install(tmp_path, "torch", "2.9.1")
    for name in ("METADATA", "WHEEL", "INSTALLER"):
        (folder / name).unlink()
    os.mkfifo(folder / "METADATA")
    (folder / "WHEEL").mkdir()
    (folder / "INSTALLER").symlink_to("INSTALLER")
    os.mkfifo(folder / "RECORD")
    (folder / "direct_url.json").symlink_to("nowhere")
    (tmp_path / "loop-1.0.dist-info").symlink_to("loop-1.0.dist-info")
    os.mkfifo(tmp_path / "pipe-1.0.dist-info")
    os.mkfifo(tmp_path / "old.egg-link")
    os.mkfifo(tmp_path / "old-2.0-py3.9.egg-info")
    found = read_distributions([tmp_path])
    assert [(d.name, d.version) for d in found] == [("old", "2.0"), ("old", None), ("torch", "2.9.1")]


URLS = [
    ("https://me:secret@host.org/torch.whl", "https://host.org/torch.whl"),
    ("https://host.org/torch.whl?X-Signature=abc#sha256=1", "https://host.org/torch.whl"),
    ("git+ssh://git@github.com/pytorch/vision.git", "git+ssh://github.com/pytorch/vision.git"),
    ("https://h.org/t/tk-secret/ch/x.whl", "https://h.org/t/***/ch/x.whl"),
    ("https://a:b@c:d@host.org/x", "https://host.org/x"),
    ("file:///home/someone/torch", "file:///home/someone/torch"),
    ("http://[::bad", "http://[::bad"),
]


@pytest.mark.parametrize(("url", "told"), URLS)
@pytest.mark.parametrize(("folder", "editable"), [({"editable": True}, True), ({}, False), (None, False)])
def test_origin_of_a_distribution(tmp_path: Path, url: str, told: str, folder: object, editable: bool):
    data = {"url": url, **({} if folder is None else {"dir_info": folder})}
    install(tmp_path, "thing", "1.0", direct_url=json.dumps(data))
    found = only(tmp_path)
    assert (found.direct_url, found.editable) == (told, editable)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"url": 3}', "null", '{"url": null, "dir_info": []}'])
def test_a_damaged_origin_is_unknown(tmp_path: Path, content: str):
    install(tmp_path, "thing", "1.0", direct_url=content)
    assert only(tmp_path).direct_url is None


@pytest.mark.parametrize(
    ("installer", "marked", "requested"),
    [("pip", True, True), ("pip", False, False), ("uv", False, False), ("conda", False, None), ("conda", True, True)],
)
def test_what_was_asked_for_by_name(tmp_path: Path, installer: str, marked: bool, requested: bool | None):
    install(tmp_path, "thing", "1.0", INSTALLER=f"{installer}\n", **({"REQUESTED": ""} if marked else {}))
    assert only(tmp_path).requested is requested


def test_files_that_are_gone(tmp_path: Path):
    kept = ["torch/__init__.py", "torch/_C.cpython-312-darwin.so", 'torch/odd "name", really.py']
    gone = ["torch/lib/libtorch_cpu.dylib", "torch/nn/modules/linear.py", "torch/nul\0.py"]
    spare = [
        "torch/include/ATen/ATen.h",
        "torch/__pycache__/__init__.cpython-312.pyc",
        "torch/share/cmake/x.cmake",
        "torch/test/test_x.py",
        "../../../bin/torchrun",
        "torch-2.9.1.dist-info/licenses/LICENSE",
    ]
    for name in kept:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    lines = ['"' + name.replace('"', '""') + '",sha256=x,1' if '"' in name else f"{name},sha256=x,1" for name in kept]
    lines += [f"{name},," for name in gone + spare]
    for number, end in enumerate(("\n", "\r\n")):
        site = tmp_path / str(number)
        install(site, "torch", "2.9.1", RECORD=end.join(lines))
        (site / "torch").symlink_to(tmp_path / "torch")
        assert only(site).missing_files == len(gone)


def test_missing_files_are_unknown_without_a_list_and_for_other_packages(tmp_path: Path):
    install(tmp_path / "a", "torch", "2.9.1")
    install(tmp_path / "b", "jinja2", "3.1", RECORD="jinja2/__init__.py,,\n")
    assert only(tmp_path / "a").missing_files is None
    assert only(tmp_path / "b").missing_files is None


def test_older_kinds_of_metadata(tmp_path: Path):
    project = tmp_path / "project"
    (project / "my_tool.egg-info").mkdir(parents=True)
    (project / "my_tool.egg-info" / "PKG-INFO").write_text("Name: my-tool\nVersion: 0.3\n\n")
    site = tmp_path / "site"
    site.mkdir()
    (site / "my-tool.egg-link").write_text(f"{project}\n.\n")
    (site / "gone.egg-link").write_text("/Users/someone/gone\n.\n")
    (site / "PyYAML-5.3-py3.9.egg-info").write_text("Name: PyYAML\nVersion: 5.3\n\n")
    (site / "six.egg-info").mkdir()
    (site / "seven-7-py3.9.egg-info").mkdir()
    (site / "seven-7-py3.9.egg-info" / "PKG-INFO").write_text("Name: Seven\nVersion: 7.0\n\n")
    (site / "zip-1.0-py3.9.egg").write_bytes(b"PK")
    (site / "dir-2.0-py3.9.egg" / "EGG-INFO").mkdir(parents=True)
    (site / "dir-2.0-py3.9.egg" / "EGG-INFO" / "PKG-INFO").write_text("Name: dir\nVersion: 2.0.1\n\n")
    found = {d.name: d for d in read_distributions([site])}
    assert {name: d.version for name, d in found.items()} == {
        "my-tool": "0.3",
        "gone": None,
        "PyYAML": "5.3",
        "six": None,
        "Seven": "7.0",
        "zip": "1.0",
        "dir": "2.0.1",
    }
    assert (found["my-tool"].editable, found["my-tool"].location) == (True, str(project))
    assert (found["gone"].editable, found["gone"].location) == (True, "/Users/someone/gone")


def test_editable_installs_of_setuptools(tmp_path: Path):
    install(tmp_path, "my_tool", "0.3")
    (tmp_path / "__editable__.my_tool-0.3.pth").write_text("/home/someone/my-tool/src\n")
    (tmp_path / "__editable__.alone-0.1.pth").write_text("/home/someone/alone\n")
    assert {(d.name, d.version, d.editable) for d in read_distributions([tmp_path])} == {
        ("my_tool", "0.3", True),
        ("alone", "0.1", True),
    }


def test_what_pip_leaves_of_an_interrupted_uninstall_is_no_distribution(tmp_path: Path):
    install(tmp_path, "~orch", "2.1.0")
    install(tmp_path, "-rch", "2.1.0")
    (tmp_path / ".dist-info").mkdir()
    assert read_distributions([tmp_path]) == ()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_content_does_harm(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    names = ["METADATA", "WHEEL", "INSTALLER", "RECORD", "direct_url", "REQUESTED"]
    line = st.sampled_from([b"Name: x", b"Version: 1", b"Tag:", b"Requires-Dist: a", b'{"url": "', b"a/b.py,,", b'",'])
    content = st.binary(max_size=60) | st.lists(line | st.binary(max_size=9), max_size=6).map(b"\n".join)
    files = data.draw(st.dictionaries(st.sampled_from(names), content))
    site = tmp_path_factory.mktemp("site")
    install(site, "torch", "2.9.1", **files)
    found = only(site)
    assert found.name
    assert found.version
    json.dumps([found.name, found.version, found.tags, found.requires, found.direct_url]).encode()


def test_sixty_distributions_are_quick(tmp_path: Path):
    """60 ms, or less than the standard library takes for their names and versions alone."""
    for number in range(60):
        name = f"package{number}"
        metadata = (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + "Classifier: X\n" * 30 + "\n" + "text " * 4000
        )
        install(tmp_path, name, "1.0", METADATA=metadata, RECORD=f"{name}/__init__.py,,\n", REQUESTED="")

    def theirs() -> list[str]:
        return [d.metadata["Name"] + d.version for d in importlib.metadata.distributions(path=[str(tmp_path)])]

    assert len(theirs()) == len(read_distributions([tmp_path])) == 60
    assert best(lambda: read_distributions([tmp_path])) < max(0.06, best(theirs))


def best(call) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize("blank", ["        ", "\t", "  \r"])
def test_a_folded_license_ends_no_header(blank: str, tmp_path: Path) -> None:
    """setuptools writes a whole license into one field; its blank lines hold only the indentation."""
    text = (
        f"Name: torch\nLicense: A\n{blank}\n        Name: nested\n{blank}\nVersion: 2.9.1\nRequires-Dist: numpy\n\nText"
    )
    install(tmp_path, "torch", "2.9.1", METADATA=text)
    (found,) = read_distributions([tmp_path])
    assert (found.name, found.version, found.requires) == ("torch", "2.9.1", ("numpy",))
