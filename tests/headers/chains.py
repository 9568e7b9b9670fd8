"""Puts headers into chains that are compiled in one go.

In a chain each header includes the one before it, itself or through others. So whatever comes before a header in its
chain is what it includes anyway, and compiled behind that it is still compiled alone (see preludes.py).
"""

from preludes import Includes


def choose_chains(includes: Includes, headers: list[str]) -> list[list[str]]:
    """As few chains as can be that hold every header once, those behind first: a largest matching of each header with
    one that it includes."""
    includers: dict[str, str] = {}  # of a header: the next one in its chain
    below = {header: [other for other in headers if other in includes.behind(header)] for header in headers}

    def match(header: str, asked: set[str]) -> bool:
        for other in below[header]:
            if other in asked:
                continue
            asked.add(other)
            if other not in includers or match(includers[other], asked):
                includers[other] = header
                return True
        return False

    for header in headers:
        match(header, set())
    chains = []
    for header in sorted(set(headers) - set(includers.values())):
        chain = [header]
        while chain[-1] in includers:
            chain.append(includers[chain[-1]])
        chains.append(chain)
    return chains
