"""How GDB prints the kernel's types, and those of the library beneath that it prints badly in an image without it."""

import gdb
import gdb.printing
from kernel_values import enumerator, list_elements, mutex_holder, optional, text_of_fixed, text_of_view


class Printer:
    def __init__(self, value: gdb.Value):
        self.value = value


class PhysicalAddress(Printer):
    def to_string(self):
        return f"physical {int(self.value['value_']):#x}"


class VirtualAddress(Printer):
    def to_string(self):
        return f"virtual {int(self.value['value_']):#x}"


class FrameNumber(Printer):
    def to_string(self):
        number = int(self.value["value_"])
        return f"frame {number:#x} at physical {number << 12:#x}"


class Error(Printer):
    def to_string(self):
        return f"error {enumerator(self.value['code_'])}: {text_of_fixed(self.value['text_'])}"


class Result(Printer):
    def to_string(self):
        if not self.value["has_value_"]:
            return f"{self.value['error_']}"
        # A Result<void> has no value to show.
        fields = [field.name for field in self.value.type.strip_typedefs().fields()]
        return f"ok {self.value['value_']}" if "value_" in self._names() or "value_" in fields else "ok"

    def _names(self):
        """Names inside the anonymous union."""
        for field in self.value.type.strip_typedefs().fields():
            if field.name is None or field.name == "":
                return [inner.name for inner in field.type.fields()]
        return []


class Optional(Printer):
    def to_string(self):
        held = optional(self.value)
        return "nothing" if held is None else f"{held}"


class Text(Printer):
    def to_string(self):
        return text_of_fixed(self.value)

    def display_hint(self):
        return "string"


class View(Printer):
    def to_string(self):
        return text_of_view(self.value)

    def display_hint(self):
        return "string"


class Atomic(Printer):
    def to_string(self):
        return f"atomic {self.value['value_']}"


class Span(Printer):
    def to_string(self):
        return f"span of {self._size()}"

    def _size(self):
        extent = self.value.type.strip_typedefs().template_argument(1)
        dynamic = int(extent) in (-1, 2**64 - 1)
        return int(self.value["_M_extent"]["_M_extent_value"]) if dynamic else int(extent)

    def children(self):
        for index in range(self._size()):
            yield f"[{index}]", (self.value["_M_ptr"] + index).dereference()

    def display_hint(self):
        return "array"


class IntrusiveList(Printer):
    def to_string(self):
        return f"list of {sum(1 for _ in list_elements(self.value))}"

    def children(self):
        for index, element in enumerate(list_elements(self.value)):
            yield f"[{index}]", element.address

    def display_hint(self):
        return "array"


class Thread(Printer):
    def to_string(self):
        name, state = text_of_view(self.value["name_"]), enumerator(self.value["state_"]["value_"])
        return f"thread \"{name}\", {state}, last on CPU {int(self.value['last_cpu_']['value_'])}"


class SpinLock(Printer):
    def to_string(self):
        holder = int(self.value["holder_"]["value_"])
        return f"spin lock of rank {enumerator(self.value['rank_'])}, " + (f"held by CPU {holder - 1}" if holder else "free")


class Mutex(Printer):
    def to_string(self):
        return f"mutex of rank {enumerator(self.value['rank_'])}, {mutex_holder(self.value)}"


def register():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("ingot")
    for name, pattern, printer in (
        ("PhysicalAddress", r"^ingot::os::Address<.*PhysicalAddressTag>$", PhysicalAddress),
        ("VirtualAddress", r"^ingot::os::Address<.*VirtualAddressTag>$", VirtualAddress),
        ("FrameNumber", r"^ingot::os::FrameNumber$", FrameNumber),
        ("Error", r"^ingot::Error$", Error),
        ("Result", r"^ingot::Result<.*>$", Result),
        ("FixedText", r"^ingot::FixedText<.*>$", Text),
        ("Atomic", r"^ingot::Atomic<.*>$", Atomic),
        ("IntrusiveList", r"^ingot::IntrusiveList<.*>$", IntrusiveList),
        ("Thread", r"^ingot::os::Thread$", Thread),
        ("SpinLock", r"^ingot::os::SpinLock$", SpinLock),
        ("Mutex", r"^ingot::os::Mutex$", Mutex),
        ("optional", r"^std::optional<.*>$", Optional),
        ("string_view", r"^std::basic_string_view<char.*>$", View),
        ("span", r"^std::span<.*>$", Span),
    ):
        collection.add_printer(name, pattern, printer)
    gdb.printing.register_pretty_printer(None, collection, replace=True)
