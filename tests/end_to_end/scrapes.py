"""Prometheus' text form, version 0.0.4, read as strictly as it is written down."""

import math
import re

NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? ([0-9.e+-]+)")


class Scrape:
    """Samples by name and labels, as they stand; what is not of the form, or is told twice, is an error."""

    def __init__(self, text: str):
        self.samples, self.types, self.helps = {}, {}, {}
        if not text.endswith("\n"):
            raise AssertionError(f"expected a line end at the end, found {text[-40:]!r}")
        family = None
        for line in text[:-1].split("\n"):
            if line.startswith("# HELP "):
                _, _, family, help_text = line.split(" ", 3)
                self._once(self.helps, family, help_text)
            elif line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                if name != family or kind not in ("counter", "gauge"):
                    raise AssertionError(f"expected the type of {family}, found {line!r}")
                self._once(self.types, family, kind)
            else:
                self._take_sample(line, family)

    def _take_sample(self, line, family):
        found = SAMPLE.fullmatch(line)
        if not found or found[1] != family:
            raise AssertionError(f"expected a sample of {family}, found {line!r}")
        value = float(found[3])
        if not (math.isfinite(value) and value >= 0):
            raise AssertionError(f"expected a number that is not negative, found {line!r}")
        self._once(self.samples, found[1] + (found[2] or ""), value)

    @staticmethod
    def _once(known, name, value):
        if name in known:
            raise AssertionError(f"expected {name} once, found it again")
        known[name] = value

    def totals(self) -> dict[str, float]:
        """Counters of all together."""
        return {name: value for name, value in self.samples.items() if self.types.get(name) == "counter"}
