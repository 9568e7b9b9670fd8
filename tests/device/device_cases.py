"""What the scripts for a device share: their options, made-up models, and figures that tests/device/all shows again.

Each is run by hand where there is a GPU, prints passed, failed and skipped, and exits 1 where a case failed. With
`--device emulated --small` it shows that everything runs; then no time means anything, and no bar of time is asked for."""

import argparse
import contextlib
import dataclasses
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from program import Program  # noqa: E402
from run_cases import run_cases  # noqa: E402

FIGURE = "FIGURE "


@dataclasses.dataclass
class Options:
    program: Program = None
    device: str = "cuda"
    is_small: bool = False
    extra: argparse.Namespace = None

    @property
    def has_times(self):
        return self.device != "emulated"


options = Options()


def run_device_cases(usage, *extra):
    """Ends the program with the cases of its file. `extra` options: a name, its help, and what it is where not given."""
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="ingot-gpu")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="ask for little")
    for name, text, *default in extra:
        value = default[0] if default else None
        parser.add_argument(name, type=Path if value is None else type(value), default=value, help=text)
    arguments, rest = parser.parse_known_args()
    options.program = Program(arguments.program.resolve())
    options.device, options.is_small, options.extra = arguments.device, arguments.small, arguments
    run_cases([sys.argv[0], *rest])


def tell(figure):
    print(FIGURE + figure, flush=True)


@contextlib.contextmanager
def random_model(kind, shape="1b", layers=None):
    """The path of a model that is gone behind the block."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{shape}_{kind}.gguf"
        words = [ROOT / "bench/gpu/random_model", "tiny" if options.is_small else shape, kind, path]
        if layers and not options.is_small:
            words += ["--layers", str(layers)]
        subprocess.run([sys.executable, "-B", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
        yield path
