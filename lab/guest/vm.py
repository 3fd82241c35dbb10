# SPDX-License-Identifier: GPL-2.0
"""A QEMU process, and the streams that come out of it."""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from lab.host.process import Process

PORTS = ("control", "stdout", "stderr", "kmsg")
"""Virtio ports of the agent, called lab.<name> in the guest."""


class VM:
    """Runs QEMU and collects what it says, so that it never waits for a reader.

    A thread reads every stream into ``text[name]`` for name in PORTS and for
    "serial", which is the guest's console and QEMU's own messages. ``changed``
    guards them and is notified when something came, or when QEMU ended.
    QEMU dies with the thread that starts it.
    """

    def __init__(self, resolve: Callable[[list[str]], list[str]]) -> None:
        """Start QEMU; ``resolve`` makes its command from options for the ports."""
        self.changed = threading.Condition()
        self.text = {name: bytearray() for name in (*PORTS, "serial")}
        self._selector = selectors.DefaultSelector()
        theirs: list[int] = []
        options = ["-device", "virtio-serial-pci,id=lab"]
        try:
            for name in PORTS:
                ours, other = socket.socketpair()
                theirs.append(other.detach())
                self._selector.register(ours, selectors.EVENT_READ, name)
                if name == "control":
                    self._control = ours
                options += [
                    "-chardev",
                    f"socket,id=lab-{name},fd={theirs[-1]}",
                    "-device",
                    f"virtserialport,bus=lab.0,name=lab.{name},chardev=lab-{name}",
                ]
            command = resolve(options)
            serial, inner = os.pipe()
            theirs.append(inner)
            self._selector.register(serial, selectors.EVENT_READ, "serial")
            # virtme-ng's console is /proc/self/fd/2. Its stdin and stdout ports stay
            # unused; QEMU opens what they are, so neither may be a file or socket.
            self._process = Process(
                command,
                inner,
                stdout=subprocess.DEVNULL,
                pass_fds=[descriptor for descriptor in theirs if descriptor != inner],
            )
        except BaseException:
            self._close_streams()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._pump = threading.Thread(target=self._read, daemon=True, name="guest streams")
        self._pump.start()

    @property
    def pid(self) -> int:
        """QEMU's process."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """QEMU's exit status, negative for a signal; None while it runs."""
        return self._process.status

    def _read(self) -> None:
        while self._selector.get_map():
            for key, _ in self._selector.select():
                try:
                    data = os.read(key.fd, 1 << 16)
                except ConnectionError:
                    data = b""
                with self.changed:
                    if data:
                        self.text[key.data] += data
                    else:
                        self._selector.unregister(key.fileobj)
                        self._forget(key.fileobj)
                    self.changed.notify_all()
        self._selector.close()
        self._process.wait()
        with self.changed:
            self.changed.notify_all()

    @staticmethod
    def _forget(stream: object) -> None:
        if isinstance(stream, int):
            os.close(stream)
        elif isinstance(stream, socket.socket):
            stream.close()

    def _close_streams(self) -> None:
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fileobj)
            self._forget(key.fileobj)
        self._selector.close()

    def send(self, line: str) -> None:
        """Send one line to the agent; nothing happens when QEMU is gone."""
        with suppress(OSError):
            self._control.sendall(line.encode() + b"\n")

    def wait(self, until: Callable[[], bool], deadline: float) -> bool:
        """Wait, ``changed`` held, until ``until()`` holds or time.monotonic() is past
        ``deadline``; return what ``until()`` says then."""
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                return until()
            # QEMU's end shows in its streams only when no child holds them.
            self.changed.wait(min(left, 0.5))
        return True

    def kill(self) -> None:
        """End QEMU at once."""
        self._process.kill()
        self._pump.join(timeout=10)
