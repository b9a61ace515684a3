"""Sampled softmax: the label against a few classes drawn by chance.

    S: the distinct classes among `draws` draws by q, shared by all examples of a step
    z = h wᵀ + prior;   z′[j] = z[j] − log E[j]
    E[j] = 1 − (1 − q[j])^draws: how often j is expected in S
    loss = −log( exp z′[label] / (exp z′[label] + sum over j in S, j ≠ label, of exp z′[j]) )

The one idea is the correction. A class that is drawn often would be pushed down often; log E takes
away just that, and the scores that are learned are those of the full softmax. With E = 1 for all it
IS the full softmax. A label that happens to be drawn (an accidental hit) is left out of the sum: it
would be its own rival.

A step reads and writes `draws` rows and one for each example, however many classes there are. What
it minimizes is an estimate, with noise that more draws make smaller. q falls as log(1 + 1/(1 + j)),
about Zipf's law, for classes that are numbered by frequency.

Bengio & Senécal 2003 and 2008 (importance sampling); Jean et al. 2015, arXiv:1412.2007 (shared
candidates); E for distinct draws and the accidental hits as in TensorFlow's sampled_softmax_loss.
"""

import numpy as np

from .common import check_batch, first_weights, full_loss, prior_scores

DRAWS = 512  # in a step, where there are that many classes


class Sampled:
    """w: (classes, columns), and the cumulated probabilities by which classes are drawn."""

    name = "sampled softmax"

    def __init__(self, classes, columns, draws=None, seed=0):
        self.classes, self.columns = classes, columns
        self.draws = min(DRAWS, classes) if draws is None else draws
        self.prior = prior_scores(classes)
        # log(j + 2) − log(j + 1) falls about as Zipf's law, and adds up to a logarithm.
        self.up_to = np.log(np.arange(2, classes + 2)) / np.log(classes + 1)
        self.rng = np.random.default_rng(seed)
        self.w = first_weights(classes, columns, seed)

    @property
    def nbytes(self):
        return self.w.nbytes + self.prior.nbytes + self.up_to.nbytes

    def draw(self):
        """The distinct classes of so many draws, in order."""
        return np.unique(self.up_to.searchsorted(self.rng.random(self.draws), "right"))

    def log_expected(self, classes):
        """log E: how often each of these classes is expected among the drawn ones."""
        q = self.up_to[classes] - np.where(classes > 0, self.up_to[classes - 1], 0)
        return np.log(-np.expm1(self.draws * np.log1p(-q))).astype(np.float32)

    def step(self, h, labels, rate):
        check_batch(self, h, labels)
        return self.step_against(self.draw(), h, labels, rate)

    def step_against(self, drawn, h, labels, rate):
        """A step with these classes, all distinct, in place of drawn ones."""
        losses, d_right, d_others, mine, others = self.gradients(drawn, h, labels)
        dh = d_others @ others + d_right[:, None] * mine
        self.w[drawn] -= d_others.T @ (h * np.float32(rate))
        np.subtract.at(self.w, labels, (np.float32(rate) * d_right)[:, None] * h)
        return losses, dh

    def gradients(self, drawn, h, labels):
        """Losses and their gradients by the scores, and the rows of w that made the scores."""
        mine, others = self.w[labels], self.w[drawn]
        right = (h * mine).sum(1) + (self.prior[labels] - self.log_expected(labels))
        z = h @ others.T + (self.prior[drawn] - self.log_expected(drawn))
        z[drawn == labels[:, None]] = -np.inf  # accidental hits
        top = np.maximum(right, z.max(1))
        exp_right = np.exp(right - top)
        exps = np.exp(np.subtract(z, top[:, None], out=z), out=z)
        total = exp_right + exps.sum(1)
        losses = np.log(total) + top - right
        return losses, exp_right / total - 1, np.divide(exps, total[:, None], out=z), mine, others

    def loss(self, h, labels):
        """Of the full softmax that it approximates."""
        check_batch(self, h, labels)
        return full_loss(h, labels, self.w, self.prior)
