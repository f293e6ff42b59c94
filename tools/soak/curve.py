#!/usr/bin/env python3
"""The curve of a soak as SVG: the memory of each process over the hours, and below it what is counted. Colours that can be read
on light and on dark pages; no fonts, scripts or files from outside.

    curve.py FOLDER FILE.svg      draw what lies in the folder of a run, or of one that goes on
"""
import collections
import csv
import os
import sys
from xml.sax.saxutils import escape

import judge

WIDTH, LEFT, RIGHT = 720, 44, 118
COUNTED = ("descriptors", "threads", "files", "shared", "zombies")  # the job's columns of samples.csv that are drawn
COLOURS = ["#2f7ed8", "#d9822b", "#3a9d5d", "#c2455a", "#8a63c9", "#1f9aa8", "#9a7b1f", "#b0569b", "#6b7a8f"]
STYLE = """<style>
text { font: 11px sans-serif; fill: #444 } .grid { stroke: #ddd } .title { font-weight: bold }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .grid { stroke: #444 } }
</style>"""


def round_up(value):
    """A round number that is at least as large, for the top of an axis."""
    size = 1
    while size * 10 < value:
        size *= 10
    return next(size * part for part in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if size * part >= value)


def spread(wanted, least, top, bottom):
    """Places for labels at least so far apart, near those that are wanted; in the order of these."""
    places, last = {}, top - least
    for index in sorted(range(len(wanted)), key=lambda i: wanted[i]):
        last = max(wanted[index], last + least)
        places[index] = last
    over = max(0, last - bottom)
    return [places[index] - over for index in range(len(wanted))]


def panel(title, lines, hours, top, height):
    """One panel: lines is {name: [(hours, value)]}."""
    most = round_up(max([value for points in lines.values() for _, value in points] + [1]))
    width = WIDTH - LEFT - RIGHT

    def across(value):
        return LEFT + width * value / hours

    def down(value):
        return top + height * (1 - value / most)

    out = ['<text class="title" x="%d" y="%d">%s</text>' % (LEFT, top - 8, escape(title))]
    for part in range(5):
        value = most * part / 4
        out.append('<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % (LEFT, LEFT + width, down(value), down(value)))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%g</text>' % (LEFT - 5, down(value) + 4, value))
    for part in range(5):
        value = hours * part / 4
        text = "%.3g h" % value if hours >= 0.2 else "%.0f s" % (value * 3600)
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (across(value), top + height + 15, text))
    labels = spread([down(points[-1][1]) for points in lines.values()], 12, top, top + height)
    for (name, points), colour, place in zip(lines.items(), COLOURS * len(lines), labels):
        path = " ".join("%.1f,%.1f" % (across(x), down(y)) for x, y in points)
        out.append('<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>' % (colour, path))
        out.append('<text x="%d" y="%.1f" style="fill:%s">%s %.0f</text>'
                   % (LEFT + width + 6, place + 4, colour, escape(name), points[-1][1]))
    return out


def thin(points, most=240):
    """Few enough points for a small file, the last one among them."""
    step = -(-len(points) // most)
    return points[::-1][::step][::-1] if step > 1 else points


def draw(memory, counts, hours, caption=""):
    """The picture: memory is {process: rows}, counts is {measure: rows}, rows as judge.floors takes them."""
    panels = [("memory of each process, MiB (least of each round)", memory, 26, 200),
              ("descriptors and threads of all processes; files, entries of /dev/shm, zombies of the job", counts, 282, 110)]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d 440" width="%d" height="440" role="img">' % (WIDTH, WIDTH),
           "<title>%s</title>" % escape(caption or "a soak of leat"), STYLE]
    for title, lines, top, height in panels:
        drawn = {name: thin(judge.floors(rows)) for name, rows in lines.items()}
        drawn = {name: points for name, points in drawn.items() if points}
        if drawn:
            out += panel(title, drawn, max(hours, 1e-6), top, height)
    out.append('<text x="%d" y="432">%s</text>' % (LEFT, escape(caption)))
    return "\n".join(out + ["</svg>", ""])


def of_samples(lines):
    """The rows of samples.csv (dictionaries of texts) as `draw` takes them: memory, counts, hours."""
    memory, counts, hours = collections.defaultdict(list), collections.defaultdict(list), 0.0
    for line in lines:
        hours, number = float(line["hours"]), int(line["round"])
        if line["process"] != "job":
            memory[line["process"]].append((hours, float(line["memory"]), number))
            continue
        for measure in COUNTED:
            counts[measure].append((hours, float(line[measure]), number))
    return memory, counts, hours


def main():
    folder, name = sys.argv[1:3]
    with open(os.path.join(folder, "samples.csv"), newline="", encoding="utf-8") as file:
        memory, counts, hours = of_samples(csv.DictReader(file))
    report = os.path.join(folder, "report.txt")
    caption = ""
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            caption = file.read().splitlines()[-1]
    with open(name, "w", encoding="utf-8") as file:
        file.write(draw(memory, counts, hours, caption))


if __name__ == "__main__":
    main()
