"""A line to a server that tests can cut and mend: a TCP proxy of their own."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Line:
    """Forwards bytes both ways while it is whole; cut, it drops everybody and takes nobody."""

    def __init__(self, *, host: str, port: int) -> None:
        self._target = (host, port)
        self._whole = True
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._ear = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._ear.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            self._whole = False
            left, self._open = self._open, set()
        for end in left:
            _close(end)

    def mend(self) -> None:
        self._whole = True

    def close(self) -> None:
        self.cut()
        self._ear.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._ear.accept()
                if not self._connect(caller):
                    _close(caller)

    def _is_whole(self) -> bool:
        return self._whole

    def _connect(self, caller: socket.socket) -> bool:
        """Whether the server took it; one that is being started again takes the next one."""
        if not self._is_whole():
            return False
        try:
            server = socket.create_connection(self._target)
        except OSError:
            return False
        with self._lock:
            # Cut meanwhile, this line would outlast it.
            if whole := self._is_whole():
                self._open |= {caller, server}
        if not whole:
            _close(server)
            return False
        for one, other in ((caller, server), (server, caller)):
            threading.Thread(target=_forward, args=(one, other), daemon=True).start()
        return True


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _close(source)
    _close(target)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def a_line(*, host: str, port: int) -> Iterator[Line]:
    line = Line(host=host, port=port)
    try:
        yield line
    finally:
        line.close()
