"""A wire you can set: the bytes travel by gloo, and the time that they would take is slept.

A worker that sleeps needs no core, so eight of them on two cores take as long as eight machines
with such links. Each worker has a port out and a port in, which work at once. A message of S bytes
keeps both for S / bandwidth seconds, and its beginning arrives a latency after it left. What gloo
itself takes comes on top: for a fast link shrink the bytes and the bandwidth.
"""

from concurrent.futures import ThreadPoolExecutor
from time import sleep, time
from types import SimpleNamespace
from typing import cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.futures import Future

from .collectives import Wire, ring
from .links import Link


class Emulated(Wire):
    """Sends and receives over such a link, between workers of one machine: they share a clock.

    beyond: the link between groups of `together` neighbors, where it is another than within them.
    """

    def __init__(self, link: Link, beyond: Link | None = None, together: int = 1) -> None:
        super().__init__()
        self.link, self.beyond, self.together = link, beyond or link, together
        self.sender = ThreadPoolExecutor(1)
        self.out, self.into = ({self.link: 0.0, self.beyond: 0.0} for _ in range(2))  # free from

    def link_to(self, other: int) -> Link:
        near = self.rank // self.together == other // self.together
        return self.link if near else self.beyond

    def send(self, piece: Tensor, to: int) -> "dist.Work":
        link = self.link_to(to)
        began, left = take(self.out, link, time(), piece.nbytes)
        self.sent += piece.nbytes
        stamp = torch.tensor([began], dtype=torch.float64)
        stamped = torch.cat([each.reshape(-1).view(torch.uint8) for each in (stamp, piece)])
        work = cast("dist.Work", dist.isend(stamped, to))

        def wait() -> None:
            work.wait()
            sleep_until(left)

        return cast("dist.Work", SimpleNamespace(wait=wait))

    def receive(self, piece: Tensor, source: int) -> None:
        link, stamped = self.link_to(source), torch.empty(8 + piece.nbytes, dtype=torch.uint8)
        dist.recv(stamped, source)
        began = stamped[:8].view(torch.float64).item()
        piece.copy_(stamped[8:].view(piece.dtype).view_as(piece))
        _, arrived = take(self.into, link, began + link.latency, piece.nbytes)
        sleep_until(arrived)

    def exchange(self, piece: Tensor, to: int, room: Tensor, source: int) -> None:
        sending = self.send(piece, to)
        self.receive(room, source)
        sending.wait()

    def all_reduce(self, x: Tensor) -> None:
        """By our ring: the backend knows nothing of this wire."""
        ring(x, self)

    def begin_all_reduce(self, x: Tensor) -> Future[Tensor]:
        """One after the other, in a thread that mostly sleeps."""
        done = Future[Tensor]()

        def reduce() -> None:
            try:
                self.all_reduce(x)
                done.set_result(x)
            except RuntimeError as lost:  # another worker is gone: whoever waits is to hear of it
                done.set_exception(lost)  # type: ignore[arg-type]  # torch's stub asks for a Tensor

        self.sender.submit(reduce)
        return done


def wire_of(link: tuple[float, float] | None) -> Wire:
    """The wire of a program's option: (latency, bandwidth) emulated; None: the one that is here."""
    return Emulated(Link(*link)) if link else Wire()


def take(free: dict[Link, float], link: Link, earliest: float, size: int) -> tuple[float, float]:
    """(when a port begins with a message that may begin then, when it is done): one at a time."""
    begins = max(earliest, free[link])
    free[link] = begins + size / link.bandwidth
    return begins, free[link]


def sleep_until(moment: float) -> None:
    sleep(max(0.0, moment - time()))
