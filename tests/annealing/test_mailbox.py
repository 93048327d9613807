"""Messages from other processes arrive, whatever became of those that wanted to send some before."""

from __future__ import annotations

import os
import pickle
import socket
import sys
import threading
import time
import warnings
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client

import pytest

from sklearn_subanneal.annealing.mailbox import Mailbox

ON_WINDOWS = sys.platform == "win32"


def forked(work):
    """Do something in a process that is forked, and wait for it."""
    with warnings.catch_warnings():
        # Python 3.12 does not like it beside threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        number = os.fork()
    if number == 0:
        # Nothing of the test is left to the other process.
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(number, 0)[1] == 0


@pytest.mark.skipif(ON_WINDOWS, reason="cannot fork")
def test_a_forked_process_has_a_copy():
    """It took the copy for the original, and kept the message for itself."""
    box = Mailbox()
    sent = pickle.dumps(box)
    box.append("first")
    forked(lambda: pickle.loads(sent).append("second"))
    assert list(box) == ["first", "second"]


@pytest.mark.skipif(ON_WINDOWS, reason="cannot fork")
def test_a_forked_worker_has_a_connection_of_its_own():
    box = Mailbox()
    sent = pickle.dumps(box)

    def work():
        copy = pickle.loads(sent)
        copy.append("first")
        forked(lambda: copy.append("second"))
        copy.append("third")

    forked(work)
    assert list(box) == ["first", "second", "third"]


def test_a_copy_in_the_same_process_is_another_list():
    box = Mailbox()
    box.append("first")
    copy = pickle.loads(pickle.dumps(box))
    copy.append("second")
    assert list(box) == ["first"] and list(copy) == ["first", "second"]


@pytest.mark.skipif(ON_WINDOWS, reason="has no such sockets")
@pytest.mark.parametrize("is_gone", [True, False])
def test_a_client_that_does_not_say_who_it_is(is_gone):
    """One that died meanwhile ended it for all; one that is silent let all others wait."""
    box = Mailbox()
    pickle.dumps(box)
    name, authkey = box._address
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(name)
        if is_gone:
            stranger.close()
            time.sleep(0.05)

        def send():
            with Client(name, authkey=authkey) as connection:
                connection.send("message")
                connection.recv()

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        thread.join(3.0)
    assert list(box) == ["message"]


def test_strangers_are_not_listened_to():
    box = Mailbox()
    pickle.dumps(box)
    with pytest.raises(AuthenticationError):
        Client(box._address[0], authkey=b"guessed")
    assert list(box) == []
