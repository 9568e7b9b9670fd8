#!/usr/bin/env python3
"""Holds the OS kernel to its budgets: lines and bytes of each subsystem, who includes whom, the length of a file, the
size of whole kernels, a reason for every assembly.

usage: check_budgets.py ROOT [IMAGES]

os/budgets.txt in ROOT names the subsystems and their ceilings. IMAGES is the folder of the built kernels and of the
linker's maps of those that are shipped; without it no bytes are looked at. A subsystem's bytes are those in the kernel that
has most of it; in a kernel whose line does not name it, it has none.

Lines are lines of code, neither blank nor comment, so that nobody saves an explanation to meet a ceiling. Why something is
assembly is said in a comment that holds that word: at the head of the file, or within three lines above the statement.
"""

import re
import struct
import sys
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

MOST_LINES_OF_A_FILE = 400
COUNTED = {".h", ".cc", ".S", ".ld"}
COMMENT = re.compile(r"^\s*(//|/?\*|$)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
ASSEMBLY = re.compile(r"\b(?:asm|__asm__)\b(?:\s+volatile|\s+goto)*\s*\(")
# An input section of a linker map, its name on the line before where it is long: name, address, size, object.
MAPPED = re.compile(r"^ (\.\S+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S.*)$", re.MULTILINE)
ARCHIVED = re.compile(r"\((.+)\.o(?:bj)?\)$")
NOT_LOADED = (".bss", ".debug", ".comment", ".note")
LOADABLE = 1  # PT_LOAD of the ELF specification


@dataclass
class Subsystem:
    name: str
    most_lines: int | None
    most_bytes: int | None
    includes: set[str]
    lines: int = 0
    size: int = 0


@dataclass
class Kernel:
    most_bytes: int
    subsystems: set[str]


@dataclass
class Budgets:
    subsystems: dict[str, Subsystem] = field(default_factory=dict)
    globs: list[tuple[str, Subsystem]] = field(default_factory=list)
    kernels: dict[str, Kernel] = field(default_factory=dict)

    def owner_of(self, path: str) -> Subsystem | None:
        return next((owner for glob, owner in reversed(self.globs) if fnmatch(path, glob)), None)


def parse_count(text: str) -> int | None:
    if text == "-":
        return None
    match = re.fullmatch(r"(\d+)(K?)", text)
    if match is None:
        sys.exit(f"os/budgets.txt: expected a number such as 8000 or 256K, or -, found '{text}'")
    return int(match[1]) * (1024 if match[2] else 1)


def parse_budgets(text: str) -> Budgets:
    budgets, subsystem = Budgets(), None
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] == "kernel" and len(words) > 3:
            budgets.kernels[words[1]] = Kernel(parse_count(words[2]), set(words[3:]))
        elif not line[0].isspace() and len(words) >= 3:
            subsystem = Subsystem(words[0], parse_count(words[1]), parse_count(words[2]), set(words[3:]))
            budgets.subsystems[subsystem.name] = subsystem
        elif line[0].isspace() and subsystem is not None:
            budgets.globs += [(glob, subsystem) for glob in words]
        else:
            sys.exit(f"os/budgets.txt: expected a subsystem, its globs or a kernel, found '{line}'")
    for subsystem in budgets.subsystems.values():
        for name in subsystem.includes - budgets.subsystems.keys():
            sys.exit(f"os/budgets.txt: {subsystem.name}: expected subsystems that it may include, found '{name}'")
    for path, kernel in budgets.kernels.items():
        for name in kernel.subsystems - budgets.subsystems.keys():
            sys.exit(f"os/budgets.txt: {path}: expected subsystems that may be in it, found '{name}'")
    return budgets


def sources_of(root: Path) -> dict[str, list[str]]:
    paths = sorted(path for folder in ("base", "os") for path in (root / folder).rglob("*") if path.is_file())
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8").splitlines()
        for path in paths
        if path.suffix in COUNTED
    }


def unwelcome_includes(budgets: Budgets, path: str, owner: Subsystem, lines: list[str]) -> list[str]:
    problems = []
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        target = budgets.owner_of(match[1]) if match else None
        # What lies in base is there for everybody to see, whoever pays for it.
        if target in (None, owner) or match[1].startswith("base/") or target.name in owner.includes:
            continue
        expected = ", ".join(sorted(owner.includes)) or "no other subsystem"
        problems.append(f"{path}:{number}: {owner.name} may include {expected}, found {match[1]} of {target.name}")
    return problems


def head_of(lines: list[str]) -> str:
    """The comment a file begins with."""
    head = []
    for line in lines:
        if not line.startswith("//"):
            break
        head.append(line)
    return "\n".join(head)


def unexplained_assembly(path: str, lines: list[str]) -> list[str]:
    def explains(text: str) -> bool:
        return "assembly" in text.lower()

    if explains(head_of(lines)):
        return []
    if path.endswith(".S"):
        return [f"{path}: expected a comment at its head that says why it is assembly, found none"]
    missing = []
    for index, line in enumerate(lines):
        code, _, comment = line.partition("//")
        comments = [above.partition("//")[2] for above in lines[max(0, index - 3) : index]] + [comment]
        if ASSEMBLY.search(code) and not any(explains(text) for text in comments):
            missing.append(f"{path}:{index + 1}: expected a comment above that says why it is assembly, found none")
    return missing


def count_sources(budgets: Budgets, sources: dict[str, list[str]]) -> list[str]:
    problems = []
    for path, lines in sources.items():
        owner = budgets.owner_of(path)
        if owner is None:
            if path.startswith("os/"):
                problems.append(f"{path}: expected a subsystem of os/budgets.txt that it belongs to, found none")
            continue
        owner.lines += sum(not COMMENT.match(line) for line in lines)
        problems += unexplained_assembly(path, lines)
        problems += unwelcome_includes(budgets, path, owner, lines)
        if len(lines) > MOST_LINES_OF_A_FILE:
            problems.append(f"{path}: expected at most {MOST_LINES_OF_A_FILE} lines, found {len(lines)}")
    return problems


def owners_of_objects(budgets: Budgets, sources: dict[str, list[str]]) -> tuple[dict[str, Subsystem], list[str]]:
    """A linker's map names members of an archive without their folders, so no two sources may have one name. A folder's joined
    sources are named after it, and stand for the subsystem of the folder's first source."""
    linked = [path for path in sources if path.endswith((".cc", ".S")) and budgets.owner_of(path) is not None]
    owners, problems = {}, []
    for path in linked:
        owner = budgets.owner_of(path)
        # These are linked into other files than the kernel: the host's tests, the firmware's loader, what programs call.
        if owner.most_bytes is None or path.startswith(("os/uefi/", "os/process/vdso/", "os/images/")):
            continue
        if Path(path).name in owners:
            problems.append(f"{path}: expected a name of its own for the linker's map, found another of this name")
        owners[Path(path).name] = owner
        joined = Path(path).parent.relative_to(path.split("/")[0]).as_posix().replace("/", "_")
        owners.setdefault(f"unity_{joined}_cxx.cxx", owner)
    return owners, problems


def bytes_of_subsystems(owners: dict[str, Subsystem], linker_map: Path) -> Counter[str]:
    sizes = Counter()
    text = linker_map.read_text(encoding="utf-8").partition("Linker script and memory map")[2]
    for name, size, origin in MAPPED.findall(re.sub(r"^( \.\S+)\n\s+", r"\1 ", text, flags=re.MULTILINE)):
        if name.startswith(NOT_LOADED):
            continue
        archived = ARCHIVED.search(origin)
        owner = owners.get(archived[1]) if archived else None
        # The payload, the vDSO's bytes and the two lists are what the image adds to the kernel's own sources.
        sizes[owner.name if owner else "image"] += int(size, 16)
    return sizes


def map_of(images: Path, kernel: str) -> Path:
    return images / f"{kernel.replace('kernels/', 'kernel_')}.map"


def check_kernels(budgets: Budgets, sources: dict[str, list[str]], images: Path) -> list[str]:
    owners, problems = owners_of_objects(budgets, sources)
    built = {f"kernels/{path.name}" for path in (images / "kernels").iterdir()}
    for name in built - budgets.kernels.keys():
        problems.append(f"{name}: expected a line 'kernel {name} ...' in os/budgets.txt, found none")
    for name, kernel in budgets.kernels.items():
        size = segment_bytes(images / name)
        print(f"{of_ceiling(size, kernel.most_bytes)} bytes are loaded of {name}")
        if size > kernel.most_bytes:
            problems.append(f"{name}: expected at most {kernel.most_bytes} bytes in its segments, found {size}")
        if name not in built:
            continue
        for subsystem, size in bytes_of_subsystems(owners, map_of(images, name)).items():
            budgets.subsystems[subsystem].size = max(budgets.subsystems[subsystem].size, size)
            if size > 0 and subsystem not in kernel.subsystems:
                problems.append(f"{name}: expected nothing of {subsystem} in it, found {size} bytes")
    return problems


def segment_bytes(image: Path) -> int:
    """What the loadable segments take in the file: symbols for a debugger are not loaded and do not count."""
    content = image.read_bytes()
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", content, table + index * size) for index in range(count)]
    return sum(header[5] for header in headers if header[0] == LOADABLE)


def of_ceiling(found: int, most: int | None) -> str:
    return f"{found:7,}" + (" " * 11 if most is None else f" of {most:7,}")


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[1])
    budgets = parse_budgets((root / "os/budgets.txt").read_text(encoding="utf-8"))
    sources = sources_of(root)
    problems = count_sources(budgets, sources)
    if len(arguments) == 3:
        problems += check_kernels(budgets, sources, Path(arguments[2]))
    for subsystem in budgets.subsystems.values():
        print(
            f"{of_ceiling(subsystem.lines, subsystem.most_lines)} lines, "
            f"{of_ceiling(subsystem.size, subsystem.most_bytes)} bytes  {subsystem.name}"
        )
        for found, most, unit in (
            (subsystem.lines, subsystem.most_lines, "lines of code"),
            (subsystem.size, subsystem.most_bytes, "bytes in the kernel"),
        ):
            if most is not None and found > most:
                problems.append(f"{subsystem.name}: expected at most {most:,} {unit}, found {found:,}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
