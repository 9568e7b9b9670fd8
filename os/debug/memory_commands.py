"""ingot-frames, ingot-memory-map and ingot-log: what the kernel wrote down about its memory and its life."""

from kernel_values import enumerator, first_member, kernel, register_commands, text_of_fixed

ZONES = ("above 4 GiB", "16 MiB to 4 GiB", "below 16 MiB")


def ingot_frames(_argument: str):
    """ingot-frames: how many frames of 4 KiB there are, and how many are free where."""
    allocator = first_member(kernel(), "ingot::os::FrameAllocator")
    statistics = allocator["statistics_"]
    free = [int(allocator["free_"]["_M_elems"][zone]) for zone in range(len(ZONES))]
    total = int(statistics["total"])
    print(f"frames: {total} in all, {sum(free)} free, {total - sum(free)} in use or in the caches of CPUs")
    for zone, count in zip(ZONES, free):
        print(f"  free {zone:16} {count}")
    for name in ("allocations", "failures", "metadata_bytes", "unreachable_frames"):
        print(f"  {name:21} {int(statistics[name])}")


def ingot_memory_map(_argument: str):
    """ingot-memory-map: physical memory as the loader described it, and what became of it."""
    memory = kernel()["boot_info"]["memory"]
    for index in range(int(memory["count_"])):
        entry = memory["ranges_"]["_M_elems"][index]
        begin, size = int(entry["begin"]["value_"]), int(entry["bytes"])
        print(f"{begin:#014x} - {begin + size:#014x}  {size >> 10:10} KiB  {enumerator(entry['kind'])}")


def ingot_log(_argument: str):
    """ingot-log: the lines that the log still keeps, from the oldest to the newest."""
    log = kernel()["log"]
    kept, written = log["kept_"]["_M_elems"], int(log["written_"])
    capacity = kept.type.strip_typedefs().range()[1] + 1
    for index in range(max(0, written - capacity), written):
        print(text_of_fixed(kept[index % capacity]))


def register():
    register_commands(ingot_frames, ingot_memory_map, ingot_log)
