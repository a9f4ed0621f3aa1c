"""Hosts on a switch. Each has a network, a name and process numbers of its own; they share this machine's
files and its clock.

A host is made of Linux namespaces, which end with its first process. That reads a pipe of the tests, so
that no host outlives them. This machine's own network has no part in it.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Final

import psutil

SUBNET: Final = "10.77.0"
# A card that nobody has: what is sent there is lost, and the sender is told nothing.
_NOWHERE: Final = "02:00:00:00:00:ff"
_FIRST_PROCESS: Final = 'hostname "$0" && ip link set lo up && echo up && exec cat'


def obstacle() -> str:
    """Why this machine can make no hosts, "" if it can."""
    if os.getuid() != 0:
        return "only root may make namespaces"
    missing = [
        name
        for name in ("ip", "unshare", "nsenter", "setpriv", "openssl")
        if shutil.which(name) is None
    ]
    if missing:
        return f"{missing[0]} is not on the PATH"
    tried = subprocess.run(
        ["unshare", "--net", "--uts", "--pid", "--fork", "--mount-proc", "true"],
        capture_output=True,
        text=True,
    )
    return " ".join(tried.stderr.split())


class Host:
    """A host without a cable yet. Its processes die with it."""

    def __init__(self, name: str, address: str = "") -> None:
        self.name, self.address = name, address
        self._started: list[subprocess.Popen[bytes]] = []
        namespaces = ("--net", "--uts", "--pid", "--mount-proc")
        self._unshare = subprocess.Popen(
            ["unshare", *namespaces, "--fork", "--kill-child", "sh", "-c", _FIRST_PROCESS, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._unshare.stdout
        assert self._unshare.stdout.readline() == b"up\n"
        # As this machine numbers it.
        self.first_process = psutil.Process(self._unshare.pid).children()[0].pid

    def start(
        self, *command: str, log: Path, settings: Mapping[str, str], user: str = "root"
    ) -> "subprocess.Popen[bytes]":
        """Start a command; `settings` are added to this process's environment. Killing what is returned
        would leave the command alone: use `send`."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*self._enter(), "setpriv", "--reuid", user, "--clear-groups", "--", *command],
                env={**os.environ, **settings},
                stdout=output,
                stderr=output,
            )
        self._started.append(process)
        return process

    def send(self, number: signal.Signals, *pids: int) -> None:
        """Send a signal to processes, as this host numbers them; -1 are all."""
        signalled = ("kill", f"-{int(number)}", "--", *map(str, pids))
        subprocess.run([*self._enter(), *signalled], check=True)

    def ip(self, *arguments: str) -> None:
        """Change this host's network."""
        command = ["nsenter", "--target", str(self.first_process), "--net", "ip", *arguments]
        subprocess.run(command, check=True)

    def end(self) -> None:
        """Switch the host off: all its processes are killed."""
        self._unshare.kill()
        self._unshare.communicate()
        for process in self._started:
            # One whose command was stopped has stopped itself, too.
            process.kill()
            process.wait()

    def _enter(self) -> list[str]:
        target = ["--target", str(self.first_process)]
        return ["nsenter", *target, "--net", "--uts", "--pid", "--mount", "--wd", "--"]


class Network:
    """A switch, and the hosts that are plugged into it."""

    def __init__(self) -> None:
        self._switch = Host("switch")
        self._switch.ip("link", "add", "bridge", "type", "bridge")
        self._switch.ip("link", "set", "bridge", "up")
        self._hosts: list[Host] = []
        self._numbers = count(1)

    def new_host(self, name: str) -> Host:
        """Switch on a host and plug it in."""
        host = Host(name, f"{SUBNET}.{next(self._numbers)}")
        self._hosts.append(host)
        cable = ("type", "veth", "peer", "name", "eth0", "netns", str(host.first_process))
        self._switch.ip("link", "add", _port(host), *cable)
        self._switch.ip("link", "set", _port(host), "master", "bridge", "up")
        host.ip("address", "add", f"{host.address}/24", "dev", "eth0")
        host.ip("link", "set", "eth0", "up")
        # Programs ask which of their addresses leads to the world.
        host.ip("route", "add", "default", "dev", "eth0")
        return host

    def unplug(self, host: Host) -> None:
        """Cut a host off from all others."""
        self._switch.ip("link", "set", _port(host), "nomaster")

    def cut(self, one: Host, other: Host) -> None:
        """Lose what two hosts send each other."""
        for here, there in ((one, other), (other, one)):
            here.ip(*_neighbour("replace", there), "lladdr", _NOWHERE, "nud", "permanent")

    def mend(self, one: Host, other: Host) -> None:
        for here, there in ((one, other), (other, one)):
            here.ip(*_neighbour("del", there))

    def remove(self, *hosts: Host) -> None:
        """Switch hosts off, and forget them."""
        for host in hosts:
            self._hosts.remove(host)
            host.end()

    def end(self) -> None:
        self.remove(*self._hosts)
        self._switch.end()


def _port(host: Host) -> str:
    return f"port-{host.address.rpartition('.')[2]}"


def _neighbour(verb: str, host: Host) -> tuple[str, ...]:
    return ("neighbour", verb, host.address, "dev", "eth0")
