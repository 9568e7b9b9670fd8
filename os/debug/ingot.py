"""The Ingot kernel as a debugger sees it: how its types are printed, and commands that show its state.

In GDB, beside an image with debug information: source os/debug/ingot.py. `make debug-os` does that.
"""

import sys
from pathlib import Path

import gdb

sys.path.insert(0, str(Path(__file__).resolve().parent))
import memory_commands  # noqa: E402
import page_commands  # noqa: E402
import printers  # noqa: E402
import schedule_commands  # noqa: E402

printers.register()
for module in (memory_commands, page_commands, schedule_commands):
    module.register()

gdb.write("Ingot: ingot-threads, ingot-queues, ingot-locks, ingot-pages, ingot-frames, ingot-memory-map, ingot-log\n")
