#!/usr/bin/env python3
"""Holds the kernel's stacks to their size: how deep can it get, by the calls that the linked image holds?

usage: check_stacks.py IMAGE.bare [--objdump PROGRAM] [--nm PROGRAM] [--show]

Frames are read off the instructions (pushes and what is taken from the stack pointer, branches added up, so rather too much
than too little), calls off their targets. What the instructions do not tell is declared below: where calls through pointers
lead, what the others among them may cost, and that a copy to or from a program may fault. Virtual functions that no
declaration names are held to that cost; where one of them makes such a call itself, both count as one. A panic does not
count: it never returns. On top of everything comes an interrupt, which uses the stack of whatever it interrupts.
"""

import argparse
import re
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

KIB = 1024
POINTER_BYTES = 2_560  # the most that a call through a pointer takes which no line of LEADS names
# Who calls through pointers, and whom: patterns of names.
LEADS = (
    (r"^ingot_copy_user$", r"^ingot_trap_of_copy$"),
    (r"os::Transfer(Memory)?::", r"TransferMemory::(copy_in|copy_out|clear)\("),
    (r"FileTree::(open|find_or_create)", r"::open\(unsigned int\)"),
    (r"DeviceFile::open\(", r"(LogDevice|Terminal|PciBus|AcceleratorDevice)::open\(ingot::os::Node&"),
    (r"FileTree::(make|find_or_create)", r"Directory::create\("),
    (r"status|volume_of", r"::status\(\)"),
    (r"Row<.*::reserve,", r"Description::(reserve|end_reserving)\("),
    (r"Row<.*::control,", r"::control\(unsigned int, unsigned long, ingot::os::ControlCaller"),
    (r"attempt_when_ready\(", r"when_ready<.*::_FUN\(void\*\)"),
    (r"::(send|receive)_pieces\(|SocketFile::(read|write)_bytes\(", r"Socket::(send|receive)\("),
    (r"Row<.*::bind,|::connect\(", r"Socket::(bind|connect)\("),
    (r"LocalSockets::(bind|find)|LocalSocket::(bind|connect|follow|receiver)", r"ProcessFiles::(add|find)_socket\("),
    (r"OwnedLocks::", r"FutexLocks::(read|exchange)\("),
    (r"PathWalk::|read_link|FileTree::", r"::read_link\("),
    (r"::(read|write)_pieces\(|::copy_bytes\(|::(read|write)_at\(", r"::(read|write)_(bytes(_at)?|range)\("),
    (r"FileDescription::(read|write)|Description::(read|write)", r"::(read|write)_(bytes(_at)?|range)\("),
    (r"truncate_(file|path)|find_or_create", r"::truncate\("),
    (r"AddressSpace::answer\(|AddressSpace::map_backing\(", r"::fault\("),
    (r"AddressSpace::|PageTable<|::fault\(|MemoryFile::|SparsePages::", r"(FrameCache|CachedFrames)::allocate\("),
    (r"^ingot::os::answer_system_call\(|call_traced\(", r"system_call_detail::Row<.*>::call\("),
    (r"InterruptTable::dispatch\(", r"\(void\*, ingot::os::arch::TrapFrame&\)( \[clone.*)?$"),
    (r"open_text\(", r"RunningProcessReport::write_|BootedMachineReport::write_|::write_functions\("),
    # The network: transports and IP, IP and links, timers, who listens; then sockets, and the cards' threads.
    (r"network::(Tcp|Udp|PortTable|Handshake|send_segment|Icmp|DhcpClient)", r"network::InternetLayer::(send|route|refuse_port)\("),
    (r"network::(PacketReceiver|InternetLayer|Icmp|Reassembly|Neighbours|AddressKeeper|NeighbourDiscovery)::",
     r"network::((Tcp|Udp)::(received|refused)|InternetLayer::(packet_arrived|neighbour_message|refused|unreachable|address_|reassembly_))"),
    (r"network::(PacketSender|Neighbours|InternetLayer|Stack|Arp|NeighbourDiscovery|RouterDiscovery|DhcpClient|Icmp)::",
     r"(VirtioNetwork|LoopLink)::(send|flush)\("),
    (r"network::NetworkTimers::run", r"network::.*::expired\("),
    (r"network::(TcpConnection|TcpListener|Tcp|UdpSocket)::", r"network::(Stream|Datagram)Socket::changed\("),
    (r"network::TcpConnection::", r"network::Tcp::(established|closed|send_later|send_when_room)\("),
    (r"::control\(", r"ProgramControl::(give|take_back)\("),
    (r"VirtioNetwork::", r"network::(KernelNetwork|Stack)::(received|link_changed)\("),
    (r"EpollFile::|poll_until|select|WatchedFile|when_ready|patience", r"((Stream|Datagram)Socket|EpollFile)::(poll|ready_at)\("),
    (r"FileWatchers::forget|drop_descriptor|DescriptorTable::", r"EpollFile::forget_and_drop\("),
    (r"Row<", r"network::KernelNetwork::make\("),
    (r"run_main\(", r"network::KernelNetwork::stop\("),
    (r"SocketFile::(get|set)_option", r"network::(Stream|Datagram)Socket::((get|set)_own_option|heed_setting)\("),
    (r"Row<|_with\(|SocketFile::", r"network::(Stream|Datagram)Socket::(listen|accept|shut_down|tell_|take_error|control)"),
    (r"linger\(", r"network::StreamSocket::let_go\("),
    (r"Reference<ingot::os::(FileDescription|SocketFile)>::|DescriptorTable::(close|replace)",
     r"make_reference<ingot::os::(network::(Stream|Datagram)Socket|AcceleratorDevice::Opened).*_FUN"),
    # The accelerator's worker is asked, and waited for.
    (r"os::(MemoryOwner|Accelerator)::", r"KernelAccelerator::(now|ring|bells|wait|retire)\("),
)
# Deeper, and called where the stack is nearly empty: by the first thread while devices start.
ALONE = (r"os::PciMemory::(read|write)\(", r"os::Virtio(Pci|Mmio)::connect\(")
PANICS = re.compile(r"panic|^ingot::os::require\b|lock_violated|triple_fault")

# What runs on which stack, and what that stack holds (os/process/process.cc, kernel_thread.h, image_layout.h); the start is
# over before anything interrupts it.
ENTRIES = (
    ("system calls and faults of programs", 24 * KIB, r"^ingot_system_call_entry$|^save_registers$"),
    ("the first thread", 32 * KIB, r"::run_main\("),
    ("threads of network cards", 16 * KIB, r"VirtioNetwork::work\("),
    ("timers of the network", 16 * KIB, r"KernelNetwork::run_timers\("),
    ("tasks and idle threads", 16 * KIB, r"Executor::run_ready\(|Scheduler::idle_once\("),
    ("the start", 24 * KIB, r"^ingot_start$"),
)
RESERVE = 512  # what an emulator and a CPU push by themselves, and what nobody thought of

FUNCTION = re.compile(r"^([0-9a-f]{16}) <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\s+(\S+)\s*(.*)$")
PADDING = ("nop", "nopw", "nopl", "cs", "data16", "xchg", "int3")
TAKEN = re.compile(r"\$0x([0-9a-f]{1,5}),%rsp$")


@dataclass
class Function:
    name: str
    frame: int = 0
    targets: set[int] = field(default_factory=set)
    has_pointer_call: bool = False
    falls_through: bool = True
    callees: list["Function"] = field(default_factory=list)


def read_functions(listing: str) -> dict[int, Function]:
    functions, current = {}, None
    for line in listing.splitlines():
        if found := FUNCTION.match(line):
            current = functions[int(found[1], 16)] = Function(found[2])
        elif current is not None and (found := INSTRUCTION.match(line)):
            operation, operand = found.groups()
            if operation in PADDING:
                continue
            current.falls_through = operation not in ("ret", "jmp", "iretq", "sysretq", "ud2", "hlt")
            if operation in ("push", "pushq", "pushf", "pushfq"):
                current.frame += 8
            elif operation == "sub" and (taken := TAKEN.match(operand)):
                current.frame += int(taken[1], 16)
            elif operation == "call" or operation.startswith("j"):
                if operand.startswith("*"):
                    current.has_pointer_call |= operation == "call"
                elif target := re.match(r"([0-9a-f]+) <", operand):
                    current.targets.add(int(target[1], 16))
    return functions


def link(functions: dict[int, Function]):
    """Callees by address, by falling into the next label of an assembly source, and by LEADS."""
    ordered = list(functions.values())
    for function, following in zip(ordered, [*ordered[1:], None]):
        called = (functions.get(target, function) for target in function.targets)
        function.callees = [callee for callee in called if callee is not function]
        if function.falls_through and following is not None and "::" not in function.name + following.name:
            function.callees.append(following)
    (trap,) = (function for function in ordered if function.name == "ingot_trap")
    # The frame that the CPU and trap_entry.S push for a fault within a copy.
    copy_trap = Function("ingot_trap_of_copy", frame=23 * 8, callees=[trap], falls_through=False)
    ordered.append(copy_trap)
    for caller_pattern, callee_pattern in LEADS:
        callees = [function for function in ordered if re.search(callee_pattern, function.name)]
        callers = [function for function in ordered if re.search(caller_pattern, function.name)]
        for caller in callers:
            if caller.has_pointer_call or caller.name == "ingot_copy_user":
                caller.callees += [callee for callee in callees if callee is not caller]
        if not callees or not callers:
            print(f"check_stacks: expected functions for both of '{caller_pattern}' and '{callee_pattern}', found none")
            sys.exit(1)
    return ordered


def virtual_functions(image: Path, listed: dict[int, Function], tables: str) -> list[Function]:
    """What the tables of virtual functions hold; `tables`: as nm -S lists the symbols."""
    content = image.read_bytes()
    (headers,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    sections = [struct.unpack_from("<IIQQQQ", content, headers + index * size) for index in range(count)]
    found = {}
    for begin, length in re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) \w _ZTV", tables):
        address = int(begin, 16)
        for _, kind, _, start, offset, bytes_ in sections:
            if kind == 1 and start <= address < start + bytes_:
                words = struct.unpack_from(f"<{int(length, 16) // 8}Q", content, offset + address - start)
                found |= {word: listed[word] for word in words if word in listed}
    return list(found.values())


class Depths:
    """The deepest path from each function. A cycle counts once: the page table's recursion ends with its levels."""

    def __init__(self, without: re.Pattern, pointer_bytes: int = POINTER_BYTES):
        self.known, self.path, self.without, self.pointer_bytes = {}, [], without, pointer_bytes

    def of(self, function: Function) -> tuple[int, tuple[Function, ...]]:
        if id(function) in self.known:
            return self.known[id(function)]
        if function in self.path or self.without.search(function.name):
            return 0, ()
        self.path.append(function)
        below, way = (self.pointer_bytes, ()) if function.has_pointer_call else (0, ())
        for callee in function.callees:
            depth, further = self.of(callee)
            if depth + 8 > below:
                below, way = depth + 8, further
        self.path.pop()
        self.known[id(function)] = function.frame + below, (function, *way)
        return self.known[id(function)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("--objdump", default="x86_64-linux-gnu-objdump")
    parser.add_argument("--nm", default="x86_64-linux-gnu-nm")
    parser.add_argument("--show", action="store_true", help="every function on the deepest paths")
    arguments = parser.parse_args()
    sys.setrecursionlimit(100_000)
    listing = subprocess.run([arguments.objdump, "-d", "-C", "--no-show-raw-insn", arguments.image],
                             check=True, capture_output=True, text=True).stdout  # fmt: skip
    listed = read_functions(listing)
    functions = link(listed)

    def deepest(pattern: str, without: re.Pattern) -> tuple[int, tuple[Function, ...]]:
        entries = [function for function in functions if re.search(pattern, function.name)]
        if not entries:
            sys.exit(f"check_stacks: expected a function '{pattern}', found none")
        depths = Depths(without)
        return max((depths.of(entry) for entry in entries), key=lambda found: found[0])

    problems = 0
    named = re.compile("|".join([PANICS.pattern, *ALONE, *(callee for _, callee in LEADS)]))
    tables = subprocess.run([arguments.nm, "-S", arguments.image], check=True, capture_output=True, text=True).stdout
    alone = Depths(PANICS, 0)
    for function in virtual_functions(Path(arguments.image), listed, tables):
        depth, _ = alone.of(function)
        if depth > POINTER_BYTES and not named.search(function.name):
            print(f"expected at most {POINTER_BYTES} bytes for a call that LEADS does not name, found {depth}:")
            print(f"    {function.name}")
            problems += 1
    # An interrupt is a trap that neither answers a fault nor leads to a program.
    handlers = re.compile(PANICS.pattern + r"|AddressSpace::answer|before_program|signal_|answer_missing_part")
    interrupt, way = deepest(r"^save_registers$", handlers)
    for name, stack, pattern in ENTRIES:
        depth, path = deepest(pattern, PANICS)
        interrupted = 0 if name == "the start" else interrupt
        total = depth + interrupted + RESERVE
        print(f"{depth:6} + {interrupted} for an interrupt + {RESERVE} of {stack}: {name}")
        if total > stack or arguments.show:
            print("\n".join(f"    {function.frame:6} {function.name[:150]}" for function in path))
        if total > stack:
            print(f"expected at most {stack} bytes of stack for {name}, found {total}")
            problems += 1
    if arguments.show:
        print("the interrupt:\n" + "\n".join(f"    {function.frame:6} {function.name[:150]}" for function in way))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
