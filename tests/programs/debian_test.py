#!/usr/bin/env python3
"""Programs that nobody here wrote, from Debian's packages, on Ingot's kernel: static and dynamic, by --program and --oci.

usage: debian_test.py INGOT KERNEL FOLDER

The packages are fetched into FOLDER (scripts/fetch_packages). Exits 77 (a skip to CTest) where that cannot be done.
"""

import hashlib
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))
from debian_packages import fetch_packages  # noqa: E402
from guest import Ended, Guest  # noqa: E402
from oci_layout import layer_of, write_layout  # noqa: E402
from run_cases import run_cases  # noqa: E402

INGOT = KERNEL = ROOT = None
PACKAGES = """busybox-static lua5.4 liblua5.4-0 sqlite3 libsqlite3-0 python3.11-minimal libpython3.11-minimal
libpython3.11-stdlib libc6 libreadline8 libtinfo6 zlib1g libexpat1 libssl3 libffi8""".split()
LIBRARIES = "/usr/lib/x86_64-linux-gnu"

# What a program says of itself: its mappings, as the kernel tells them.
MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ([r-])([w-])([x-])([ps]) \S+ \S+ \S+ *(.*)$", re.MULTILINE)


class Debian(unittest.TestCase):
    def setUp(self):
        self.guest = Guest(INGOT, KERNEL)
        self.addCleanup(self.guest.close)

    def cast(self, *words: str) -> subprocess.CompletedProcess:
        done = self.guest.cast(*words, "--tmpfs", "16M")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def boot(self, *arguments: str, seconds: float = 120, **options) -> Ended:
        ended = self.guest.boot(*arguments, seconds=seconds, options=("--option", "check-locks", "--option", "poison"), **options)
        self.assertNotIn("panic", ended.log)
        return ended

    def says(self, expected: str, *arguments: str, **options) -> str:
        ended = self.boot(*arguments, **options)
        self.assertEqual(ended.status, 0, ended)
        self.assertIn(expected, ended.output)
        return ended.output


class Busybox(Debian):
    """Static: one file. Its applets are its first argument."""

    def setUp(self):
        super().setUp()
        self.cast("--program", str(ROOT / "bin/busybox"), "--file", f"{__file__}=/text")

    def test_awk(self):
        self.says("285\n3,2,1\n", "awk", 'BEGIN { for (i = 0; i < 10; i++) s += i * i; print s; print 3 "," 2 "," 1 }')
        words = len(Path(__file__).read_text().split())
        self.says(f"{words} words", "awk", '{ n += NF } END { print n " words" }', "/text")

    def test_sha256sum(self):
        for path, here in (("/text", Path(__file__)), ("/bin/busybox", ROOT / "bin/busybox")):
            self.says(f"{hashlib.sha256(here.read_bytes()).hexdigest()}  {path}\n", "sha256sum", path)

    def test_sort(self):
        lines = sorted(set(Path(__file__).read_bytes().splitlines()))
        self.says(b"\n".join(lines).decode(), "sort", "-u", "/text")

    def test_shell_with_builtins(self):
        script = """
            square() { echo $(( $1 * $1 )); }
            for n in 1 2 3; do square $n; done > /tmp/squares
            while read n; do printf '<%s>' $n; done < /tmp/squares; echo
            case $PWD in /) echo at the root;; esac
            test -x /bin/busybox && set -- a 'b c' && echo $# "$2" ${1%a}x
            trap 'echo leaving' EXIT
            exit 3"""
        ended = self.boot("sh", "-c", script)
        self.assertIn("<1><4><9>\nat the root\n2 b c x\nleaving\n", ended.output)
        self.assertEqual(ended.status, 3)

    def test_shell_cannot_fork_and_says_so(self):
        ended = self.boot("sh", "-c", "echo $(echo inner)")
        self.assertIn("can't fork", ended.output)
        self.assertIn("there is one process", ended.log)


class Layouts(Debian):
    """A whole Debian root as an OCI image; its entrypoint is found by PATH."""

    def cast_layout(self, *entrypoint: str):
        layout = Path(self.guest.path("layout"))
        base = layer_of(ROOT, ["bin", "lib64", "lib/x86_64-linux-gnu", LIBRARIES])
        write_layout(layout, [base, layer_of(ROOT, ["usr/bin"])], [*entrypoint], [], ["PATH=/usr/bin:/bin"])
        self.cast("--oci", str(layout))

    def test_busybox(self):
        self.cast_layout("busybox", "sh", "-c")
        self.says("2 3 5 7\n", "echo 2 3 5 7; test -e /usr/bin/sqlite3")

    def test_sqlite(self):
        self.cast_layout("sqlite3", ":memory:")
        self.says("42|3.40", "select 6 * 7, sqlite_version();")


class Lua(Debian):
    """Dynamic: an interpreter (the loader) and libraries."""

    SCRIPT = "local t = {}; for i = 1, 20 do t[i] = i * i end; print(table.concat(t, ' '), math.sin(1), string.rep('x', 3))"
    EXPECTED = " ".join(str(i * i) for i in range(1, 21)) + "\t0.8414709848079\txxx\n"

    def test_by_program(self):
        self.cast("--program", str(ROOT / "usr/bin/lua5.4"), "--root", str(ROOT))
        self.says(self.EXPECTED, "-e", self.SCRIPT)
        ended = self.boot("-e", "os.exit(7)")
        self.assertEqual(ended.status, 7)

    def test_libraries_are_shown_where_the_image_has_them(self):
        self.cast("--program", str(ROOT / "usr/bin/lua5.4"), "--root", str(ROOT))
        output = self.boot("-e", "for line in io.lines('/proc/ingot/memory') do print(line) end").output
        counters = dict(line.rsplit(" ", 1) for line in output.splitlines() if line.count(" ") == 1)
        self.assertGreater(int(counters["in-place-bytes"]), 500_000, output)
        self.assertLess(int(counters["resident-bytes"]), 500_000, output)  # relocated pages, stack, heap

    def test_by_oci(self):
        layout = Path(self.guest.path("layout"))
        base = layer_of(ROOT, ["lib64", "lib/x86_64-linux-gnu", LIBRARIES])
        write_layout(layout, [base, layer_of(ROOT, ["usr/bin/lua5.4"])], ["lua5.4"], ["-e", self.SCRIPT], ["PATH=/usr/bin"])
        self.cast("--oci", str(layout))
        self.says(self.EXPECTED)
        self.says("other\n", "-e", "print('other')")

    def test_an_oci_image_without_a_library_is_refused(self):
        layout = Path(self.guest.path("layout"))
        loader = ["lib64", "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu/libc.so.6"]
        write_layout(layout, [layer_of(ROOT, [*loader, "usr/bin/lua5.4"])], ["/usr/bin/lua5.4"])
        done = self.guest.cast("--oci", str(layout))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"expected the library '\S+' that '/usr/bin/lua5.4' needs, found it in none")


class Sqlite(Debian):
    def setUp(self):
        super().setUp()
        self.cast("--program", str(ROOT / "usr/bin/sqlite3"), "--root", str(ROOT))

    TABLE = "create table t(a, b text); insert into t select value, 'n' || value from generate_series(1, 500);"
    QUERY = "select count(*), sum(a), max(b) from t; select round(avg(a), 2) from t where a % 7 = 0;"

    def test_in_memory(self):
        self.says("500|125250|n99\n252.0\n", ":memory:", self.TABLE + self.QUERY)

    def test_in_a_file_with_a_journal_and_an_index(self):
        script = "pragma journal_mode = delete;" + self.TABLE + "create index i on t(b); vacuum; pragma integrity_check;"
        self.says("ok\n500|125250|n99", "/tmp/database", script + self.QUERY)

    def test_in_a_file_with_shared_memory(self):
        self.says("wal\n500|125250|n99", "/tmp/database", "pragma journal_mode = wal;" + self.TABLE + self.QUERY)


class Python(Debian):
    SCRIPT = """
import hashlib, json
squares = {str(n): n * n for n in range(1, 6)}
print(json.dumps(squares, sort_keys=True), hashlib.sha256(json.dumps(squares).encode()).hexdigest())
"""

    @staticmethod
    def expected() -> str:
        squares = {str(n): n * n for n in range(1, 6)}
        return f"{json.dumps(squares)} {hashlib.sha256(json.dumps(squares).encode()).hexdigest()}\n"

    def cast_python(self):
        return self.cast("--program", str(ROOT / "usr/bin/python3.11"), "--root", str(ROOT), "--heap", "128M",
                         "--file", f"{ROOT}/usr/lib/python3.11=/usr/lib/python3.11")  # fmt: skip

    def test_by_program(self):
        done = self.cast_python()
        self.assertNotIn("libcrypto", done.stderr)  # found for a module, though the program does not name it
        self.says(self.expected(), "-c", self.SCRIPT)
        self.says("openssl\n", "-c", "import _hashlib; print('openssl')")

    def test_threads_files_and_modules(self):
        self.cast_python()
        script = """
import ctypes, os, sqlite3, tempfile, threading, zlib
sums = []
threads = [threading.Thread(target=lambda n=n: sums.append(sum(range(n * 1000)))) for n in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(sums) == sum(sum(range(n * 1000)) for n in range(16)))
with tempfile.NamedTemporaryFile(dir='/tmp') as file:
    file.write(zlib.compress(b'x' * 100000)); file.flush()
    print(len(zlib.decompress(open(file.name, 'rb').read())), os.path.exists(file.name))
print(os.path.exists(file.name), sorted(os.listdir('/'))[:2], os.getpid())
database = sqlite3.connect('/tmp/database'); database.execute('create table t(a)')
database.executemany('insert into t values(?)', [(n,) for n in range(100)])
print(database.execute('select sum(a) from t').fetchone()[0])
print(ctypes.CDLL(None).abs(-5))
"""
        self.says("True\n100000 True\nFalse ['bin', 'dev'] 1\n4950\n5\n", "-c", script)

    def test_event_loops_copies_and_mapped_files(self):
        self.cast_python()
        script = """
import asyncio, mmap, os, shutil, signal, socket
async def square(n):
    await asyncio.sleep(0.01 * n)
    return n * n
async def main():
    print(await asyncio.gather(*map(square, range(5))), await asyncio.to_thread(lambda: sum(range(1000))))
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, heard.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await heard.wait()
asyncio.run(main())
open('/tmp/a', 'wb').write(b'x' * 300000)
shutil.copyfile('/tmp/a', '/tmp/b')
with open('/tmp/b', 'r+b') as file:
    mapped = mmap.mmap(file.fileno(), 0)
    mapped[:3] = b'abc'
    mapped.flush()
print(os.path.getsize('/tmp/b'), open('/tmp/b', 'rb').read(4))
try:
    os.fork()
except OSError as error:
    print(error)
"""
        self.says("[0, 1, 4, 9, 16] 499500\n300000 b'abcx'\n[Errno 38]", "-c", script)

    def test_an_error_is_its_status(self):
        self.cast_python()
        ended = self.boot("-c", "raise SystemExit(42)")
        self.assertEqual(ended.status, 42)
        self.assertIn("ZeroDivisionError", self.boot("-c", "1 / 0").output)

    def test_by_oci(self):
        layout = Path(self.guest.path("layout"))
        base = layer_of(ROOT, ["lib64", "lib/x86_64-linux-gnu", LIBRARIES])
        above = layer_of(ROOT, ["usr/lib/python3.11", "usr/bin/python3.11"])
        write_layout(layout, [base, above], ["/usr/bin/python3.11"], ["-c", self.SCRIPT])
        self.cast("--oci", str(layout), "--heap", "128M")
        self.says(self.expected())


class Interpreters(Debian):
    """What the kernel says of a program whose interpreter is not as it should be; cast would have refused it."""

    LOADER = b"/lib64/ld-linux-x86-64.so.2\0"

    def boot_with(self, path: bytes) -> Ended:
        self.cast("--program", str(ROOT / "usr/bin/lua5.4"), "--root", str(ROOT))
        image = Path(self.guest.path("image"))
        content = image.read_bytes()
        self.assertIn(self.LOADER, content)
        image.write_bytes(content.replace(self.LOADER, path.ljust(len(self.LOADER), b"\0")))
        ended = self.boot("-v")
        self.assertEqual(ended.status, 127, ended)
        return ended

    def test_one_that_is_not_there_is_named(self):
        ended = self.boot_with(b"/lib64/ld-linux-x86-64.so.9")
        self.assertIn("expected the program's interpreter /lib64/ld-linux-x86-64.so.9, found ENOENT", ended.log)

    def test_one_that_needs_another(self):
        self.assertIn("expected an interpreter that stands alone", self.boot_with(b"/bin/lua5.4").log)

    def test_one_that_is_no_program(self):
        self.assertIn("expected an ELF header, found", self.boot_with(b"/etc/passwd").log)

    def test_a_path_that_is_none(self):
        self.assertIn("expected the path of an interpreter", self.boot_with(b"lib64/loader").log)


class Protection(Debian):
    """Where a dynamic program lies, and what it may do there."""

    SCRIPT = "for line in io.lines('/proc/self/maps') do print(line) end"

    def mappings(self, *arguments: str) -> list[tuple]:
        output = self.boot(*arguments).output
        found = MAPPING.findall(output)
        self.assertGreater(len(found), 4, output)
        return found

    def test_a_static_program_has_heap_and_stack_at_places_that_differ(self):
        self.cast("--program", str(ROOT / "bin/busybox"))
        boots = [self.mappings("cat", "/proc/self/maps") for _ in range(3)]
        for name in ("[heap]", "[stack]"):
            places = {next(m[0] for m in mappings if m[-1] == name) for mappings in boots}
            self.assertEqual(len(places), 3, f"{name} lies at {places}")
        self.assertFalse([m for mappings in boots for m in mappings if m[3] + m[4] == "wx"])

    def test_nothing_is_writable_and_executable_and_places_differ(self):
        self.cast("--program", str(ROOT / "usr/bin/lua5.4"), "--root", str(ROOT))
        boots = [self.mappings("-e", self.SCRIPT) for _ in range(3)]
        for mappings in boots:
            for begin, end, read, write, execute, _, name in mappings:
                self.assertNotEqual(write + execute, "wx", (begin, end, name))
            names = " ".join(mapping[-1] for mapping in mappings)
            for name in ("/bin/lua5.4", "ld-linux-x86-64.so.2", "libc.so.6", "[heap]", "[stack]"):
                self.assertIn(name, names)
            self.assertEqual([m[2] + m[3] + m[4] for m in mappings if m[-1] == "[stack]"], ["rw-"])
            # RELRO: what the loader filled in is no longer writable, neither in the program nor in its libraries.
            for name in ("/bin/lua5.4", "libc.so.6", "ld-linux-x86-64.so.2"):
                rights = [m[2] + m[3] + m[4] for m in mappings if m[-1].endswith(name)]
                self.assertIn("r-x", rights, name)
                self.assertGreaterEqual(rights.index("rw-"), 2, (name, rights))
                self.assertEqual(rights[rights.index("rw-") - 1], "r--", (name, rights))
        for name in ("/bin/lua5.4", "libc.so.6", "ld-linux-x86-64.so.2", "[heap]", "[stack]"):
            places = {next(m[0] for m in mappings if m[-1].endswith(name)) for mappings in boots}
            self.assertEqual(len(places), 3, f"{name} lies at {places}")


def main() -> int:
    global INGOT, KERNEL, ROOT
    INGOT, KERNEL, folder = sys.argv[1:4]
    if (status := fetch_packages(folder, PACKAGES)) != 0:
        return status
    ROOT = Path(folder) / "root"
    run_cases([sys.argv[0], *sys.argv[4:]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
