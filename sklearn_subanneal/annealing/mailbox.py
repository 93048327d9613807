"""Mailbox: a list to which copies in worker processes append through a local socket."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from threading import Event, Lock, Thread
from typing import Any

# Seconds after which connections are accepted again where that failed.
PAUSE = 0.1
# The mailboxes opened by this process, by address, and its connections to the mailboxes of other processes.
_opened: weakref.WeakValueDictionary[str, Mailbox] = weakref.WeakValueDictionary()
_connections: dict[str, Connection] = {}
_lock = Lock()


class Mailbox:
    """A list of messages; messages appended to a pickled copy in another process arrive in the original.

    A socket is opened when the mailbox is pickled for the first time. A copy that is unpickled in the same process, or
    where the original cannot be reached (in a later session, on another machine), is an independent list that begins
    with the messages received so far.
    """

    def __init__(self):
        self._messages: list = []
        self._address: tuple[str, bytes] | None = None
        self._is_elsewhere = False

    def append(self, message: Any) -> None:
        """Add a message; when this returns, it has arrived."""
        if not self._is_elsewhere:
            self._messages.append(message)
            return
        connection = _connect(*self._address)
        if connection is None:
            raise ConnectionError("the process in which messages are collected is gone; start it again")
        with _lock:
            connection.send(message)
            connection.recv()

    def __iter__(self) -> Iterator:
        return iter(list(self._messages))

    def __getstate__(self) -> tuple[list, tuple[str, bytes]]:
        with _lock:
            if self._address is None:
                self._open()
        return list(self._messages), self._address

    def __setstate__(self, state: tuple[list, tuple[str, bytes]]) -> None:
        self.__init__()
        messages, address = state
        self._is_elsewhere = address[0] not in _opened and _connect(*address) is not None
        if self._is_elsewhere:
            self._address = address
        else:
            self._messages = messages

    def _open(self) -> None:
        authkey, closed = os.urandom(32), Event()
        # The default backlog of one refuses workers that connect while another one is being accepted.
        listener = Listener(backlog=128)
        self._address = listener.address, authkey
        _opened[listener.address] = self
        weakref.finalize(self, _close, listener, closed)
        # The thread has the list and not the mailbox, which would otherwise never be collected.
        Thread(target=_accept, args=(listener, closed, authkey, self._messages), daemon=True).start()


def _connect(name: str, authkey: bytes) -> Connection | None:
    """The connection of this process to a mailbox, or None if it cannot be reached."""
    with _lock:
        if name not in _connections:
            try:
                _connections[name] = Client(name, authkey=authkey)
            except (OSError, EOFError, AuthenticationError):
                return None
        return _connections[name]


def _accept(listener: Listener, closed: Event, authkey: bytes, messages: list) -> None:
    while not closed.is_set():
        try:
            connection = listener.accept()
        except (OSError, EOFError):
            closed.wait(PAUSE)
            continue
        # There it may wait for a client that has died, or says nothing.
        Thread(target=_receive, args=(connection, authkey, messages), daemon=True).start()


def _receive(connection: Connection, authkey: bytes, messages: list) -> None:
    with connection:
        try:
            deliver_challenge(connection, authkey)
            answer_challenge(connection, authkey)
            while True:
                messages.append(connection.recv())
                connection.send(None)
        except (OSError, EOFError, AuthenticationError):
            return


def _close(listener: Listener, closed: Event) -> None:
    closed.set()
    listener.close()


def _begin_anew() -> None:
    """In a process that was forked: mailboxes and connections are those of the other one."""
    global _lock
    _lock = Lock()
    _opened.clear()
    _connections.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
