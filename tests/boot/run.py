#!/usr/bin/env python3
"""Boots a test image in QEMU and judges it.

usage: run.py IMAGE SOURCE [--machine microvm|q35] [--loader pvh|grub|uefi|disk] [--memory MIB] [--processors COUNT]
              [--boots COUNT] [--show]

What is expected stands in the source, in comments; and what it needs, which options override:

    // boot-test: success            the kernel ends by itself; or: panic, poweroff, reset
    // boot-test: expect TEXT        a line of the log holds TEXT; several in this order
    // boot-test: machine q35        also: loader, processor, memory, processors, options, seconds, boots, initramfs
    // boot-test: device edu         one more device, as -device has it; several. BUS: device on a microvm, else pci
    // boot-test: qemu -rtc base=... further words of the emulator's command line
    // boot-test: file PATH TEXT     a file of an initramfs with this content; several. A link: file PATH -> TARGET
    // boot-test: keys a shift-b     typed once the log says "waiting for keys"; names as QEMU's sendkey has them
    // boot-test: monitor COMMAND    to QEMU, once the log says "waiting for the monitor"
    // boot-test: vary TEXT          over --boots the first line with TEXT is not always the same

The log arrives over isa-debugcon, the verdict over isa-debug-exit. Exits 0 when all is as expected, 1 when not, and 77
(a skip to CTest) where there is no QEMU, or neither GRUB for PCs nor UEFI firmware where one is asked for.
"""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from archive import make_archive

EMULATOR = "qemu-system-x86_64"
# GRUB's modules for PCs; a host of another architecture may have them elsewhere.
GRUB_MODULES = Path(os.environ.get("INGOT_GRUB_MODULES", "/usr/lib/grub/i386-pc"))
# UEFI firmware: its code, and the variables that it writes.
FIRMWARE = [Path("/usr/share/OVMF") / name for name in ("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd")]
SKIPPED = 77
# isa-debug-exit: twice the value that Power::stop writes, plus one. Where the machine itself must end the emulator, its
# trace tells whether it was switched off: a reset ends it as well.
STATUS = {"success": 33, "panic": 35, "poweroff": 0, "reset": 0}
MACHINE_ENDS = ("poweroff", "reset")
SWITCHED_OFF = "qemu_system_shutdown_request"
DIRECTIVE = re.compile(r"^// boot-test: (\w+) ?(.*)$", re.MULTILINE)
# What a source may ask for, and what it gets when it does not.
DEFAULTS = {
    "machine": "microvm", "processor": "max", "memory": 128, "processors": 1, "options": "", "seconds": 60.0,
    "boots": 1, "initramfs": "", "loader": "pvh",
}  # fmt: skip


class Expectation:
    def __init__(self, source: Path):
        self.outcome = None
        self.texts = []
        self.varying = []
        self.devices = []
        self.emulator_words = []
        self.files = []
        self.commands = []
        self.settings = dict(DEFAULTS)
        for word, rest in DIRECTIVE.findall(source.read_text(encoding="utf-8")):
            if word == "expect":
                self.texts.append(rest)
            elif word == "vary":
                self.varying.append(rest)
            elif word == "device":
                self.devices.append(rest)
            elif word == "keys":
                self.commands += [f"sendkey {key} 20" for key in rest.split()]
            elif word == "monitor":
                self.commands.append(rest)
            elif word == "qemu":
                self.emulator_words += rest.split()
            elif word == "file":
                self.files.append(rest.split(" ", 1))
            elif word in DEFAULTS:
                self.settings[word] = type(DEFAULTS[word])(rest)
            elif word in STATUS and self.outcome is None:
                self.outcome = word
            else:
                known = ", ".join([*STATUS, "expect", "vary", "device", "keys", "monitor", "qemu", "file", *DEFAULTS])
                sys.exit(f"{source}: expected one of {known}, found '{word}'")
        if self.files:
            self.settings["initramfs"] = make_archive(self.files)
        if self.outcome is None:
            sys.exit(f"{source}: expected a line '// boot-test: success' or '... panic', found none")

    def missing_from(self, lines: list[str]) -> str | None:
        """The first expected text that no line holds, in order."""
        position = 0
        for text in self.texts:
            while position < len(lines) and text not in lines[position]:
                position += 1
            if position == len(lines):
                return text
        return None

    def constant_in(self, logs: list[list[str]]) -> str | None:
        """The first text that should vary between boots and does not."""
        for text in self.varying:
            found = {next((line for line in lines if text in line), "") for lines in logs}
            if len(found) == 1:
                return found.pop()
        return None


def missing_tool(arguments: argparse.Namespace) -> str | None:
    if shutil.which(EMULATOR) is None:
        return f"expected {EMULATOR}, found none (scripts/packages build)"
    if arguments.loader == "grub" and (shutil.which("grub-mkrescue") is None or not GRUB_MODULES.is_dir()):
        return f"expected grub-mkrescue and {GRUB_MODULES}, found not both (scripts/packages check)"
    if arguments.loader in ("uefi", "disk") and not all(file.is_file() for file in FIRMWARE):
        return f"expected {FIRMWARE[0]}, found none (scripts/packages check)"
    return None


def emulator_command(
    machine: str, processor: str, memory: int, loading: list[str], processors: int = 1, accelerator: str = "tcg"
) -> list[str]:
    """The log goes to standard output, and the kernel ends the emulator."""
    if processors > 1 and accelerator == "tcg":
        accelerator = "tcg,thread=multi"  # each processor a thread of its own: they run at once, as real ones do
    return [
        EMULATOR, "-machine", machine, "-accel", accelerator, "-cpu", processor, "-m", f"{memory}M", "-smp", str(processors),
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", *loading,
        "-chardev", "stdio,id=log", "-device", "isa-debugcon,iobase=0xe9,chardev=log",
        "-device", "isa-debug-exit,iobase=0xf4,iosize=0x4",
    ]  # fmt: skip


def counting_options() -> list[str]:
    """With these the guest's cycle counter counts instructions, and each run is like the other."""
    return ["-icount", "shift=0,sleep=off", "-rtc", "base=2024-01-01,clock=vm", "-seed", "1"]


def make_disc(image: Path, options: str, initramfs: str, folder: Path) -> Path:
    """A CD that GRUB boots the image from."""
    (folder / "disc/boot/grub").mkdir(parents=True)
    shutil.copy(image, folder / "disc/boot/kernel")
    menu = f"insmod all_video\nmultiboot2 /boot/kernel {options}\n"
    if initramfs:
        (folder / "disc/boot/initramfs").write_text(initramfs, encoding="utf-8")
        menu += "module2 /boot/initramfs\n"
    menu += "boot\n"
    (folder / "disc/boot/grub/grub.cfg").write_text(menu, encoding="utf-8")
    disc = folder / "disc.iso"
    command = ["grub-mkrescue", f"--directory={GRUB_MODULES}", "-o", disc, folder / "disc"]
    subprocess.run(command, check=True, capture_output=True)
    return disc


def firmware(folder: Path) -> list[str]:
    """UEFI's code, and variables of its own."""
    shutil.copy(FIRMWARE[1], folder / "variables")
    return [
        "-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={FIRMWARE[0]}",
        "-drive", f"if=pflash,format=raw,unit=1,file={folder}/variables",
    ]  # fmt: skip


def make_volume(image: Path, options: str, initramfs: str, folder: Path) -> list[str]:
    """A folder that the emulator shows as a FAT volume, with our loader where firmware looks for one."""
    for name in ("EFI/BOOT", "ingot"):
        (folder / "volume" / name).mkdir(parents=True)
    shutil.copy(image.parent / "BOOTX64.EFI", folder / "volume/EFI/BOOT")
    shutil.copy(image, folder / "volume/ingot/kernel")
    (folder / "volume/ingot/options").write_text(options, encoding="utf-8")
    if initramfs:
        (folder / "volume/ingot/initramfs").write_text(initramfs, encoding="utf-8")
    return [*firmware(folder), "-drive", f"format=raw,file=fat:rw:{folder}/volume"]


def command_for(arguments: argparse.Namespace, expectation: Expectation, folder: Path) -> list[str]:
    end = [] if expectation.outcome in MACHINE_ENDS else ["debug-exit"]
    options = " ".join([*end, "check-locks", "poison", *arguments.options.split()])
    if arguments.loader == "grub":
        loading = ["-cdrom", str(make_disc(arguments.image, options, arguments.initramfs, folder))]
    elif arguments.loader == "uefi":
        loading = make_volume(arguments.image, options, arguments.initramfs, folder)
    elif arguments.loader == "disk":  # the image is a whole disk, with its own options
        loading = [*firmware(folder), "-drive", f"format=raw,snapshot=on,file={arguments.image}"]
    else:
        loading = ["-kernel", str(arguments.image), "-append", options]
        if arguments.initramfs:
            (folder / "initramfs").write_text(arguments.initramfs, encoding="utf-8")
            loading += ["-initrd", str(folder / "initramfs")]
    for device in expectation.devices:
        loading += ["-device", device.replace("BUS", "device" if arguments.machine.startswith("microvm") else "pci")]
    loading += expectation.emulator_words
    if expectation.outcome in MACHINE_ENDS:
        loading += ["-trace", SWITCHED_OFF]
    return emulator_command(
        arguments.machine, arguments.processor, arguments.memory, loading, arguments.processors, arguments.accelerator
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--loader", choices=["pvh", "grub", "uefi", "disk"])
    parser.add_argument("--accelerator", default="tcg", help="tcg,thread=multi: every processor a thread of its own")
    parser.add_argument("--machine")
    parser.add_argument("--processor", help="as -cpu has it")
    parser.add_argument("--memory", type=int, help="MiB")
    parser.add_argument("--processors", type=int)
    parser.add_argument("--options", help="further words of the kernel's command line")
    parser.add_argument("--seconds", type=float, help="at most, a boot")
    parser.add_argument("--initramfs", help="the text that is one")
    parser.add_argument("--boots", type=int, help="how often; what should vary is then compared")
    parser.add_argument("--show", action="store_true", help="print the log also when all is well")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    expectation = Expectation(arguments.source)
    for name, value in expectation.settings.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    if (missing := missing_tool(arguments)) is not None:
        print(f"SKIPPED {arguments.image.name}: {missing}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        command = command_for(arguments, expectation, Path(folder))
        logs = []
        while len(logs) < arguments.boots:
            problem, lines = boot(arguments, command, expectation)
            logs.append(lines)
            if problem is None and 1 < arguments.boots == len(logs) and (constant := expectation.constant_in(logs)):
                problem = f"expected boots that differ, found {arguments.boots} times '{constant}'"
            if problem is not None:
                print(f"FAILED {arguments.image.name} on {arguments.machine}: {problem}\n  {' '.join(command)}")
                return 1
    print(f"passed {arguments.image.name} on {arguments.machine}: {expectation.outcome}, {len(lines)} lines of log")
    return 0


def run_emulator(command: list[str], seconds: float, commands: list[str]) -> tuple[bytes, bytes, int | None]:
    """Its output, its errors, and its status; none: it took too long."""
    with tempfile.TemporaryDirectory() as folder:
        monitor = Path(folder) / "monitor"
        if commands:
            command = [*command, "-monitor", f"unix:{monitor},server=on,wait=off"]
        emulator = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        lines = []
        timer = threading.Timer(seconds, emulator.kill)
        timer.start()
        while commands and (line := emulator.stdout.readline()):
            lines.append(line)
            if b"waiting for keys" in line or b"waiting for the monitor" in line:
                tell(monitor, commands)
                commands = []
        output, errors = emulator.communicate()
        ended = timer.is_alive()
        timer.cancel()
        return b"".join(lines) + output, errors, emulator.returncode if ended else None


def tell(monitor: Path, commands: list[str]):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(monitor))
        for command in commands:
            connection.sendall(f"{command}\n".encode())
            time.sleep(0.05)  # the keyboard's own buffer is small


def boot(arguments: argparse.Namespace, command: list[str], expectation: Expectation) -> tuple[str | None, list[str]]:
    """What went wrong, if anything, and the log."""
    output, errors, status = run_emulator(command, arguments.seconds, expectation.commands)
    problem = f"expected an end within {arguments.seconds:.0f} s, found none" if status is None else None
    lines = output.decode(errors="replace").splitlines()
    if problem is None and status != STATUS[expectation.outcome]:
        problem = f"expected {expectation.outcome} (status {STATUS[expectation.outcome]}), found status {status}"
    if problem is None and expectation.outcome in MACHINE_ENDS:
        end = "poweroff" if SWITCHED_OFF.encode() in errors else "reset"
        problem = None if end == expectation.outcome else f"expected {expectation.outcome}, found {end}"
    missing = expectation.missing_from(lines)
    if problem is None and missing is not None:
        problem = f"expected a line with '{missing}', found none in its place"
    if problem is not None or arguments.show:
        print("\n".join(lines))
        sys.stdout.write(errors.decode(errors="replace"))
    return problem, lines


if __name__ == "__main__":
    sys.exit(main())
