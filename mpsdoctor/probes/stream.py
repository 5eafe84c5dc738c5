"""One output stream of a child: its begin and its end are kept, its lines given out, however much there is."""

from __future__ import annotations

from dataclasses import dataclass, field

CAPTURE_LIMIT = 4 * 1024 * 1024  # bytes kept of each stream: far above any tool asked here, far below our memory limit
LINE_LIMIT = 1024 * 1024  # bytes; the longest line that a probe of ours prints is some 100 kB
_HALF = CAPTURE_LIMIT // 2


@dataclass
class Stream:
    """What was read so far; `total` counts every byte, also those that were thrown away."""

    begin: bytearray = field(default_factory=bytearray)
    end: bytearray = field(default_factory=bytearray)
    total: int = 0
    pending: bytearray = field(default_factory=bytearray)

    @property
    def kept(self) -> bytes:
        """The first and the last bytes, CAPTURE_LIMIT together at most."""
        return bytes(self.begin + self.end[-_HALF:])

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes; return the lines that they complete."""
        self.total += len(data)
        room = _HALF - len(self.begin)
        self.begin += data[:room]
        self.end += data[room:]
        if len(self.end) > 2 * _HALF:
            del self.end[:-_HALF]
        if len(self.pending) > LINE_LIMIT:  # a flood without line ends is no line of ours
            self.pending.clear()
        self.pending += data
        if b"\n" not in data:
            return []
        *lines, rest = bytes(self.pending).split(b"\n")
        self.pending = bytearray(rest)
        return lines
