# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Neap's exceptions. Each is a neap.Error, and also the exception that Python
itself has for such a case, so that code that catches that one goes on."""


class Error(RuntimeError):
    """Any error of Neap's."""


class OutOfMemory(Error, MemoryError):
    """A request that cannot be met; it has changed nothing.

    reason, owner, site: what was refused, whose it is, the line that asked;
    requested, live, held, external, peak, budget (None: none): bytes;
    holders: the largest owners, as (owner, category, bytes).
    """

    reason = owner = site = ""
    requested = live = held = external = peak = 0
    budget = None
    holders = ()

    @property
    def remedies(self):
        """What makes a step need less, in the order in which to try it."""
        ways = ["neap.compile(step, budget=...) makes a step fit, at a price "
                "that its plan tells"]
        if self.live < self.held // 2:
            ways.append("neap.memory.trim() returns idle pages")
        if any(category == "activations" for _, category, _ in self.holders):
            ways.append("neap.NoGrad() keeps no activations where no gradient "
                        "is needed; a loss kept in a list keeps its graph: "
                        "keep loss.item()")
        return ways


class ShapeError(Error, ValueError):
    """Shapes, axes or element counts that do not fit together."""


class DTypeError(Error, TypeError):
    """An element type that an operation does not take, or a mix of two."""


class InvalidValue(Error, ValueError):
    """An argument outside its documented range."""


class DeviceError(Error):
    """Data of one memory space used as if it were in another."""


class GraphError(Error):
    """A derivative asked of a graph that cannot give it (any more)."""


class UseAfterRelease(Error):
    """A tensor used after its scope released it, or a compiled step's result
    after the next call."""


class NameNotFound(Error, KeyError):
    """A name that is unknown, or used twice."""

    def __str__(self):
        return str(self.args[0]) if self.args else ""


class TraceError(Error):
    """A step that cannot be traced."""


class PlanError(Error):
    """A plan that does not fit the memory it was given."""


class PlanFileError(PlanError):
    """A plan file of another step, or a damaged one."""


class TornStep(Error):
    """A compiled step that failed after it had begun to write."""


class IoError(Error, OSError):
    """A file that cannot be read or written."""


class ReadError(Error):
    """Data that cannot be read."""


class ThreadError(Error):
    """A thread that the system refuses."""


class InternalError(Error):
    """A bug in Neap itself."""
