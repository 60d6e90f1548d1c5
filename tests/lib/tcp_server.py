# SPDX-License-Identifier: BSD-2-Clause
"""A server on a port of its own: each connection on a thread of its own, as
long as the `with` block lasts."""

import socket
import threading


class TcpServer:
    """serve(connection) is what a subclass does with each of them."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = self.socket.getsockname()
        self.port = self.address[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,),
                             daemon=True).start()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
