"""Finds headers worth compiling once for many others.

To compile a header alone is to compile it after nothing but what it includes, itself or through others. So any header
that it includes may as well come before it, precompiled: that adds no name which the header does not ask for. A prelude
is such a header, chosen because many headers include it and little more.
"""

import re
from pathlib import Path

DIRECTIVE = re.compile(r'^\s*#\s*(if|endif|include)(?:\s*["<]([^">]+)[">])?', re.MULTILINE)
# In headers read: to precompile one, and to load it again, besides those behind it.
COST_OF_A_PRELUDE = 12


def included_always(text: str) -> list[str]:
    """What the text includes under no condition."""
    names, depth = [], 0
    for directive, name in DIRECTIVE.findall(text):
        depth += {"if": 1, "endif": -1, "include": 0}[directive]
        if directive == "include" and name and depth == 0:
            names.append(name)
    return names


class Includes:
    """Who includes whom, by the text of the files; of a library's header only its name is known."""

    def __init__(self, root: Path):
        self.root = root
        self.known: dict[str, set[str]] = {}

    def behind(self, header: str) -> set[str]:
        """Everything that the header includes, itself or through others."""
        if header not in self.known:
            self.known[header] = set()  # where headers include each other in a ring, this ends it
            found = set()
            path = self.root / header
            if path.is_file():
                for name in included_always(path.read_text(encoding="utf-8", errors="replace")):
                    found |= {name} | self.behind(name)
            self.known[header] = found - {header}
        return self.known[header]


def choose_preludes(includes: Includes, headers: list[str]) -> dict[str, str]:
    """The prelude of each header that has one: takes the header that saves the most reading, again and again."""
    saved = {header: 0 for header in headers}
    chosen: dict[str, str] = {}
    candidates = {name for header in headers for name in includes.behind(header) if (includes.root / name).is_file()}
    weight = {name: 1 + len(includes.behind(name)) for name in candidates}
    while candidates:
        gains = {
            name: sum(max(0, weight[name] - saved[header]) for header in headers if name in includes.behind(header))
            - weight[name] - COST_OF_A_PRELUDE
            for name in candidates
        }
        best = max(sorted(candidates), key=lambda name: gains[name])
        if gains[best] <= 0:
            break
        candidates.remove(best)
        for header in headers:
            if best in includes.behind(header) and weight[best] > saved[header]:
                chosen[header], saved[header] = best, weight[best]
    return chosen
