"""Answers to `fewer_calls`: its solution with one edit each."""

call = "torch._foreach_add_(parameters, gradients, alpha=-rate)"
each = "for p, g in zip(parameters, gradients):\n        "

wrong = [
    (call, f"{each}p -= rate * g", "with 80 operator calls"),
    (call, f"{each}p.add_(g, alpha=-rate)", "with 40 operator calls"),
    (call, f"{each}p.sub_(rate * g)", "with 80 operator calls"),
    (call, f"{each}p.data = p - rate * g", "new tensors"),
    (call, "parameters[:] = torch._foreach_add(parameters, gradients, alpha=-rate)", "new tensors"),
    (call, "return torch._foreach_add(parameters, gradients, alpha=-rate)", "No parameter has"),
    ("alpha=-rate", "alpha=rate", "It climbs"),
    (", alpha=-rate", "", "the rate is missing"),
    (call, "torch._foreach_sub_(parameters, gradients)", "the rate is missing"),
    (call, "torch._foreach_mul_(gradients, rate)\n    torch._foreach_sub_(parameters, gradients)",
     "changed the gradients"),
    ("(parameters, gradients, alpha", "(parameters[:3], gradients[:3], alpha", "Only 3 of 40"),
    ("alpha=-rate", "alpha=-rate / 2", "not what the loop makes"),
    (call, f"{each}p.numpy()[...] -= rate * g.numpy()", "has not seen every parameter"),
    (call, f"{each}p.numpy()[...] -= rate * g.numpy()\n    torch._foreach_add_(parameters, 0.0)",
     "out of Python's reach"),
    (call, "torch._foreach_add_([p.data for p in parameters], gradients, alpha=-rate)",
     "has not seen every parameter"),
    (call, "flat = torch.cat([p.flatten() - rate * g.flatten() for p, g in zip(parameters, "
     "gradients)])\n    torch._foreach_copy_(parameters, [part.view_as(p) for part, p in zip("
     "flat.split([p.numel() for p in parameters]), parameters)])", "with 82 operator calls"),
]  # fmt: skip
right = [
    (call, "torch._foreach_sub_(parameters, torch._foreach_mul(gradients, rate))", "2 operator"),
    (call, "flat = torch.cat([p.flatten() for p in parameters])\n"
     "    flat -= rate * torch.cat([g.flatten() for g in gradients])\n"
     "    parts = flat.split([p.numel() for p in parameters])\n"
     "    torch._foreach_copy_(parameters, [new.view_as(p) for new, p in zip(parts, parameters)])",
     "5 operator calls"),
    (call, "with torch.no_grad():\n        " + call),
]  # fmt: skip
