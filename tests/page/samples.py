"""Data for pages: a small plan with everything in it, hostile names, and a large one."""

import random

KINDS = ["input", "param", "constant", "activation", "scratch", "state", "reserved", "buffer"]
BUFFER_COLUMNS = [
    "id",
    "name",
    "op",
    "type",
    "kind",
    "offset",
    "size",
    "guard",
    "begin",
    "end",
    "made",
    "align",
    "flags",
]
VALUE_COLUMNS = ["id", "of", "name", "op", "type", "buffer", "low", "size", "begin", "end", "how"]
RING_COLUMNS = ["name", "op", "type", "rows", "buffer", "low", "size", "begin", "end"]
WINDOW_COLUMNS = ["of", "begin", "end", "low", "high"]

# Each would do harm, or mislead, where it is not taken as plain text.
HOSTILE = [
    "</script><script>window.__pwned = 1</script>",
    "<img src=x onerror='window.__pwned = 1'>",
    "<svg/onload=window.__pwned=1>",
    "\"'><b>bold</b>&lt;&amp;",
    "${window.__pwned = 1}`{{constructor.constructor('window.__pwned=1')()}}",
    "javascript:window.__pwned=1",
    "<!--<script>",
    "]]>\u2028\u2029line separators",
    "\u202egnp.exe\u202c right to left \u200f\u061c",
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467 and \U0001f4a9",
    "nul \u0000 bell \u0007 escape \u001b[31m",
    'comma, "quote"\nnew line',
    "=1+1+cmd|' /C calc'!A0",
    "__proto__",
    "constructor",
    "toString",
    "x" * 10240,
    "\u0301" * 300,
    "",
]


class Strings:
    def __init__(self):
        self.all = []
        self.index = {}

    def add(self, text):
        if text is None:
            return -1
        if text not in self.index:
            self.index[text] = len(self.all)
            self.all.append(text)
        return self.index[text]


def columns(names, rows):
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def view(title, strings, rows, steps, values=(), windows=(), reads=(), bound=0, facts=None):
    """The data of a page; |rows| are buffers as BUFFER_COLUMNS names their parts."""
    arena = max((row[5] + row[6] + row[7] for row in rows), default=0)
    op = strings.add("op")
    return {
        "stowage_view": 1,
        "title": title,
        "source": title,
        "kind": "graph",
        "facts": dict(
            {
                "arena": arena,
                "alignment": 64,
                "bound": bound or arena,
                "any_bound": None,
                "given_arena": None,
                "unshared": sum(row[6] for row in rows),
                "saved": 0,
                "capacity": None,
                "steps": steps - 1,
                "first_step": 0,
                "last_step": steps,
                "peak_step": 0,
                "peak_bytes": 0,
                "fits": None,
                "reuse": True,
                "outcome": "feasible",
                "strategy": "sample",
                "fingerprint": "0123456789abcdef",
                "options": {"alignment": "64"},
            },
            **(facts or {})
        ),
        "kinds": KINDS,
        "strings": strings.all,
        "steps": {
            "op": [op] * (steps - 1),
            "label": [-1] * (steps - 1),
            "node": list(range(steps - 1)),
        },
        "reads": columns(["value", "step"], reads),
        "buffers": dict(columns(BUFFER_COLUMNS, rows), windows=columns(WINDOW_COLUMNS, windows)),
        "values": columns(VALUE_COLUMNS, values),
        "against": None,
    }


def everything():
    """Windows, an in-place chain, elided copies, a guard, a fixed offset, a reserved stretch; and
    a plan to compare with."""
    s = Strings()
    f32 = s.add("f32[256]")
    rows = [
        (0, s.add("input"), -1, f32, 0, 0, 1024, 256, 0, 10, 0, 64, 1),
        (1, s.add("net.a/conv"), s.add("conv"), f32, 3, 1280, 2048, 0, 1, 6, 1, 64, 0),
        (4, s.add("net.b/concat"), s.add("concat"), f32, 3, 3328, 4096, 0, 2, 9, 4, 64, 2 | 8),
        (-1, -1, -1, -1, 4, 1280, 512, 0, 7, 8, 7, 64, 0),
        (-1, -1, -1, -1, 6, 7424, 576, 0, 0, 10, 0, 64, 1),
    ]
    values = [
        (2, 4, s.add("net.b/left"), s.add("relu"), f32, 2, 0, 2048, 2, 5, 2),
        (3, 4, s.add("net.b/right"), s.add("relu"), f32, 2, 2048, 2048, 3, 5, 2),
        (5, 4, s.add("net.b/relu"), s.add("relu"), f32, 2, 0, 4096, 5, 9, 1),
    ]
    windows = [(2, 2, 3, 0, 2048)]
    reads = [(0, 1), (1, 2), (1, 3), (4, 5), (5, 8)]
    data = view("everything", s, rows, 10, values, windows, reads)
    rings = [
        (-1, s.add("conv"), f32, 3, 3, 64, 256, 0, 500),
        (s.add("net.b/row"), s.add("relu"), f32, 1, 3, 0, 64, 250, 1000),
    ]
    data["rings"] = columns(RING_COLUMNS, rings)
    then = {"title": "yesterday", "facts": dict(data["facts"], arena=7488, unshared=8000)}
    then["changes"] = [
        {
            "name": rows[1][1],
            "change": "grew",
            "now": 1,
            "then": {
                "id": 1,
                "kind": 3,
                "offset": 1280,
                "size": 1536,
                "guard": 0,
                "begin": 1,
                "end": 6,
            },
        },
        {
            "name": rows[2][1],
            "change": "moved",
            "now": 2,
            "then": {
                "id": 4,
                "kind": 3,
                "offset": 2816,
                "size": 4096,
                "guard": 0,
                "begin": 2,
                "end": 9,
            },
        },
        {"name": -1, "change": "new", "now": 3, "then": None},
        {
            "name": s.add("net.c/old"),
            "change": "gone",
            "now": -1,
            "then": {"id": 9, "kind": 3, "offset": 0, "size": 64, "guard": 0, "begin": 8, "end": 9},
        },
    ]
    data["against"] = then
    return data


def hostile():
    s = Strings()
    rows = [
        (
            i,
            s.add(name),
            s.add(name[:2000]),
            s.add(name[:2000]),
            3,
            64 * i,
            64,
            0,
            i,
            i + 2,
            i,
            64,
            0,
        )
        for i, name in enumerate(HOSTILE)
    ]
    data = view(HOSTILE[0], s, rows, len(HOSTILE) + 2)
    data["source"] = HOSTILE[1]
    data["facts"]["strategy"] = HOSTILE[0]
    data["facts"]["options"] = {name[:200]: name[:200] for name in HOSTILE}
    data["hints"] = [{"change": name, "arena": 64} for name in HOSTILE]
    data["steps"]["op"] = [s.add(HOSTILE[i % len(HOSTILE)][:500]) for i in range(len(HOSTILE) + 1)]
    data["steps"]["label"] = list(data["steps"]["op"])
    data["against"] = {
        "title": HOSTILE[0],
        "facts": dict(data["facts"]),
        "changes": [
            {
                "name": s.add(name),
                "change": "gone",
                "now": -1,
                "then": {"offset": 64, "size": 64, "guard": 0, "begin": 0, "end": 2},
            }
            for name in HOSTILE
        ],
    }
    return data


def large_csv(count):
    """Buffers without places, for the command to place."""
    chance = random.Random(7)
    lines = ["id,lower,upper,size"]
    for i in range(count):
        life = 1 + int(chance.expovariate(1 / 40))
        lines.append(
            "block.%d/layer.%d/tensor_%d,%d,%d,%d"
            % (
                i // 500,
                i // 50 % 10,
                i,
                i // 2,
                i // 2 + life,
                64 * (1 + int(chance.expovariate(1 / 300))),
            )
        )
    return "\n".join(lines) + "\n"
