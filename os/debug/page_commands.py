"""ingot-pages: the page table that the selected CPU runs on (Intel SDM volume 3, 4.5)."""

import struct
from contextlib import contextmanager
from dataclasses import dataclass

import gdb
from kernel_values import register_commands

ADDRESS_BITS = 0x000FFFFFFFFFF000
PRESENT, WRITABLE, USER, LARGE, GLOBAL = 1 << 0, 1 << 1, 1 << 2, 1 << 7, 1 << 8
HELD, COUNTED, LARGE_PAT, NO_EXECUTE = 1 << 9, 1 << 10, 1 << 12, 1 << 63
SIZES = ("4 KiB", "2 MiB", "1 GiB")
LEVELS = ("page", "directory", "giants", "root")
# By the index into the PAT register as the kernel sets it; os/arch/x86_64/page_table_format.h.
CACHE_MODES = (
    "write-back", "write-combining", "uncached-", "uncached",
    "write-back", "write-protected", "uncached-", "write-through",
)  # fmt: skip


@contextmanager
def physical_memory():
    """Within, addresses are physical: QEMU's stub can be told so, and no mapping of the guest is needed."""
    gdb.execute("maintenance packet Qqemu.PhyMemMode:1", to_string=True)
    try:
        yield
    finally:
        gdb.execute("maintenance packet Qqemu.PhyMemMode:0", to_string=True)


def read_table(address: int) -> tuple[int, ...]:
    with physical_memory():
        return struct.unpack("<512Q", bytes(gdb.selected_inferior().read_memory(address, 4096)))


def root_table() -> int:
    return int(gdb.parse_and_eval("(unsigned long)$cr3")) & ADDRESS_BITS


def canonical(address: int) -> int:
    return address | 0xFFFF000000000000 if address & 1 << 47 else address


def is_page(level: int, entry: int) -> bool:
    return level == 0 or bool(entry & LARGE)


def page_address(level: int, entry: int) -> int:
    bits = entry if entry & PRESENT else ~entry  # kept inverted while a page is without access
    return bits & ADDRESS_BITS & ~((4096 << 9 * level) - 1)


def attributes(level: int, entry: int) -> str:
    pat = (entry >> 3 & 3) | (4 if entry & (LARGE if level == 0 else LARGE_PAT) else 0)
    words = ["read" if entry & PRESENT else "none"]
    if entry & PRESENT:
        words += ["write"] * bool(entry & WRITABLE) + ["execute"] * (not entry & NO_EXECUTE)
    words += ["user" if entry & USER else "kernel", CACHE_MODES[pat]]
    words += ["global"] * bool(entry & GLOBAL) + ["counted"] * bool(entry & COUNTED)
    return " ".join(words)


@dataclass
class Range:
    begin: int
    bytes: int
    physical: int
    what: str
    scattered: bool = False  # frames of its own, wherever they were free

    def take(self, other: "Range") -> bool:
        """Grows by a page that continues it."""
        if self.what != other.what or self.begin + self.bytes != other.begin:
            return False
        if self.physical + self.bytes != other.physical:
            if not self.what.endswith("counted"):
                return False
            self.scattered = True
        self.bytes += other.bytes
        return True

    def __str__(self):
        physical = "scattered" if self.scattered else f"{self.physical:#014x}"
        return f"{self.begin:#018x} - {self.begin + self.bytes:#018x}  physical {physical:14}  {self.what}"


def pages_below(table: int, level: int, base: int, walked: frozenset = frozenset()):
    if table in walked:  # a table that contains itself
        return
    for index, entry in enumerate(read_table(table)):
        address = canonical(base + (index << 12 + 9 * level))
        if entry == 0:
            continue
        if level < 3 and is_page(level, entry):
            what = f"{SIZES[level]}  {attributes(level, entry)}"
            yield Range(address, 4096 << 9 * level, page_address(level, entry), what)
        else:
            yield from pages_below(entry & ADDRESS_BITS, level - 1, address, walked | {table})


def all_pages():
    return pages_below(root_table(), 3, 0)


def show_all():
    current = None
    count = 0
    for page in all_pages():
        count += 1
        if current is not None and current.take(page):
            continue
        if current is not None:
            print(current)
        current = page
    if current is not None:
        print(current)
    print(f"{count} pages")


def show_walk(address: int):
    if canonical(address & (1 << 48) - 1) != address:
        raise gdb.GdbError(f"expected an address whose bits 63 to 47 are equal, found {address:#x}")
    table = root_table()
    for level in (3, 2, 1, 0):
        index = address >> (12 + 9 * level) & 511
        entry = read_table(table)[index]
        place = f"level {level} ({LEVELS[level]}) at physical {table:#x}, entry {index}: {entry:#018x}"
        if entry == 0:
            print(f"{place}  nothing")
            print(f"{address:#x} is not mapped")
            return
        if level < 3 and is_page(level, entry):
            physical = page_address(level, entry) + (address & (4096 << 9 * level) - 1)
            print(f"{place}  {SIZES[level]} page, {attributes(level, entry)}")
            print(f"{address:#x} is physical {physical:#x}")
            return
        table = entry & ADDRESS_BITS
        print(f"{place}  table at physical {table:#x}")


def ingot_pages(argument: str):
    """ingot-pages [ADDRESS]: all mapped ranges of the selected CPU's page table; or how it translates one address."""
    if argument.strip():
        show_walk(int(gdb.parse_and_eval(f"(unsigned long)({argument})")))
    else:
        show_all()


def register():
    register_commands(ingot_pages)
