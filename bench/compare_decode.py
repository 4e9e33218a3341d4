#!/usr/bin/env python3
"""Decodes with a language model and its caches, with Stowage and onnxruntime, and compares tokens.

    compare_decode.py --stowage COMMAND MODEL [--four-bits FILE] [--prompt N,N,…] [--steps N]
                      [--rounds N]

MODEL has inputs past_key_values.* that its outputs present.* continue, as Optimum exports them. The
largest logit is the next token. Ours is `stowage run --loop` with one executor for all lengths;
theirs hands the caches over from run to run, without optimisations and with all of them. Times are
milliseconds a token on one thread after the prompt, medians of the steps, then of rounds in which
all take turns: of the clock for ours, of the processor for theirs, calls from Python included.
With --four-bits, products of a MODEL with weights of bytes are written to FILE as MatMulNBits, with
weights of 4 bits in blocks of 32, and that is run instead. Needs onnxruntime and numpy, then onnx.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

PROMPT = "1,80,90,100,200,300,400,500,600,700,800,900,1000,1100,1200,1300,1400"


BLOCK = 32


def pack_four(weights):
    """Blocks of columns of [k, n], each with its largest magnitude at -8: codes and scales."""
    import numpy
    blocks = weights.T.reshape(weights.shape[1], -1, BLOCK)
    at = numpy.abs(blocks).argmax(axis=2)[..., None]
    scales = numpy.take_along_axis(blocks, at, 2) / -8
    scales[scales == 0] = 1
    codes = numpy.clip(numpy.rint(blocks / scales) + 8, 0, 15).astype(numpy.uint8)
    return codes[..., ::2] | codes[..., 1::2] << 4, scales[..., 0].astype(numpy.float32)


def make_four_bits(source, target):
    """MatMulInteger of what DynamicQuantizeLinear makes of x, times both scales, as MatMulNBits."""
    import numpy
    import onnx
    from onnx import numpy_helper
    model = onnx.load(source)
    graph = model.graph
    data = {tensor.name: tensor for tensor in graph.initializer}
    made = {name: node for node in graph.node for name in node.output}
    readers = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    replaced = {}
    for index, node in enumerate(graph.node):
        if node.op_type != "MatMulInteger" or node.input[1] not in data:
            continue
        weights = numpy_helper.to_array(data[node.input[1]]).astype(numpy.float32)
        cast = readers[node.output[0]][0]
        product = readers[cast.output[0]][0]
        factor = next(name for name in product.input if name != cast.output[0])
        scale = next(data[name] for name in made[factor].input if name in data)
        if len(node.input) > 3:
            weights -= numpy_helper.to_array(data[node.input[3]]).astype(numpy.float32)
        weights = weights * numpy_helper.to_array(scale)
        if weights.shape[0] % BLOCK != 0:
            continue
        codes, scales = pack_four(weights)
        names = [f"four_bits_{index}", f"four_bits_{index}_scales"]
        graph.initializer.append(numpy_helper.from_array(codes, names[0]))
        graph.initializer.append(numpy_helper.from_array(scales, names[1]))
        replaced[product.output[0]] = onnx.helper.make_node(
            "MatMulNBits", [made[node.input[0]].input[0], *names], [product.output[0]],
            name=node.name, domain="com.microsoft", K=weights.shape[0], N=weights.shape[1], bits=4,
            block_size=BLOCK)
    nodes = [replaced.get(node.output[0], node) for node in graph.node]
    needed = {output.name for output in graph.output}
    kept = []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    weights = [tensor for tensor in graph.initializer if tensor.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(weights)
    if all(entry.domain != "com.microsoft" for entry in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, target)
    return len(replaced)


def ours(options, prompt):
    length = len(prompt)
    command = [options.stowage, "run", options.model, "--format", "json", "--steps",
               str(options.steps), "--fill", "attention_mask=1", "--fill", "position_ids=count",
               "--bind", f"batch_size=1,sequence_length=1..{length},"
               f"past_sequence_length=0..{length + options.steps}",
               "--loop", "present.*=past_key_values.*", "--next", "logits=input_ids",
               "--prompt", ",".join(map(str, prompt))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def theirs(options, prompt, level):
    import numpy
    import onnxruntime
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.graph_optimization_level = level
    session = onnxruntime.InferenceSession(options.model, settings,
                                           providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    shapes = {entry.name: entry.shape for entry in session.get_inputs()}
    caches = {name: numpy.zeros([dim if isinstance(dim, int) else int("batch" in dim)
                                 for dim in shape], numpy.float32)
              for name, shape in shapes.items() if name.startswith("past_key_values.")}
    tokens, times, ids, past = [], [], prompt, 0
    for _ in range(options.steps):
        feeds = {"input_ids": numpy.array([ids], numpy.int64), **caches,
                 "attention_mask": numpy.ones((1, past + len(ids)), numpy.int64)}
        if "position_ids" in shapes:
            feeds["position_ids"] = numpy.arange(past, past + len(ids), dtype=numpy.int64)[None]
        begun = time.process_time()
        results = dict(zip(outputs, session.run(None, feeds)))
        times.append(1e3 * (time.process_time() - begun))
        past += len(ids)
        ids = [int(results["logits"][0, -1].argmax())]
        tokens += ids
        caches = {name: results[name.replace("past_key_values", "present")] for name in caches}
    return tokens, statistics.median(times[1:])


def agreed(tokens, others):
    """How many of the first tokens are the same."""
    same = 0
    while same < len(tokens) and tokens[same] == others[same]:
        same += 1
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--stowage", required=True)
    parser.add_argument("--four-bits", metavar="FILE")
    parser.add_argument("--prompt", default=PROMPT)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.steps < 2 or options.rounds < 1:
        parser.error("--steps takes at least 2, --rounds at least 1")
    import onnxruntime
    if options.four_bits:
        count = make_four_bits(options.model, options.four_bits)
        print(f"{count} products with weights of 4 bits: {options.four_bits}")
        options.model = options.four_bits
    prompt = [int(number) for number in options.prompt.split(",")]
    levels = {"without optimisations": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
              "with all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}
    own, times, tokens = [], {name: [] for name in levels}, {}
    for _ in range(options.rounds):
        report = ours(options, prompt)
        own.append(report["step_ms"])
        for name, level in levels.items():
            tokens[name], taken = theirs(options, prompt, level)
            times[name].append(taken)
    print(f"arena {report['arena_size']} B, caches {report['carried_size']} B")
    print(f"stowage: {statistics.median(own):.3f} ms a token")
    for name, taken in times.items():
        ms = statistics.median(taken)
        print(f"onnxruntime {onnxruntime.__version__} {name}: {ms:.3f} ms a token, ratio "
              f"{statistics.median(own) / ms:.2f}, {agreed(report['tokens'], tokens[name])} of "
              f"{options.steps} tokens the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
