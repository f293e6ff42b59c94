"""Is it flat? What a soak's samples say.

A measure is judged by its floor: the least value of each round, in which every kind of work had its turn. What is only busy goes
back to its floor; what leaks raises it. Of the floors of the last two thirds of the run, the first third being for warming up,
the slope is Theil's and Sen's, the median of the slopes between all pairs. Up to 29 % of wild values do not move it. Slope times
length is the growth that is held against a limit.

* Memory: 8 MiB. malloc has an arena for each thread that had none to share, and gives back what lies at its top alone. Which
  thread frees last is chance, so a floor moves in steps of a few MiB, both ways and for good. A leak is a line: 8 MiB over
  thousands of turns are some hundred bytes a turn. Tables that are bounded fill in the first third: a strategy keeps 64 steps.
* Descriptors, threads, files, entries of /dev/shm, zombies, processes: 0.9. They are counted, and a floor has no noise; a leak of
  one in the whole judged time is a growth of one.
* What the files hold: 8 MiB, as memory.
"""
import statistics

LIMITS = {"memory": 8.0, "descriptors": 0.9, "threads": 0.9, "files": 0.9, "disk": 8.0, "shared": 0.9, "zombies": 0.9,
          "processes": 0.9}
UNITS = {"memory": "MiB", "disk": "MiB"}
FEWEST = 5  # rounds in the judged part; less says nothing
MOST = 300  # points; more are thinned, since there are n * n / 2 pairs


def floors(rows):
    """[(hours, value, round)], in any order, as the least value of each round: [(hours, value)] by time."""
    least = {}
    for hours, value, number in rows:
        if number not in least or value < least[number][1]:
            least[number] = (hours, value)
    return sorted(least.values())


def late(points, share=2 / 3):
    """Those of the last rounds."""
    return points[len(points) - int(len(points) * share):]


def slope(points):
    """Theil's and Sen's slope, per hour."""
    step = max(1, len(points) // MOST)
    thin = [(points[i][0], min(value for _, value in points[i:i + step])) for i in range(0, len(points), step)]
    slopes = [(y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(thin) for x2, y2 in thin[i + 1:] if x2 > x1]
    return statistics.median(slopes) if slopes else 0.0


def judge(rows, measure):
    """One measure of one process or of the job: what the table shows of it."""
    points = floors(rows)
    part = late(points)
    values = [value for _, value in part]
    growth = slope(part) * (part[-1][0] - part[0][0]) if part else 0.0
    enough = len(part) >= FEWEST
    return {"first": values[0] if values else 0.0, "last": values[-1] if values else 0.0,
            "most": max((value for _, value, _ in rows), default=0.0), "growth": growth, "rounds": len(part),
            "verdict": "too short" if not enough else "grows" if growth > LIMITS[measure] else "flat"}


def verdict(results):
    """Of all: what grows outweighs what is too short."""
    found = {result["verdict"] for result in results}
    return next((one for one in ("grows", "too short") if one in found), "flat") if found else "too short"


def table(results, turns):
    """The lines of the table: results is {(name, measure): result}."""
    lines = ["%-12s %-11s %9s %9s %9s %9s %7s  %s"
             % ("process", "measure", "from", "to", "most", "growth", "limit", "verdict")]
    for (name, measure), one in results.items():
        unit = UNITS.get(measure, "")
        lines.append("%-12s %-11s %9.1f %9.1f %9.1f %+9.2f %7.1f  %s"
                     % (name, (measure + " " + unit).strip(), one["first"], one["last"], one["most"], one["growth"],
                        LIMITS[measure], one["verdict"]))
    lines.append("turns: " + ", ".join("%s %d" % item for item in turns.items()))
    return lines
