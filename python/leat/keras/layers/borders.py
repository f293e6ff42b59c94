"""Layers that add a border of zeros or take one away: what their sizes mean."""

from leat.keras.layers.table import TableLayer


def sides(word, value, directions):
    """((before, behind), ...) of each direction, in one direction (before, behind); ValueError for other than that."""
    def refuse():
        raise ValueError(f"`{word}` should be one integer of 0 or more for all sides, {directions} of them for each "
                         f"direction, or a pair for each: before and behind. Received: {word}={value}")

    def number(one):
        return one if isinstance(one, int) and not isinstance(one, bool) and one >= 0 else refuse()

    def pair(one):
        if isinstance(one, (list, tuple)):
            return (number(one[0]), number(one[1])) if len(one) == 2 else refuse()
        return (number(one),) * 2
    if directions == 1:
        return pair(value)
    if not isinstance(value, (list, tuple)):
        return (pair(value),) * directions
    return tuple(pair(one) for one in value) if len(value) == directions else refuse()


class BorderLayer(TableLayer):
    """A layer of the library's table that adds a border or takes one away."""

    def _setup(self, given, others):
        given, directions = dict(given), self._entry["rank"] - 2
        for word in ("cropping", "padding"):
            if word in given:
                given[word] = sides(word, given[word], directions)
        super()._setup(given, others)
