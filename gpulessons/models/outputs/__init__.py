"""Output layers over many classes: five ways to say which class comes next, and to learn it.

Read them in this order; common.py has what they share.

    full      every class gets a score, and every score a gradient
    tree      yes or no at each turn of a path: log of the classes, another model
    sampled   the label against a few classes drawn by chance, corrected for how they were drawn
    adaptive  frequent classes in full, rare ones behind a door: a tree of two levels
    hashed    the classes that look like the example, found by their hash codes

Each is a plain class with the same three methods:

    step(h, labels, rate)   one step of gradient descent on the SUM of the examples' losses, in
                            place: an example moves the weights as far in a batch as alone.
                            Returns (losses (examples,), dh like h, the gradient of their sum)
    loss(h, labels)         the mean of −log p[label], by the model that the layer stands for: the
                            sampled and the hashed one approximate a full softmax, and are asked for
                            it; the tree and the adaptive one are models of their own
    best(h)                 the likeliest class of each example, (examples,) of integers

h: (examples, columns) float32; labels: (examples,) integers, below the layer's `classes`. Classes
are numbered from the most frequent one down. `nbytes` is what a layer keeps. None learns a bias;
full, sampled and hashed begin with what frequency alone says, which the tree's shape says anyhow.
"""
