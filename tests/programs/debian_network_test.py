#!/usr/bin/env python3
"""Programs that nobody here wrote, from Debian's packages, that serve and ask over the network of Ingot's kernel.

usage: debian_network_test.py INGOT KERNEL FOLDER

The packages are fetched into FOLDER (scripts/fetch_packages). Exits 77 (a skip to CTest) where that cannot be done.
"""

import asyncio
import hashlib
import json
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))
from debian_packages import fetch_packages  # noqa: E402
from networked import CHECKS, Networked, at_once, content_of  # noqa: E402
from protocol_clients import HttpClient, MemcachedClient, RedisClient, RedisError  # noqa: E402
from run_cases import run_cases  # noqa: E402
from running_machine import PublishedMachine  # noqa: E402
from web_checks import Web  # noqa: E402

PACKAGES = """nginx redis-tools redis-server lighttpd memcached iperf3 curl python3.11-minimal
libpython3.11-minimal libpython3.11-stdlib libc6 libexpat1 libffi8 zlib1g libssl3 libcrypt1 libpcre2-8-0
libatomic1 libcap2 libgcc-s1 libgcrypt20 libgpg-error0 libjemalloc2 liblz4-1 liblzf1 liblzma5 libstdc++6
libsystemd0 libzstd1 libnettle8 libxxhash0 libevent-2.1-7 libsasl2-2 libiperf0 libsctp1 libcurl4 libbrotli1
libcom-err2 libgmp10 libgnutls30 libgssapi-krb5-2 libhogweed6 libidn2-0 libk5crypto3 libkeyutils1 libkrb5-3
libkrb5support0 libldap-2.5-0 libnghttp2-14 libp11-kit0 libpsl5 librtmp1 libssh2-1 libtasn1-6 libunistring2""".split()


class Nginx(Networked, Web):
    CONFIGURATION = """
daemon off; master_process off; user root root; pid /run/nginx.pid; error_log stderr warn;
events { worker_connections 512; }
http {
  access_log off; sendfile on; tcp_nopush on; client_max_body_size 8m;
  client_body_temp_path /tmp/body; proxy_temp_path /tmp/proxy; fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi; scgi_temp_path /tmp/scgi;
  upstream host { server 10.0.2.2:%d; keepalive 4; }
  server {
    listen 80; root /srv;
    location /host/ { proxy_pass http://host/; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
"""

    def test_serves_files_and_asks_another_server(self):
        configuration = self.CONFIGURATION % self.serve_here()
        self.cast("usr/sbin/nginx", "--arg=-c", "--arg=/etc/nginx.conf", "--arg=-e", "--arg=stderr",
                  files={"/etc/nginx.conf": configuration.encode(), **self.FILES})  # fmt: skip
        with self.boot(80, self.is_ready) as machine:
            port = machine.ports[80]
            self.check_requests(port)
            self.check_ranges(port)
            self.check_rude_clients(port)
            body = content_of(1 << 20)
            with HttpClient(port) as client:
                for _ in range(2):
                    status, _, answer = client.ask("/host/", "POST", body)
                    self.assertEqual((status, answer.decode().strip()), (200, hashlib.sha256(body).hexdigest()))
                self.assertEqual(client.ask("/host/300000")[2], content_of(300_000))
                self.assertEqual(client.ask("/1000", If_None_Match=client.ask("/1000")[1]["ETag"])[0], 304)
            self.end(machine)


class Lighttpd(Networked, Web):
    CONFIGURATION = """
server.document-root = "/srv"
server.port = 80
server.modules = ( "mod_dirlisting" )
dir-listing.activate = "enable"
"""

    def test_serves_files(self):
        module = "usr/lib/lighttpd/mod_dirlisting.so"
        self.cast("usr/sbin/lighttpd", "--arg=-D", "--arg=-f", "--arg=/etc/lighttpd.conf", "--file",
                  f"{self.root / module}=/{module}",
                  files={"/etc/lighttpd.conf": self.CONFIGURATION.encode(), **self.FILES})  # fmt: skip
        with self.boot(80, self.is_ready) as machine:
            port = machine.ports[80]
            self.check_requests(port)
            self.check_ranges(port)
            self.check_rude_clients(port)
            with HttpClient(port) as client:
                listing = client.ask("/")[2].decode()
            for size in self.SIZES:
                self.assertIn(f'href="{size}"', listing)
            self.end(machine, (0, 1))  # 1 where it has not seen yet that the last client closed
            self.assertIn("server stopped", machine.text())


class Redis(Networked):
    ARGUMENTS = ("--protected-mode", "no", "--dir", "/tmp", "--save")

    @staticmethod
    def is_ready(machine: PublishedMachine) -> bool:
        with RedisClient(machine.ports[6379]) as client:
            return client.ask("PING") == b"PONG"

    def check_values(self, client: RedisClient):
        large = content_of(1 << 20)
        self.assertEqual(client.ask("SET", "large", large), b"OK")
        self.assertEqual(client.ask("GET", "large"), large)
        self.assertIsNone(client.ask("GET", "none"))
        for number in range(1000):
            client.send("SET", f"key{number}", number * number)
            client.send("GET", f"key{number}")
        for number in range(1000):
            self.assertEqual([client.receive(), client.receive()], [b"OK", b"%d" % (number * number)])
        self.assertEqual(client.ask("EVAL", "return redis.call('GET', KEYS[1]) + 1", 1, "key7"), 50)
        self.assertEqual(client.ask("SET", "brief", "x", "PX", 50), b"OK")
        self.assertIsNone(client.ask("BLPOP", "nobody", "0.2"))
        self.assertEqual(client.ask("EXISTS", "brief"), 0)
        # Its answer to a client that may have many connections: setrlimit was obeyed.
        self.assertEqual(client.ask("CONFIG", "GET", "maxclients"), [b"maxclients", b"10000"])
        self.assertEqual(client.ask("SAVE"), b"OK")
        self.assertIsInstance(client.ask("BGSAVE"), RedisError)  # there is one process

    def check_many_clients(self, port: int):
        def count():
            with RedisClient(port) as client:
                for _ in range(50):
                    client.ask("INCR", "counter")

        def wait_for_work():
            with RedisClient(port) as client:
                return client.ask("BLPOP", "work", 60)

        def give_work():
            with RedisClient(port) as client:
                while int(re.search(rb"blocked_clients:(\d+)", client.ask("INFO", "clients"))[1]) < 4:
                    pass
                return [client.ask("RPUSH", "work", number) for number in range(4)]

        at_once(*[count] * 8)
        worked = at_once(*[wait_for_work] * 4, give_work)
        self.assertEqual(sorted(found[1] for found in worked[:4]), [b"0", b"1", b"2", b"3"])
        with RedisClient(port) as client:
            self.assertEqual(client.ask("GET", "counter"), b"400")

    def check_messages(self, port: int):
        with RedisClient(port) as one, RedisClient(port) as other, RedisClient(port) as publisher:
            self.assertEqual(one.ask("SUBSCRIBE", "news"), [b"subscribe", b"news", 1])
            self.assertEqual(other.ask("PSUBSCRIBE", "n*"), [b"psubscribe", b"n*", 1])
            for number in range(100):
                self.assertEqual(publisher.ask("PUBLISH", "news", number), 2)
            for number in range(100):
                self.assertEqual(one.receive(), [b"message", b"news", b"%d" % number])
                self.assertEqual(other.receive(), [b"pmessage", b"n*", b"news", b"%d" % number])

    def test_answers_several_clients(self):
        self.cast("usr/bin/redis-server", *(f"--arg={word}" for word in self.ARGUMENTS), "--arg", "", "--heap", "96M")
        with self.boot(6379, self.is_ready) as machine:
            port = machine.ports[6379]
            with RedisClient(port) as client:
                self.check_values(client)
            self.check_many_clients(port)
            self.check_messages(port)
            self.end(machine)


class Memcached(Networked):
    @staticmethod
    def is_ready(machine: PublishedMachine) -> bool:
        with MemcachedClient(machine.ports[11211]) as client:
            return client.ask("version").startswith(b"VERSION")

    def check_client(self, port: int, name: int):
        with MemcachedClient(port) as client:
            values = {f"{name}-{number}": content_of(number) for number in range(300)}
            for key, value in values.items():
                self.assertEqual(client.set(key, value), b"STORED")
            self.assertEqual(client.get(*values), values)
            for _ in range(50):
                client.ask("incr counter 1")

    def test_answers_several_clients_by_several_threads(self):
        words = [f"--arg={word}" for word in ("-u", "root", "-t", "4")]
        self.cast("usr/bin/memcached", *words, "--heap", "128M", "--cpus", "2")
        with self.boot(11211, self.is_ready) as machine:
            port = machine.ports[11211]
            with MemcachedClient(port) as client:
                self.assertEqual(client.set("counter", b"0"), b"STORED")
                at_once(*[lambda name=name: self.check_client(port, name) for name in range(8)])
                self.assertEqual(client.get("counter"), {"counter": b"400"})
                large = content_of(1_000_000)
                self.assertEqual(client.set("large", large), b"STORED")
                self.assertEqual(client.get("large"), {"large": large})
                statistics = client.statistics()
                self.assertEqual((statistics["threads"], statistics["curr_items"]), ("4", "2402"))
            self.end(machine)


class Iperf(Networked):
    """Server and client, each in a guest: the client's goes out, by the host, and in again."""

    def measure(self, port: int, *options: str) -> dict:
        ended = self.guest.boot("-c", "10.0.2.2", "-p", str(port), "-t", "2", "-J", *options, options=CHECKS)
        self.assertEqual(ended.status, 0, ended)
        self.check_log(ended.log)
        report = json.loads(ended.output[ended.output.index("{") :])  # warnings come first
        self.assertNotIn("error", report)
        return report["end"]

    def test_measures_both_ways(self):
        self.cast("usr/bin/iperf3")
        with self.boot(5201, lambda machine: "Server listening" in machine.text(), arguments=("-s",)) as machine:
            for options, streams in (((), 1), (("-R", "-P", "3"), 3)):
                end = self.measure(machine.ports[5201], *options)
                self.assertEqual(len(end["streams"]), streams)
                self.assertGreater(end["sum_received"]["bytes"], 1 << 20)
                self.assertGreaterEqual(end["sum_sent"]["bytes"], end["sum_received"]["bytes"])
            self.end(machine, (1,))  # it counts a signal as an error


class Asyncio(Networked):
    async def check_connections(self, port: int, count: int):
        async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int):
            writer.write(content_of(size))
            self.assertEqual(await reader.readexactly(size), content_of(size))

        async def talk(number: int):
            async with turn:  # the emulator listens with a backlog of one
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                await exchange(reader, writer, 1)
            await all_connected.wait()
            for size in (number, 5000):
                await exchange(reader, writer, size)
            writer.write_eof()
            self.assertEqual(await reader.read(), b"")
            writer.close()

        turn = asyncio.Lock()
        all_connected = asyncio.Barrier(count)
        await asyncio.wait_for(asyncio.gather(*(talk(number) for number in range(count))), 120)

    def check_datagrams(self, greeted: socket.socket):
        """Two hundred, some in fragments. The network in between may lose one, so each is asked for again."""
        _, guest = greeted.recvfrom(100)
        for number in range(200):
            data = struct.pack("!I", number) + content_of((10, 1400, 6000)[number % 3])
            for _ in range(10):
                greeted.sendto(data, guest)
                try:
                    while (answer := greeted.recv(65536)) == b"greeting" or answer[:4] < data[:4]:
                        pass
                    break
                except TimeoutError:
                    continue
            self.assertEqual(answer, data)

    def test_echoes_connections_and_datagrams(self):
        script = Path(__file__).parent / "asyncio_server.py"
        library = "usr/lib/python3.11"
        self.cast("usr/bin/python3.11", "--heap", "128M", "--file", f"{self.root / library}=/{library}", "--file",
                  f"{script}=/server.py", files={"/etc/resolv.conf": b"nameserver 127.0.0.1\n"})  # fmt: skip
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as greeted:
            greeted.bind(("127.0.0.1", 0))
            greeted.settimeout(5)
            arguments = ("/server.py", "7000", str(greeted.getsockname()[1]))
            with self.boot(7000, lambda machine: "serving" in machine.text(), arguments=arguments) as machine:
                self.assertIn("found ['192.0.2.7']\nunknown True\n", machine.text().replace("\r\n", "\n"))
                asyncio.run(self.check_connections(machine.ports[7000], 200))
                self.check_datagrams(greeted)
                self.end(machine)
                self.assertIn("ended after 200 connections", machine.text())


class Curl(Networked):
    """A client that finds its server by a name of /etc/hosts."""

    CONFIGURATION = """
silent
show-error
fail
url = "http://host.test:%(port)d/4194304"
output = "/tmp/large"
write-out = "%%{http_code} %%{size_download} by %%{num_connects}\\n"
next
url = "http://host.test:%(port)d/sum"
upload-file = "/tmp/large"
write-out = "%%{http_code} by %%{num_connects}\\n"
next
url = "http://host.test:%(port)d/sum"
data-binary = "@/upload"
"""

    def ask(self, *arguments: str) -> str:
        ended = self.guest.boot(*arguments, options=CHECKS)
        self.assertEqual(ended.status, 0, ended)
        self.check_log(ended.log)
        return ended.output

    def test_gets_and_posts(self):
        port = self.serve_here()
        upload = content_of(1 << 20)
        # No question leaves the guest: nobody answers there.
        files = {"/etc/hosts": b"10.0.2.2 host.test\n", "/etc/resolv.conf": b"nameserver 127.0.0.1\n",
                 "/upload": upload, "/curl.conf": (self.CONFIGURATION % {"port": port}).encode()}  # fmt: skip
        self.cast("usr/bin/curl", files=files)
        sums = [hashlib.sha256(content).hexdigest() for content in (content_of(4 << 20), upload)]
        self.assertEqual(self.ask("-K", "/curl.conf"), f"200 4194304 by 1\n{sums[0]}\n200 by 0\n{sums[1]}\n")
        # Several at once, among which it shows how far it came.
        places = ("-o", "/tmp/#1", f"http://host.test:{port}/[100001-100008]")
        output = self.ask("-Zf", *places, "-w", "got %{size_download}\n")
        self.assertEqual(sorted(re.findall(r"got (\d+)\n", output)), [str(size) for size in range(100_001, 100_009)])
        ended = self.guest.boot("-sS", "http://other.test/", options=CHECKS)
        self.assertEqual(ended.status, 6, ended)  # could not resolve

    def test_begins_without_an_address_where_nobody_gives_one(self):
        self.cast("usr/bin/curl")
        words = ("boot", self.guest.path("image"), "--log", "--dry-run", "--json", "--", "-sS", "http://10.0.2.2:9/")
        plan = json.loads(self.guest.run(*words).stdout)["command"]
        plan[plan.index("-netdev") + 1] = "hubport,id=network,hubid=0"  # a cable that leads nowhere
        done = subprocess.run(plan, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        text = done.stdout + done.stderr
        self.assertIn("network: expected all addresses within 5 seconds", text)
        self.assertIn("curl: (7) Failed to connect", text)


def main() -> int:
    Networked.ingot, Networked.kernel, folder = sys.argv[1:4]
    if (status := fetch_packages(folder, PACKAGES)) != 0:
        return status
    Networked.root = Path(folder) / "root"
    run_cases([sys.argv[0], *sys.argv[4:]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
