"""In the guest of debian_network_test.py: an echo by TCP and UDP, and a name asked of a name server of its own.

usage: asyncio_server.py TCP_PORT GREETED_PORT

No port of the host leads to a UDP port of the guest, so the guest begins: it greets GREETED_PORT of the host, and
echoes what is sent back to it.
"""

import asyncio
import signal
import socket
import struct
import sys

HOST = "10.0.2.2"
KNOWN_NAME, KNOWN_ADDRESS = "known.test", "192.0.2.7"
connections = 0


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    global connections
    connections += 1
    while block := await reader.read(65536):
        writer.write(block)
        await writer.drain()
    writer.close()


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self):
        self.heard = asyncio.Event()

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport


class Echo(Datagrams):
    def datagram_received(self, data: bytes, sender: tuple) -> None:
        self.heard.set()
        self.transport.sendto(data, sender)


class Names(Datagrams):
    """A server that knows one address of one name, and of any other only that there is none."""

    def datagram_received(self, data: bytes, sender: tuple) -> None:
        end = data.index(0, 12) + 5  # behind the header: the name, its kind, its class
        kind = struct.unpack_from("!H", data, end - 4)[0]
        is_known = data[12 : end - 4] == b"\x05known\x04test\0"
        answer = b""
        if is_known and kind == 1:
            answer = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton(KNOWN_ADDRESS)
        header = data[:2] + struct.pack("!HHHHH", 0x8180 if is_known else 0x8183, 1, answer != b"", 0, 0)
        self.transport.sendto(header + data[12:end] + answer, sender)


async def ask_names(loop: asyncio.AbstractEventLoop) -> None:
    found = await loop.getaddrinfo(KNOWN_NAME, 80, type=socket.SOCK_STREAM)
    print("found", sorted({address[0] for *_, address in found}), flush=True)
    try:
        await loop.getaddrinfo("unknown.test", 80)
    except socket.gaierror as error:
        print("unknown", error.errno == socket.EAI_NONAME, flush=True)


async def main() -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    await loop.create_datagram_endpoint(Names, local_addr=("127.0.0.1", 53))
    await ask_names(loop)
    transport, greeter = await loop.create_datagram_endpoint(Echo, local_addr=("0.0.0.0", 0))
    async with await asyncio.start_server(echo, None, int(sys.argv[1]), backlog=256):
        print("serving", flush=True)
        while not greeter.heard.is_set() and not ended.is_set():
            transport.sendto(b"greeting", (HOST, int(sys.argv[2])))
            await asyncio.sleep(0.2)
        await ended.wait()
    print(f"ended after {connections} connections", flush=True)


asyncio.run(main())
