"""ingot-threads, ingot-queues and ingot-locks: who runs, who waits, and who holds what."""

import struct

import gdb
import page_commands
from kernel_values import (
    atomic,
    enumerator,
    is_code,
    list_elements,
    mutex_holder,
    place_of,
    pointer_to,
    processors,
    read_word,
    register_commands,
    text_of_view,
    with_selected_cpu_kept,
)

DEEPEST = 6  # callers shown of each thread
# docs/os/boot.md
WINDOW, KERNEL_AREAS, LAST_PAGE = 0xFFFF800000000000, 0xFFFFC00000000000, 0xFFFFFFFFFFFFF000


def callers_by_frame_pointer(instruction: int, frame: int):
    """Return addresses, innermost first; ends where the chain does."""
    yield instruction
    try:
        while frame and frame % 8 == 0:
            following, address = read_word(frame), read_word(frame + 8)
            if not is_code(address):
                return
            yield address
            if following <= frame:
                return
            frame = following
    except gdb.MemoryError:
        return


def callers_of_this_cpu():
    """As GDB finds them: it knows how far a function is in building its frame."""
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() != gdb.INLINE_FRAME:
            yield frame.pc()
        try:
            frame = frame.older()
        except gdb.error:
            return


def show_callers(addresses):
    for depth, address in enumerate(addresses):
        if depth == DEEPEST:
            print("        ...")
            return
        print(f"        {address:#018x} {place_of(address)}")


def saved_place(thread: gdb.Value) -> tuple[int, int, int]:
    """Stack pointer, instruction and frame pointer of a thread that does not run: what the context switch pushed."""
    saved = int(thread["saved_context"])
    if saved == 0:
        return 0, 0, 0
    frame = pointer_to("ingot::os::arch::SwitchFrame", saved)
    return saved, int(frame["return_address"]), int(frame["rbp"])


def describe(thread: gdb.Value) -> str:
    return f'"{text_of_view(thread["name_"])}" {enumerator(atomic(thread["state_"]))} ({int(thread.address):#x})'


def show_sleeping(thread: gdb.Value, where: str):
    stack, instruction, frame = saved_place(thread)
    print(f"  {where:14} {describe(thread)}  stack {stack:#x}")
    if thread["waits_for"] != 0:
        mutex = thread["waits_for"].cast(gdb.lookup_type("ingot::os::Mutex").pointer())
        print(f"        waits for the mutex at {int(mutex):#x}, {mutex_holder(mutex.dereference())}")
    if instruction:
        show_callers(callers_by_frame_pointer(instruction, frame))


def ready_threads(processor: gdb.Value) -> list[gdb.Value]:
    threads = processor["ready"]["threads_"]["data_"]
    return [*list_elements(threads["first"]), *list_elements(threads["others"])]


def kernel_stacks() -> list[tuple[int, int]]:
    """Bottom and top of the stacks of kernel threads: pages of the kernel's areas that hold frames of their own."""
    stacks = []
    for page in page_commands.all_pages():
        if page.begin < KERNEL_AREAS or not page.what.endswith("counted"):
            continue
        if stacks and stacks[-1][1] == page.begin:
            stacks[-1] = (stacks[-1][0], page.begin + page.bytes)
        else:
            stacks.append((page.begin, page.begin + page.bytes))
    return stacks


def sleeping_threads(known: set[int]):
    """Threads that neither run nor are ready. No list holds them all, but each left its address on its own stack: a word
    there that is a Thread's address, if that Thread's stack pointer was left inside the same stack."""
    inferior = gdb.selected_inferior()
    for bottom, top in kernel_stacks():
        words = set(struct.unpack(f"<{(top - bottom) // 8}Q", bytes(inferior.read_memory(bottom, top - bottom))))
        for word in sorted(words):
            if not WINDOW <= word < LAST_PAGE or word % 8 != 0 or word in known:
                continue
            thread = pointer_to("ingot::os::Thread", word).dereference()
            if is_left_on(thread, bottom, top):
                known.add(word)
                yield thread


def is_left_on(thread: gdb.Value, bottom: int, top: int) -> bool:
    """Whether this may be a Thread that left its stack between those addresses, or is something else."""
    try:
        if not bottom <= read_word(int(thread["saved_context"].address)) <= top - 56:
            return False
        named = 0 < int(thread["name_"]["_M_len"]) < 100 and int(thread["name_"]["_M_str"]) >= WINDOW
        return named and is_code(saved_place(thread)[1]) and enumerator(atomic(thread["state_"])).isidentifier()
    except gdb.MemoryError:
        return False


def show_processor(cpu: gdb.InferiorThread, processor: gdb.Value | None):
    if processor is None:
        print(f"CPU (GDB's thread {cpu.num}): not started")
        return
    current = processor["current"]
    print(f"CPU {int(processor['index'])} (GDB's thread {cpu.num}):")
    if current != 0:
        cpu.switch()
        stack = int(gdb.parse_and_eval("(unsigned long)$rsp"))
        print(f"  {'runs':14} {describe(current.dereference())}  stack {stack:#x}")
        show_callers(callers_of_this_cpu())
    if current != processor["idle"].address:
        show_sleeping(processor["idle"], "idle")
    for thread in ready_threads(processor):
        show_sleeping(thread, "ready")


def ingot_threads(_argument: str):
    """ingot-threads: the thread that each CPU runs, its idle thread, those in its queue, and those that sleep."""
    with_selected_cpu_kept(lambda: [show_processor(*pair) for pair in processors()])
    awake = set()
    for _, processor in processors():
        if processor is not None:
            awake |= {int(processor["current"]), int(processor["idle"].address)}
            awake |= {int(thread.address) for thread in ready_threads(processor)}
    print("on no CPU:")
    for thread in sleeping_threads(awake):
        show_sleeping(thread, "asleep")


def ingot_queues(_argument: str):
    """ingot-queues: the run queue of each CPU, the thread that runs next first."""
    for cpu, processor in processors():
        if processor is None:
            continue
        queue = processor["ready"]
        threads = [text_of_view(thread["name_"]) for thread in ready_threads(processor)]
        holder = int(atomic(queue["threads_"]["lock_"]["holder_"]))
        held = f" (locked by CPU {holder - 1})" if holder else ""
        print(
            f"CPU {int(processor['index'])}: {int(atomic(queue['count_']))} ready{held}, {int(processor['switches'])}"
            f" switches, {int(processor['steals'])} stolen: {', '.join(threads) or 'none'}"
        )


def show_held(checker: gdb.Value, whose: str):
    if checker == 0:
        print(f"{whose}: not checked (the kernel's option check-locks)")
        return
    count = int(checker["count_"])
    print(f"{whose}: {count} held")
    for index in range(count):
        held = checker["held_"]["_M_elems"][index]
        print(f"  {enumerator(held['rank']):14} {int(held['lock']):#x} {place_of(int(held['lock']))}")


def ingot_locks(_argument: str):
    """ingot-locks: the locks that each CPU, and the thread on it, hold, the outermost first, where they are checked."""
    for cpu, processor in processors():
        if processor is None:
            continue
        number = int(processor["index"])
        for checker in (processor["lock_checker"], processor["other_lock_checker"]):
            whose = f", {enumerator(checker['holder_'])}" if checker != 0 else ""
            show_held(checker, f"CPU {number}{whose}")
        if processor["current"] != 0:
            name = text_of_view(processor["current"]["name_"])
            show_held(processor["current"]["lock_checker"], f'CPU {number}, thread "{name}"')


def register():
    register_commands(ingot_threads, ingot_queues, ingot_locks)
