# SPDX-License-Identifier: GPL-2.0
"""An unmodified Redis and its load, as Debian ships both."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import time
from pathlib import Path

VALUE = 4000
"""Bytes of a value: with its header it fills the allocator's class of one page,
so that what is hot is a page and not a corner of one."""

_BATCH = 256
_START_LIMIT = 60.0

# Hot is the first part of the key numbers. They are written in random order, so
# that neighbours in memory are not neighbours in heat.
_SEED = 7


class RedisError(Exception):
    """Redis did not start, answered an error, or went away."""


def key(number: int) -> bytes:
    """The key that redis-benchmark asks for as ``number``."""
    return b"key:%012d" % number


def encode(*words: bytes) -> bytes:
    """One request in Redis's protocol."""
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


class Client:
    """A connection to Redis."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._file = self._socket.makefile("rb")

    def send(self, data: bytes) -> None:
        """Send requests without reading the answers."""
        self._socket.sendall(data)

    def answer(self) -> bytes:
        """Read one answer: a line, or a string."""
        line = self._file.readline().rstrip(b"\r\n")
        if not line:
            raise RedisError("Redis closed the connection")
        if line.startswith(b"-"):
            raise RedisError(f"Redis answered {line[1:].decode()}")
        if line.startswith(b"$"):
            return self._file.read(int(line[1:]) + 2)[:-2]
        return line[1:]

    def ask(self, *words: bytes) -> bytes:
        """One request and its answer."""
        self.send(encode(*words))
        return self.answer()

    def requests(self) -> int:
        """Requests that Redis has served so far, by its own count."""
        for line in self.ask(b"INFO", b"stats").splitlines():
            if line.startswith(b"total_commands_processed:"):
                return int(line.partition(b":")[2])
        raise RedisError("Redis's INFO has no total_commands_processed")


class Server:
    """redis-server on chosen CPUs, with everything but memory switched off."""

    def __init__(self, directory: Path, cpus: list[int]) -> None:
        self.socket = str(directory / "redis.sock")
        # Debian's redis-server is a link to this file of redis-tools, which,
        # other than the redis-server package, brings no service to the host.
        program = shutil.which("redis-server") or shutil.which("redis-check-rdb")
        self._log = directory / "redis.log"
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                [
                    "redis-server",
                    "--port",
                    "0",
                    "--unixsocket",
                    self.socket,
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                    "--dir",
                    str(directory),
                    "--enable-debug-command",
                    "local",
                ],
                executable=program,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: os.sched_setaffinity(0, cpus),
            )
        self.pid = self.process.pid
        self.client = self._connect()

    def _connect(self) -> Client:
        deadline = time.monotonic() + _START_LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                client = Client(self.socket)
                client.ask(b"PING")
                return client
            except OSError:
                time.sleep(0.1)
        last = self._log.read_text(errors="replace").splitlines()[-1:] or ["nothing"]
        self.stop()
        raise RedisError(f"Redis does not start; it said: {last[0]}")

    def version(self) -> str:
        """Redis's own version."""
        for line in self.client.ask(b"INFO", b"server").decode().splitlines():
            if line.startswith("redis_version:"):
                return line.partition(":")[2].strip()
        return "?"

    def fill(self, keys: int) -> None:
        """Write ``keys`` values of VALUE bytes, in random order."""
        numbers = list(range(keys))
        random.Random(_SEED).shuffle(numbers)
        for at in range(0, keys, _BATCH):
            batch = numbers[at : at + _BATCH]
            self.client.send(
                b"".join(
                    encode(b"SET", key(number), (b"%08d" % number) * (VALUE // 8))
                    for number in batch
                )
            )
            for _ in batch:
                self.client.answer()

    def digest(self) -> str:
        """A digest of all data; Redis reads every value for it."""
        return self.client.ask(b"DEBUG", b"DIGEST").decode()

    def stop(self) -> None:
        """End Redis."""
        self.process.kill()
        self.process.wait()


class Load:
    """redis-benchmark reading keys 0 to ``keys`` - 1, evenly, until stopped."""

    def __init__(self, server: Server, keys: int, cpus: list[int]) -> None:
        self.process = subprocess.Popen(
            [
                "redis-benchmark",
                "-s",
                server.socket,
                "-t",
                "get",
                "-r",
                str(keys),
                "-n",
                str(2**31 - 1),
                "-c",
                "4",
                "-P",
                "8",
                "-q",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )

    def check(self) -> None:
        """Raise RedisError if the load ended by itself."""
        if self.process.poll() is not None:
            raise RedisError(f"redis-benchmark ended with status {self.process.returncode}")

    def stop(self) -> None:
        """End the load."""
        self.process.kill()
        self.process.wait()
