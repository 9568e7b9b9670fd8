"""Rows of the comparison: pairs of figures from neighbours in time, their ratio, and the bar beside it."""

import dataclasses
import math
import statistics


def ratio_of(ours: float, other: float, better: str) -> float:
    if other == 0 and ours == 0:
        return 1 if better == "lower" else 0  # nothing lost is well; nothing done is not
    return ours / other if other else math.inf


@dataclasses.dataclass
class Row:
    name: str
    unit: str
    better: str  # higher or lower
    against: str  # what ours is compared with
    pairs: list[tuple[float, float]]
    bar: float | None = None  # the ratio that must be reached; None: the figure is only told
    remark: str = ""

    def result(self) -> dict:
        ratios = [ratio_of(ours, other, self.better) for ours, other in self.pairs]
        result = {"row": self.name, "unit": self.unit, "better": self.better, "against": self.against,
                  "ratio": statistics.median(ratios), "least": min(ratios), "greatest": max(ratios),
                  "ours": statistics.median(ours for ours, _ in self.pairs),
                  "other": statistics.median(other for _, other in self.pairs)}  # fmt: skip
        if self.bar is not None:
            reached = result["ratio"] >= self.bar if self.better == "higher" else result["ratio"] <= self.bar
            result |= {"bar": f"{'>=' if self.better == 'higher' else '<='} {self.bar:g}", "met": reached}
        if self.remark:
            result["remark"] = self.remark
        return result


HEADING = (f"{'':<46} {'ratio':>6} {'[least, most]':<15} {'ours':>9} {'other':>9} {'':<9} {'against':<18} bar")


def line_of(result: dict) -> str:
    if "skipped" in result:
        return f"{result['row']:<46} skipped: {result['skipped']}"
    spread = f"[{result['least']:.2f}, {result['greatest']:.2f}]"
    bar = f"{result['bar']}: {'met' if result['met'] else 'MISSED'}" if "bar" in result else ""
    remark = f"  ({result['remark']})" if "remark" in result else ""
    return (f"{result['row']:<46} {result['ratio']:6.2f} {spread:<15} {result['ours']:9.4g} {result['other']:9.4g} "
            f"{result['unit']:<9} {result['against']:<18} {bar}{remark}")  # fmt: skip
