#!/usr/bin/env python3
"""Compares the type of every tensor in real models with two other implementations.

    compare_types.py FOLDER --dump DUMP_TYPES [--only LABEL …]

FOLDER is what scripts/fetch-models.sh filled. The truth is onnxruntime: each model is run, with all
intermediate tensors as outputs, on random inputs. The second opinion is onnx.shape_inference with
the inputs' dims bound. An `If` whose condition is an input's given value is replaced by the branch
that runs, so that the tensors in it are compared too.

A tensor whose dims depend on data must agree in dtype and rank: numbers in them follow from a shape
that was given, which is not that of the run. An upper bound must also not be below the dim that was
seen. Exits with 1 where one differs.
"""
import argparse
import subprocess
import sys

import numpy
import onnx
import onnxruntime

import model_table

ONNX_DTYPES = {
    "FLOAT": "f32", "FLOAT16": "f16", "BFLOAT16": "bf16", "DOUBLE": "f64", "INT8": "i8",
    "INT16": "i16", "INT32": "i32", "INT64": "i64", "UINT8": "u8", "UINT16": "u16",
    "UINT32": "u32", "UINT64": "u64", "BOOL": "bool", "COMPLEX64": "c64", "COMPLEX128": "c128",
}
NUMPY_DTYPES = {
    "float32": "f32", "float16": "f16", "float64": "f64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "bool": "bool", "complex64": "c64", "complex128": "c128",
}


def ours(dump, entry):
    """name → (dtype, dims with None where a dim is no number, kind); and what became a custom op,
    whose types are the file's own word"""
    done = subprocess.run([dump, entry.path, *entry.args], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        kept = [l for l in lines if not l.startswith(("skipped", "bounded"))] or lines
        raise RuntimeError("\n    ".join(kept[:8]) or f"exit code {done.returncode}")
    types = {}
    for line in done.stdout.splitlines():
        name, dtype, dims, kind = line.split("\t")
        dims = [int(d) if d.isdigit() else None for d in split_dims(dims)]
        types[name] = (dtype, dims, kind)
    return types, [l for l in done.stderr.splitlines() if l.startswith("custom")]


def split_dims(text):
    """Splits at the commas outside of parentheses: `1,?max(a, 3),4`."""
    dims, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            dims.append(text[start:at])
            start = at + 1
    return dims + [text[start:]] if text else []


# ------------------------------------------------------------------------------------------------
# The other side


def inline_branches(model, values):
    """Puts the branch that runs in the place of each If of the main graph, where a small run of
    the graph without it tells the condition."""
    while True:
        nodes = list(model.graph.node)
        at = next((i for i, node in enumerate(nodes) if node.op_type == "If"), None)
        if at is None:
            return
        node = nodes[at]
        taken = bool(evaluate(model, node.input[0], values).reshape(-1)[0])
        name = "then_branch" if taken else "else_branch"
        branch = next(a.g for a in node.attribute if a.name == name)
        moved = list(branch.node) + [
            onnx.helper.make_node("Identity", [inner.name], [outer])
            for inner, outer in zip(branch.output, node.output)
            if outer not in ("", inner.name)]
        del model.graph.node[:]
        model.graph.node.extend(nodes[:at] + moved + nodes[at + 1:])
        model.graph.initializer.extend(branch.initializer)


def evaluate(model, name, values):
    """The value of a tensor of the main graph, from the nodes that it needs."""
    feeds = model_table.make_feeds(model, values)
    if name in feeds:
        return feeds[name]
    for tensor in model.graph.initializer:
        if tensor.name == name:
            return onnx.numpy_helper.to_array(tensor)
    return run(model, [name], feeds)[name]


def needed_nodes(model, names):
    wanted, kept = set(names), []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            kept.append(node)
            wanted |= set(node.input) | outer_names(node)
    return kept[::-1]


def outer_names(node):
    names = set()
    for attribute in node.attribute:
        for inner in attribute.g.node:
            names |= set(inner.input) | outer_names(inner)
        names |= {info.name for info in attribute.g.output}
    return names


def run(model, names, feeds):
    """Runs a copy of the model with |names| as outputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = needed_nodes(copy, names)
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    used = {info.name for info in session.get_inputs()}
    results = session.run(names, {k: v for k, v in feeds.items() if k in used})
    return dict(zip(names, results))


def run_all(model, feeds):
    """Types of all tensors of the main graph, as they were in a run."""
    names = [name for node in model.graph.node for name in node.output if name]
    types = {}
    for name, array in run(model, names, feeds).items():
        if isinstance(array, numpy.ndarray) and array.dtype.name in NUMPY_DTYPES:
            types[name] = (NUMPY_DTYPES[array.dtype.name], list(array.shape))
    return types


def infer_all(model):
    """Types that onnx.shape_inference finds, those with all dims only."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=False, data_prop=True)
    types = {}
    for info in list(inferred.graph.value_info) + list(inferred.graph.output):
        tensor = info.type.tensor_type
        dims = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
        name = onnx.TensorProto.DataType.Name(tensor.elem_type)
        if info.type.HasField("tensor_type") and tensor.HasField("shape") and None not in dims:
            types[info.name] = (ONNX_DTYPES.get(name, name), dims)
    return types


# ------------------------------------------------------------------------------------------------
# Comparing


class Count:
    """What came of the tensors of one model and one opinion."""

    def __init__(self):
        self.equal = self.loose = self.missing = 0
        self.different = []


def agrees(mine, theirs):
    """'equal', 'loose' or 'different'"""
    (dtype, dims, kind), (other_dtype, other_dims) = mine, theirs
    if dtype != other_dtype or len(dims) != len(other_dims):
        return "different"
    if dims == other_dims:
        return "equal"
    is_above = all(a is None or a >= b for a, b in zip(dims, other_dims))
    if kind == "data" or (kind == "bounded" and is_above):
        return "loose"
    # All dims of the inputs are bound: what is no number depends on data.
    matches = all(a is None or a == b for a, b in zip(dims, other_dims))
    return "loose" if matches else "different"


def compare(mine, theirs):
    count = Count()
    for name, type_ in theirs.items():
        if name not in mine:
            count.missing += 1
            continue
        verdict = agrees(mine[name], type_)
        if verdict == "different":
            count.different.append(f"{name}: {mine[name]}, expected {type_}")
        else:
            setattr(count, verdict, getattr(count, verdict) + 1)
    return count


def check_model(dump, entry):
    mine, custom = ours(dump, entry)
    model = onnx.load(entry.path)
    model_table.bind_inputs(model, entry.binds)
    inline_branches(model, entry.values)
    truth = run_all(model, model_table.make_feeds(model, entry.values))
    opinion = infer_all(model)
    by_run, by_inference = compare(mine, truth), compare(mine, opinion)
    # Where the run agrees with us, a different inference is its mistake.
    wrong = [d for d in by_inference.different if d.split(": ")[0] not in truth]
    print(f"| {entry.label} | {len(mine)} | {len(truth)} | {by_run.equal} | {by_run.loose} | "
          f"{by_run.missing} | {len(by_run.different)} | {len(opinion)} | {by_inference.equal} | "
          f"{len(by_inference.different)} | {len(custom)} |", flush=True)
    return by_run.different + wrong + custom


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--dump", required=True, help="the program dump_types")
    parser.add_argument("--only", nargs="*", default=())
    options = parser.parse_args()
    entries, absent = model_table.read_table(options.folder, options.only)
    for entry in absent:
        print(f"absent: {entry.path}")
    print("| model | ours | run | equal | bounded or data | not ours | different | inferred | "
          "equal | different | custom |")
    print("|" + " --- |" * 11)
    faults = {}
    for entry in entries:
        try:
            different = check_model(options.dump, entry)
        except Exception as error:  # one model must not hide the others
            print(f"| {entry.label} | {type(error).__name__} |", flush=True)
            different = [str(error)]
        if different:
            faults[entry.label] = different
    for label, different in faults.items():
        print(f"\n{label}:")
        for line in different[:20]:
            print(f"    {line}")
    return 1 if faults or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
