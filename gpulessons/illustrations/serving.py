"""What a token costs, and how fast it comes: a server's choice between the two."""

from gpulessons.plots.axes import log_axes
from gpulessons.plots.picture import BLUE, GREEN, INK, Picture, blank


def price_over_speed(points, api):
    """{requests at once: (tokens/s for each user, $ a million)}, beside an API's least and most."""
    last = max(points)
    full = [n for n in points if points[n][0] <= 1.02 * points[last][0]]
    title = "The more requests share the GPUs, the cheaper and the slower are a user's tokens"
    figure, axes = blank(8.2, 3.9, title)
    log_axes(axes, y=("$ a million tokens", "{:g}".format))
    axes.axhspan(*api, color=GREEN, alpha=0.3)
    axes.plot(*zip(*points.values(), strict=True), color=BLUE, marker="s", markersize=8)
    named = {n: f"{n} at once" for n in points if n not in full}
    named[last] = ", ".join(map(str, full)) + "\n(queue)"
    for n, words in named.items():
        axes.annotate(words, points[n], (0, 9), textcoords="offset points", ha="center",
                      color=INK, fontsize=10)
    axes.text(max(speed for speed, _ in points.values()), api[1], "the API asks this ",
              ha="right", va="bottom", color=INK, fontsize=10)
    axes.set(xlim=(0, 1.2 * points[min(points)][0]), xlabel="tokens a second for each user",
             ylim=(api[0] / 1.5, 2 * max(price for _, price in points.values())))
    said = "; ".join(f"{n} at once: {speed:.0f} tokens/s, ${price:.2f}"
                     for n, (speed, price) in points.items())
    return Picture(figure, f"{title}. {said}. The API: ${api[0]:.2f} to ${api[1]:.2f}.")
