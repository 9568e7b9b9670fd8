"""Reading the kernel's objects: what its own accessors would say, without calling them in the guest."""

import re
import sys
from pathlib import Path

import gdb

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "images"))
from list_symbols import short_name  # noqa: E402


def atomic(value: gdb.Value) -> gdb.Value:
    return value["value_"]


def text_of_view(view: gdb.Value) -> str:
    """A std::string_view."""
    length = int(view["_M_len"])
    return view["_M_str"].string(encoding="utf-8", errors="replace", length=length) if length else ""


def text_of_fixed(text: gdb.Value) -> str:
    """A FixedText."""
    length = int(text["length_"])
    return text["characters_"][0].address.string(encoding="utf-8", errors="replace", length=length) if length else ""


def optional(value: gdb.Value) -> gdb.Value | None:
    """What a std::optional holds."""
    payload = value["_M_payload"]
    return payload["_M_payload"]["_M_value"] if payload["_M_engaged"] else None


def enumerator(value: gdb.Value) -> str:
    """An enumerator's own name: blocked, of ingot::os::ThreadState::blocked."""
    return str(value).rpartition("::")[2]


def list_elements(value: gdb.Value):
    """The elements of an IntrusiveList, in order; a broken link ends them with an error of GDB."""
    element = value.type.strip_typedefs().template_argument(0).pointer()
    head = value["head_"].address
    link = head["next_"]
    while link != head and link != 0:
        yield link.cast(element).dereference()
        link = link["next_"]


def mutex_holder(mutex: gdb.Value) -> str:
    """In words: the holder's address carries in its lowest bit whether somebody may wait."""
    word = int(atomic(mutex["holder_"]))
    if word == 0:
        return "free"
    holder = pointer_to("ingot::os::Thread", word & ~1)
    return f'held by "{text_of_view(holder["name_"])}"' + (", waited for" if word & 1 else "")


def plain_name(kind: gdb.Type) -> str:
    return kind.strip_typedefs().unqualified().name or ""


def members_of(value: gdb.Value, name: re.Pattern, depth: int = 14):
    """Every part of an object whose type's name matches. Not through pointers, nor into arrays.

    So a command finds what it shows wherever the kernel keeps it: behind a lock, in an optional, in a larger object.
    """
    kind = value.type.strip_typedefs()
    if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return
    if name.fullmatch(plain_name(kind)):
        yield value
        return
    if depth == 0:
        return
    if plain_name(kind).startswith("std::optional<"):
        held = optional(value)
        if held is not None:
            yield from members_of(held, name, depth - 1)
        return
    for field in kind.fields():
        if not hasattr(field, "bitpos"):  # static
            continue
        yield from members_of(value[field], name, depth - 1)


def first_member(value: gdb.Value, name: str) -> gdb.Value:
    """Raises a GdbError where the kernel has none, or none yet."""
    found = next(members_of(value, re.compile(re.escape(name))), None)
    if found is None:
        raise gdb.GdbError(f"expected a {name} in the kernel, found none: it may not have been created yet")
    return found


def processors() -> list[tuple[gdb.InferiorThread, gdb.Value | None]]:
    """Every CPU with its Processor, which GS points to; without one where the CPU has not started."""
    found = []
    with_selected_cpu_kept(lambda: found.extend(_processors()))
    return found


def with_selected_cpu_kept(use):
    selected = gdb.selected_thread()
    try:
        return use()
    finally:
        if selected is not None and selected.is_valid():
            selected.switch()


def _processors():
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda one: one.num):
        thread.switch()
        base = int(gdb.parse_and_eval("(unsigned long)$gs_base"))
        yield thread, pointer_to("ingot::os::Processor", base).dereference() if base else None


def pointer_to(kind: str, address: int) -> gdb.Value:
    return gdb.Value(address).cast(gdb.lookup_type(kind).pointer())


def kernel() -> gdb.Value:
    """The one Kernel, which every CPU knows."""
    for _, processor in processors():
        if processor is not None and processor["kernel"] != 0:
            return processor["kernel"].dereference()
    raise gdb.GdbError("expected a CPU that knows its kernel, found none: the start-up has not come to adopt_boot_cpu")


def place_of(address: int) -> str:
    """function + offset, as a panic's backtrace has it; empty where no symbol is near."""
    text = gdb.execute(f"info symbol {address:#x}", to_string=True).strip()
    if text.startswith("No symbol"):
        return ""
    name, _, offset = text.partition(" in section")[0].rpartition(" + ")
    return f"{short_name(name)} + {offset}" if name else short_name(offset)


def is_code(address: int) -> bool:
    begin, end = (int(gdb.parse_and_eval(f"(unsigned long)&{name}")) for name in ("ingot_text_begin", "ingot_text_end"))
    return begin <= address < end


def read_word(address: int) -> int:
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, 8)), "little")


def register_commands(*commands):
    """Each a function (argument) whose name and documentation become the command's: ingot_log is ingot-log."""
    for function in commands:

        class Command(gdb.Command):
            __doc__ = function.__doc__

            def __init__(self, body=function):
                super().__init__(body.__name__.replace("_", "-"), gdb.COMMAND_DATA)
                self.body = body

            def invoke(self, argument, from_tty):
                self.dont_repeat()
                self.body(argument)

        Command()
