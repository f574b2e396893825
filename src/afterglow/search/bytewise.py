"""A network whose weights are kept as bytes, made to multiply bytes: half the time of making numbers of 32 bits of them first.

The weights stand in the file as bytes with a scale for each column, and are made into floats before each product. Here the
product is of the bytes themselves, and what it is multiplied with is rounded to bytes on the way.
"""

from __future__ import annotations

from typing import Any

import onnx
from onnx import helper

_DOMAIN = "com.microsoft"
"""That of the runtime's own operators."""


def bytewise(network: bytes) -> bytes:
    """The same network; products with weights that are not kept so are left as they are."""
    model: Any = onnx.load_model_from_string(network)
    graph = model.graph
    made_by = {name: node for node in graph.node for name in node.output}
    kept = {each.name: each for each in graph.initializer}
    replaced: set[str] = set()
    for node in graph.node:
        if node.op_type != "MatMul":
            continue
        scaling = made_by.get(node.input[1])
        widening = made_by.get(scaling.input[0]) if scaling and scaling.op_type == "Mul" else None
        if not scaling or not widening or widening.op_type != "Cast" or widening.input[0] not in kept:
            continue
        scale = kept[scaling.input[1]]
        scale.dims[:] = scale.dims[-1:]  # one for each column
        node.op_type, node.domain = "DynamicQuantizeMatMul", _DOMAIN
        node.input[:] = [node.input[0], widening.input[0], scale.name]
        replaced |= {scaling.output[0], widening.output[0]}
    nodes = [node for node in graph.node if node.output[0] not in replaced]
    del graph.node[:]
    graph.node.extend(nodes)
    model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    return model.SerializeToString()
