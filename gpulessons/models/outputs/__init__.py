"""Output layers over many classes: three ways to say which class comes next, and to learn it.

    full      every class gets a score, and every score a gradient
    tree      yes or no at each turn of a path: log of the classes, another model
    sampled   the label against a few classes drawn by chance, corrected for how they were drawn

Each is a plain class with the same two methods, and `nbytes`, what it stores:

    step(h, labels, rate)   one step of gradient descent on the SUM of the examples' losses, in
                            place: an example moves the weights as far in a batch as alone.
                            Returns (losses (examples,), dh like h, the gradient of their sum)
    loss(h, labels)         the mean of −log p[label], by the model that the layer stands for: the
                            sampled one approximates a full softmax, and is asked for it

h: (examples, columns) float32; labels: (examples,) integers, below the layer's `classes`. Classes
are numbered from the most frequent one down, as frequent as words (Zipf). None learns a bias; full
and sampled begin with what frequency alone says, which the tree's shape says anyhow.

hashed is no layer: tables that find the classes which look like an example, by their hash codes.
"""
