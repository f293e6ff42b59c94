"""docs/SPEED.md out of the lines of a run of bench-ops."""
import math
import os
import sys

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import performance  # noqa: E402

PATH = os.path.join(performance.ROOT, "docs", "SPEED.md")


def mean(ratios):
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def ratios(lines, form, size=None):
    return [one["ratio"] for one in lines if "ratio" in one and one["form"] == form and size in (None, one["size"])]


def means(lines):
    """Rows of the table of geometric means: what, and the ratios of each size and of all."""
    for form in ("eager", "traced", "step"):
        sizes = cases.SIZES if form != "step" else ()
        found = [ratios(lines, form, size) for size in sizes] + [ratios(lines, form)]
        if found[-1]:
            yield form, [*([[]] * (len(cases.SIZES) - len(sizes))), *found]


def cell(line):
    """A ratio, and leat's time beside it."""
    if line is None:
        return ""
    return "broken" if "broken" in line else "%.2f (%s)" % (line["ratio"], duration(line["leat"]))


def duration(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return performance.number(seconds * scale) + " " + unit


def by_case(lines, forms):
    """The lines of each case by form and size, worst ratio first."""
    found = {}
    for one in lines:
        if one["form"] in forms:
            found.setdefault(one["case"], {})[one["form"], one["size"]] = one

    def worst(name):
        return max((one.get("ratio", 0) for one in found[name].values()), default=0)
    return [(name, found[name], worst(name)) for name in sorted(found, key=worst, reverse=True)]


def operations(lines):
    columns = [(form, size) for form in ("eager", "traced") for size in cases.SIZES]
    yield "| operation | worst | %s | numpy, worst |" % " | ".join("%s, %s" % column for column in columns)
    yield "|---|" + "---:|" * (len(columns) + 2)
    for name, found, worst in by_case(lines, ("eager", "traced")):
        beside = [one["leat"] / one["numpy"] for one in found.values() if "numpy" in one]
        yield "| %s | %s | %s | %s |" % (name, "%.2f" % worst if worst else "", " | ".join(cell(found.get(column)) for column in columns),
                                         "%.2f" % max(beside) if beside else "")


def training(lines):
    yield "| step | ratio | leat | peer |"
    yield "|---|---:|---:|---:|"
    for name, found, worst in by_case(lines, ("step",)):
        one = found["step", ""]
        yield "| %s | %s |" % (name, "broken | | " if "broken" in one else "%.2f | %s | %s" % (
            worst, duration(one["leat"]), duration(one["peer"])))


def text(lines, covered):
    """The lines of the page."""
    days = sorted({one["day"] for one in lines})
    said = ["# How fast operations and training steps are", "",
            "Written by `make bench-ops` (bench/README.md). Each number is leat's time over TensorFlow's, of the best rounds in alternation, leat's time in",
            "brackets; less than 1 is faster. The worst stand first. Measured %s; %s." % (
                "on " + days[0] if days[0] == days[-1] else "from %s to %s" % (days[0], days[-1]), performance.machine().split("; ")[1]), "",
            "| geometric means | cases | %s | all |" % " | ".join(cases.SIZES), "|---|---:|" + "---:|" * (len(cases.SIZES) + 1)]
    for form, found in means(lines):
        said.append("| %s | %d | %s |" % (form, len(found[-1]), " | ".join("%.2f" % mean(one) if one else "" for one in found)))
    broken = {}
    for one in lines:
        if "broken" in one:
            broken.setdefault((one["case"], one["broken"].replace("|", "/")), []).append(("%s %s" % (one["form"], one["size"])).strip())
    said += ["", "%d of %d public operations have a case." % (len(covered["with"]), len(covered["with"]) + len(covered["without"])),
             "", "## Operations", "", *operations(lines), "", "## Training steps", "", *training(lines)]
    if broken:
        said += ["", "## Broken", "", "The sides disagree, or one of them failed; such a case counts for nothing.", "", "| case | why |", "|---|---|"]
        said += ["| %s: %s | %s |" % (case, ", ".join(where), why) for (case, why), where in broken.items()]
    return said + ["", "## Operations without a case", "", ", ".join(covered["without"]) + "."]


def write(path, lines, covered):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text(lines, covered)) + "\n")


def tell(lines, file):
    """The geometric means and how many are broken, in words."""
    for form, found in means(lines):
        print("bench-ops: %s: geometric mean %.3f of %d, %d of them above 1.15" % (
            form, mean(found[-1]), len(found[-1]), sum(one > 1.15 for one in found[-1])), file=file)
    print("bench-ops: %d broken" % sum("broken" in one for one in lines), file=file)
