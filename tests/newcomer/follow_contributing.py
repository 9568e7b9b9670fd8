"""Does what CONTRIBUTING.md tells a newcomer to do, to the letter: one file, one row, one declaration.

The page's code blocks say what they are (```cpp file=..., row=..., declaration=...). They are applied to a copy of the
named source, compiled, and linked in front of the family's library; the parity program must then list the new variant
and pass it, and must fail it when it is broken.

usage: follow_contributing.py SOURCE_FOLDER COMPILER FLAGS... -- LIBRARIES...
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"```cpp (file|row|declaration)=(\S+)\n(.*?)```", re.DOTALL)


def blocks_of(page: str) -> dict[str, tuple[str, str]]:
    found = {kind: (path, code) for kind, path, code in BLOCK.findall(page)}
    missing = {"file", "row", "declaration"} - found.keys()
    if missing:
        sys.exit(f"CONTRIBUTING.md: expected a code block for each of {sorted(missing)}, found none")
    return found


def with_row(source: str, row: str, declaration: str) -> str:
    """The row goes above the first reference row, the declaration in front of everything in the namespace."""
    reference = re.search(r'^ *\{"reference"', source, re.MULTILINE)
    namespace = re.search(r"^namespace ingot \{\n", source, re.MULTILINE)
    if not reference or not namespace:
        sys.exit("expected a table with a reference row inside namespace ingot, found none")
    source = source[: reference.start()] + row + source[reference.start() :]
    return source[: namespace.end()] + "\n" + declaration + source[namespace.end() :]


def run(command: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True)


def build(root: pathlib.Path, compiler: str, flags: list[str], libraries: list[str], sources: dict[str, str]) -> str:
    """Compiles the texts and links them in front of the libraries; returns the program's path."""
    objects = []
    for name, text in sources.items():
        path = root / name
        path.write_text(text)
        objects.append(str(path.with_suffix(".o")))
        compiled = run([compiler, *flags, "-c", str(path), "-o", objects[-1]])
        if compiled.returncode != 0:
            sys.exit(f"expected {name} to compile, found:\n{compiled.stderr}")
    program = str(root / "parity")
    # The newcomer's copy of the table stands first; the library's own copy is the second definition.
    linked = run([compiler, *flags, "-Wl,--allow-multiple-definition", *objects, *libraries, "-lpthread", "-o", program])
    if linked.returncode != 0:
        sys.exit(f"expected the program to link, found:\n{linked.stderr}")
    return program


def status_of(program: str, variant: str) -> str:
    output = run([program, "--reduced", "norm.rms_norm"]).stdout
    for line in output.splitlines():
        words = line.split()
        if len(words) > 2 and words[1:3] == ["norm.rms_norm", variant]:
            return words[0]
    sys.exit(f"expected a row for variant {variant}, found:\n{output}")


def main() -> None:
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    split = sys.argv.index("--")
    flags = [*sys.argv[3:split], f"-I{root}", '-DINGOT_FAMILY_HEADER="kernels/norm/family.h"',
             "-DINGOT_FAMILY_OPERATIONS=norm_operations"]
    libraries = sys.argv[split + 1 :]
    blocks = blocks_of((root / "CONTRIBUTING.md").read_text())
    variant = re.search(r'"(\w+)"', blocks["row"][1]).group(1)
    table = with_row((root / blocks["row"][0]).read_text(), blocks["row"][1], blocks["declaration"][1])
    parity = (root / "tests/parity/family_parity.cc").read_text()
    toy = blocks["file"][1]
    with tempfile.TemporaryDirectory() as folder:
        sources = {"table.cc": table, "parity.cc": parity, "toy.cc": toy}
        status = status_of(build(pathlib.Path(folder), compiler, flags, libraries, sources), variant)
        if status != "passed":
            sys.exit(f"expected variant {variant} to be passed, found {status}")
        broken = {"toy.cc": toy.replace("arguments.epsilon", "arguments.epsilon * 1.01f + 1e-3f")}
        status = status_of(build(pathlib.Path(folder), compiler, flags, libraries, sources | broken), variant)
        if status != "failed":
            sys.exit(f"expected a broken {variant} to be failed, found {status}")
    print(f"variant {variant}: one file and one row; listed, verified, and caught when broken")


if __name__ == "__main__":
    main()
