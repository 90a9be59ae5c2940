#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""own_root.py COMMAND [ARGUMENT]...: run a command in a chroot as if its directory were the root of the machine.

Tests mount things and ask the kernel for the paths of programs. In a chroot "/" need not be a mount point, so nothing
can be made private there, and the kernel shows paths of programs in other mount namespaces from the root outside. So
the command runs in a new mount namespace in which everything is private and the directory is the root. What is mounted
below the directory stays. Needs root.
"""
import ctypes
import os
import sys
import tempfile

CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH = 2

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        error = ctypes.get_errno()
        sys.exit(f"own_root.py: {name}: {os.strerror(error)}")


def leave_chroot(directory):
    """Leave the chroot: from a directory outside of the current root, ".." leads up to the real root."""
    below = tempfile.mkdtemp()
    os.chroot(below)
    os.fchdir(directory)
    os.rmdir("." + below)
    while not os.path.samefile(".", ".."):
        os.chdir("..")
    os.chroot(".")


def main():
    here = os.getcwd()
    call("unshare", CLONE_NEWNS)
    top = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    leave_chroot(top)
    path = os.readlink(f"/proc/self/fd/{top}").encode()
    os.close(top)
    call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    call("mount", path, path, None, MS_BIND | MS_REC, None)
    os.chdir(path)
    call("pivot_root", b".", b".")
    call("umount2", b".", MNT_DETACH)
    os.chdir(here)
    os.execvp(sys.argv[1], sys.argv[1:])


main()
