# SPDX-License-Identifier: GPL-2.0
"""`pghot capture`: a copy of just those files of /proc and /sys that the command reads."""

import os
import shutil
import tempfile

from pghot.snapshot import collect
from pghot.tree import DENIED, REASONS, Tree

#: What DENIED becomes in a copy: to read that as root does not help.
_DENIED = "permission denied when it was copied; root can copy it"


class _Recorder(Tree):
    """A tree that copies what is read from it to `copy`."""

    def __init__(self, root: str, copy: str) -> None:
        super().__init__(root)
        self.copy = copy
        self.files = 0
        self.reasons: dict[str, str] = {}

    def _keep(self, path: str, content: str) -> None:
        target = os.path.join(self.copy, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(content)
        self.files += 1

    def _failed(self, path: str, error: OSError) -> None:
        super()._failed(path, error)
        if why := self.unread.get("/" + path):
            self.reasons[path] = _DENIED if why == DENIED else why

    def keep_reasons(self) -> None:
        """Write why files are missing in the copy that are there in the original."""
        if self.reasons:
            lines = (f"{path}\t{why}\n" for path, why in sorted(self.reasons.items()))
            with open(os.path.join(self.copy, REASONS), "w", encoding="utf-8") as file:
                file.writelines(lines)

    def text(self, path: str) -> str | None:
        content = super().text(path)
        if content is not None:
            self._keep(path, content)
        return content

    def exists(self, path: str) -> bool | None:
        """What is only asked for, such as a firmware table, is kept without its content."""
        found = super().exists(path)
        target = os.path.join(self.copy, path)
        if found and os.path.isdir(os.path.join(self.root, path)):
            os.makedirs(target, exist_ok=True)
        elif found and not os.path.exists(target):
            self._keep(path, "")
        return found


def capture(directory: str, root: str = "/") -> tuple[int, int]:
    """Make `directory` with the copy; the numbers of files kept and of files that were unreadable.

    It is for whoever makes it alone, as mkdtemp() makes it: some of what root reads is for nobody
    else. Raises OSError, FileExistsError included, and then leaves nothing behind.
    """
    directory = os.path.abspath(directory)
    if os.path.lexists(directory):
        raise FileExistsError(17, "it exists already")
    partial = tempfile.mkdtemp(prefix=".pghot-", dir=os.path.dirname(directory))
    try:
        tree = _Recorder(root, partial)
        collect(tree)
        tree.keep_reasons()
        os.rename(partial, directory)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return tree.files, len(tree.unread)
