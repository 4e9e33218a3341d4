"""The table of real models (models.txt), and models whose inputs are bound."""
import os
import shlex


class Entry:
    """A line of the table: label, path, and the words that an import is given."""

    def __init__(self, line, folder):
        label, path, *words = shlex.split(line)
        self.label = label
        self.path = os.path.join(folder, path)
        self.args = words
        self.binds = {}
        self.values = {}
        for option, argument in zip(words[::2], words[1::2]):
            name, numbers = argument.rsplit("=", 1)
            numbers = [int(n) for n in numbers.split(",") if n]
            if option == "--bind":
                self.binds[name] = numbers[0]
            elif option == "--value":
                self.values[name] = numbers


def read_table(folder, only=(), table=None):
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.txt")
    with open(table or own, encoding="utf-8") as lines:
        entries = [Entry(l, folder) for l in lines if l.strip() and not l.startswith("#")]
    entries = [e for e in entries if not only or e.label in only]
    return [e for e in entries if os.path.exists(e.path)], [
        e for e in entries if not os.path.exists(e.path)]


def graph_inputs(model):
    """Inputs that are no initializers."""
    initial = {tensor.name for tensor in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in initial]


def bind_inputs(model, binds):
    """Puts numbers in the place of the symbols of the inputs; a dim without a name is NAME.AXIS."""
    for info in graph_inputs(model):
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value"):
                dim.dim_value = binds[dim.dim_param or f"{info.name}.{axis}"]


def make_feeds(model, values, seed=1):
    """Random floats and ones, or the values that are given."""
    import numpy  # not above: the benchmark measures what other packages take
    import onnx
    random = numpy.random.default_rng(seed)
    feeds = {}
    for info in graph_inputs(model):
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        if info.name in values:
            given = numpy.array(values[info.name], dtype)
            feeds[info.name] = numpy.broadcast_to(given.reshape(-1)[0], shape).copy() \
                if given.size == 1 else given.reshape(shape)
        elif dtype.kind == "f":
            feeds[info.name] = random.random(shape).astype(dtype)
        else:
            feeds[info.name] = numpy.ones(shape, dtype)
    return feeds
