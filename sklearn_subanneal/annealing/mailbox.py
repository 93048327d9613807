"""Mailbox: a list to which copies in worker processes append through a local socket."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from threading import Lock, Thread
from typing import Any

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
        self._connection: Connection | None = None

    def append(self, message: Any) -> None:
        """Add a message; when this returns, it has arrived."""
        if self._connection is None:
            self._messages.append(message)
            return
        with _lock:
            self._connection.send(message)
            self._connection.recv()

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
        if address[0] not in _opened:
            self._connection = _connect(*address)
        if self._connection is None:
            self._messages = messages
        else:
            self._address = address

    def _open(self) -> None:
        authkey = os.urandom(32)
        # The default backlog of one refuses workers that connect while another one is being authenticated.
        listener = Listener(authkey=authkey, backlog=128)
        self._address = listener.address, authkey
        _opened[listener.address] = self
        weakref.finalize(self, listener.close)
        # The thread has the list and not the mailbox, which would otherwise never be collected.
        Thread(target=_accept, args=(listener, self._messages), daemon=True).start()


def _connect(name: str, authkey: bytes) -> Connection | None:
    """The connection of this process to a mailbox, or None if it cannot be reached."""
    with _lock:
        if name not in _connections:
            try:
                _connections[name] = Client(name, authkey=authkey)
            except (OSError, EOFError, AuthenticationError):
                return None
        return _connections[name]


def _accept(listener: Listener, messages: list) -> None:
    while True:
        try:
            connection = listener.accept()
        except AuthenticationError:
            continue
        except (OSError, EOFError):
            return
        Thread(target=_receive, args=(connection, messages), daemon=True).start()


def _receive(connection: Connection, messages: list) -> None:
    try:
        while True:
            messages.append(connection.recv())
            connection.send(None)
    except (OSError, EOFError):
        return
