"""A network whose weights are kept as bytes, made to multiply bytes: half the time of making numbers of 32 bits of them first.

The weights stand in the file as bytes with a scale for each column, and are made into floats before each product. Here the
product is of the bytes themselves, and what it is multiplied with is rounded to bytes on the way. What is added to a product
is added along with it, and the five steps of each bend (GELU) become one.
"""

from __future__ import annotations

from typing import Any

import onnx
from onnx import helper

_DOMAIN = "com.microsoft"
"""That of the runtime's own operators."""


def bytewise(network: bytes) -> bytes:
    """The same network. It is made for the one that `minilm` knows by its digest, and another may not stand it."""
    model: Any = onnx.load_model_from_string(network)
    graph = _Graph(model.graph)
    for node in list(model.graph.node):
        if node.op_type == "MatMul":
            graph.multiply_bytes(node)
        elif node.op_type == "Erf":
            graph.bend_at_once(node)
    kept = [node for node in model.graph.node if node.op_type]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    return model.SerializeToString()


class _Graph:
    """The steps of a network: which makes what, and which uses it. One without a kind is no step any more."""

    def __init__(self, graph: Any) -> None:
        self._weights = {each.name: each for each in graph.initializer}
        self._made_by = {name: node for node in graph.node for name in node.output}
        self._users: dict[str, list[Any]] = {}
        for node in graph.node:
            for name in node.input:
                self._users.setdefault(name, []).append(node)

    def multiply_bytes(self, node: Any) -> None:
        """A product with weights that are kept as bytes, and what is added to it."""
        scaling = self._made_by.get(node.input[1])
        widening = self._made_by.get(scaling.input[0]) if scaling and scaling.op_type == "Mul" else None
        if not scaling or not widening or widening.op_type != "Cast" or widening.input[0] not in self._weights:
            return
        scale = self._weights[scaling.input[1]]
        scale.dims[:] = scale.dims[-1:]  # one for each column
        node.op_type, node.domain = "DynamicQuantizeMatMul", _DOMAIN
        node.input[:] = [node.input[0], widening.input[0], scale.name]
        scaling.op_type = widening.op_type = ""
        adding = self._next(node, "Add")
        added = [name for name in adding.input if name in self._weights] if adding else []
        if added:
            node.input.extend(["", *added])
            _stand_for(node, adding)

    def bend_at_once(self, node: Any) -> None:
        """x * (0.5 * (1 + erf(x / √2)))"""
        dividing = self._made_by[node.input[0]]
        adding = self._next(node, "Add")
        halving = adding and self._next(adding, "Mul")
        last = halving and self._next(halving, "Mul")
        if dividing.op_type != "Div" or not last or dividing.input[0] not in last.input:
            return
        node.op_type, node.domain = "Gelu", _DOMAIN
        node.input[:] = [dividing.input[0]]
        dividing.op_type = adding.op_type = halving.op_type = ""
        _stand_for(node, last)

    def _next(self, node: Any, kind: str) -> Any:
        """The only step that uses what this one makes, if it is of the kind."""
        users = self._users.get(node.output[0], [])
        return users[0] if len(users) == 1 and users[0].op_type == kind else None


def _stand_for(node: Any, other: Any) -> None:
    """What the other step made, this one makes."""
    node.output[0] = other.output[0]
    other.op_type = ""
