"""Checks what `stowage view` wrote: python3 check_view.py WHAT FILE [PLAN]. Prints what is wrong and
exits 1. Only the standard library is needed."""
import base64
import hashlib
import html.parser
import json
import re
import sys
import xml.etree.ElementTree


def expect(good, message):
    if not good:
        print(message)
        sys.exit(1)


def pieces(data, i):
    """(begin, end, low, high) of buffer i, windows applied."""
    b, w = data["buffers"], data["buffers"]["windows"]
    mine = [k for k, of in enumerate(w["of"]) if of == i]
    at = b["begin"][i]
    for k in mine:
        expect(w["begin"][k] >= at, "windows of buffer %d overlap" % i)
        if w["begin"][k] > at:
            yield at, w["begin"][k], 0, b["size"][i] + b["guard"][i]
        yield w["begin"][k], w["end"][k], w["low"][k], w["high"][k]
        at = w["end"][k]
    expect(at <= b["end"][i], "a window of buffer %d outlives it" % i)
    if at < b["end"][i]:
        yield at, b["end"][i], 0, b["size"][i] + b["guard"][i]


def check_columns(table, name):
    lengths = {len(column) for key, column in table.items() if isinstance(column, list)}
    expect(len(lengths) <= 1, "%s: columns of different lengths" % name)


def check_json(data):
    expect(data["stowage_view"] == 1, "not version 1")
    for name in ("steps", "buffers", "values", "reads", "load"):
        check_columns(data[name], name)
    check_columns(data["buffers"]["windows"], "windows")
    b, v, facts, strings = data["buffers"], data["values"], data["facts"], data["strings"]
    alike = "\ufffd" in "".join(strings) or "at" in data  # types of a range may be alike by chance
    expect(len(set(strings)) == len(strings) or alike, "a string stands twice")
    for column in (b["name"], b["op"], b["type"], v["name"], data["steps"]["op"]):
        expect(all(-1 <= i < len(strings) for i in column), "an index of no string")
    count = len(b["id"])
    top = max([b["offset"][i] + b["size"][i] + b["guard"][i] for i in range(count)], default=0)
    expect(top <= facts["arena"], "a buffer ends above the arena")
    load = {}
    for i in range(count):
        for begin, end, low, high in pieces(data, i):
            load[begin] = load.get(begin, 0) + high - low
            load[end] = load.get(end, 0) - high + low
    level, levels = 0, {}
    for step in sorted(load):
        level += load[step]
        levels[step] = level
    told = dict(zip(data["load"]["step"], data["load"]["bytes"]))
    expect(told == levels, "the load is wrong")
    peak = max(levels.values(), default=0)
    expect(facts["peak_bytes"] == peak, "the peak is wrong")
    for i, buffer in enumerate(v["buffer"]):
        expect(0 <= v["low"][i] and v["low"][i] + v["size"][i] <= b["size"][buffer],
               "value %d lies outside its buffer" % v["id"][i])
        expect(b["begin"][buffer] <= v["begin"][i] and v["end"][i] <= b["end"][buffer],
               "value %d outlives its buffer" % v["id"][i])
    reads = list(zip(data["reads"]["value"], data["reads"]["step"]))
    expect(reads == sorted(reads), "reads are not sorted")


def check_plan(data, plan):
    """Against `stowage plan --format json`."""
    facts = data["facts"]
    expect(facts["arena"] == plan["arena_size"], "another arena than the plan's")
    expect(facts["bound"] == plan["search"]["bound"], "another bound than the plan's")
    expect(facts["peak_step"] == plan["peak"]["step"], "another peak than the plan's")
    views = sum(n for n, how in zip(data["values"]["size"], data["values"]["how"]) if how == 0)
    scratch = sum(x["need"] for x in plan["scratch"])
    expect(facts["unshared"] == plan["total_unshared"] - views + scratch,
           "another sum than the plan's")
    expect(data["steps"]["node"] == plan["order"], "another order than the plan's")
    b, v = data["buffers"], data["values"]
    told = {}
    for i, value in enumerate(b["id"]):
        told[value] = (b["offset"][i], b["size"][i], b["begin"][i], b["end"][i])
    for i, value in enumerate(v["id"]):
        told[value] = (b["offset"][v["buffer"][i]] + v["low"][i], v["size"][i], v["begin"][i],
                       v["end"][i])
    told.pop(-1, None)
    known = {x["id"]: (x["offset"], x["size"], x["begin"], x["end"]) for x in plan["values"]
             if x["offset"] is not None}
    expect(told == known, "slots or lives differ from the plan's")
    for i, value in enumerate(v["id"]):
        expect(plan["values"][value]["root"] == b["id"][v["buffer"][i]], "another root")
    # How a value came to lie where it does, where the plan tells.
    how = {"view": 0, "in_place": 1, "home": 2}
    taken = {}
    for d in plan["decisions"]:
        if d["taken"]:
            taken.setdefault(d["operand" if d["share"] == "home" else "result"],
                             set()).add(how[d["share"]])
    for i, value in enumerate(v["id"]):
        if value in taken:
            expect(v["how"][i] in taken[value], "%%%d: how is %d" % (value, v["how"][i]))


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.styles, self.policy, self.open = [], [], None, None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        expect(not any(name.startswith("on") for name in attrs), "an inline handler")
        expect("src" not in attrs and tag not in ("link", "iframe", "object", "embed", "base"),
               "the page loads something: " + tag)
        if tag in ("script", "style"):
            self.open = (tag, attrs, [])
        if attrs.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = attrs["content"]

    def handle_data(self, text):
        if self.open:
            self.open[2].append(text)

    def handle_endtag(self, tag):
        if self.open and tag == self.open[0]:
            kind = self.scripts if tag == "script" else self.styles
            kind.append((self.open[1], "".join(self.open[2])))
            self.open = None


def check_html(text):
    page = Page()
    page.feed(text)
    page.close()
    data = [body for attrs, body in page.scripts if attrs.get("id") == "stowage-data"]
    code = [body for attrs, body in page.scripts if "id" not in attrs]
    expect(len(data) == 1 and len(code) == 1 and len(page.scripts) == 2, "not two scripts")
    expect(len(page.styles) == 1, "not one style")
    expect(page.policy is not None and "default-src 'none'" in page.policy, "no policy")
    expect("unsafe" not in page.policy, "an unsafe policy")
    for body, part in ((code[0], "script-src"), (page.styles[0][1], "style-src")):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        expect("%s 'sha256-%s'" % (part, digest) in page.policy, "the hash of %s is wrong" % part)
    expect(not re.search("[<>&\u2028\u2029]", data[0]), "the data is not escaped")
    check_json(json.loads(data[0]))
    return json.loads(data[0])


def check_svg(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    expect(root.tag == space + "svg", "not a picture")
    known = {space + tag for tag in ("svg", "title", "desc", "defs", "pattern", "path", "text")}
    for element in root.iter():
        expect(element.tag in known, "an element that does not belong: " + element.tag)
        expect(not any(a.startswith("on") or "href" in a for a in element.attrib), "an attribute")
    texts = [e for e in root.iter(space + "text")]
    units = {e.text.split()[-1] for e in texts if e.get("x") == "80"}
    expect(len(units) == 1, "a scale of several units: %s" % sorted(units))
    expect(any(e.text.startswith("step: ") for e in texts), "the axis of time has no name")
    cut = [e.text for e in texts if e.get("pointer-events") == "none" and "\u2026" in e.text]
    expect(len(set(cut)) == len(cut), "names are cut to the same text: %s" % sorted(cut))
    for e in texts:
        expect(float(e.get("y")) < float(root.get("height")), "text below the picture")


def check_trace(trace):
    lanes = {}
    counters = set()
    named = set()
    for event in trace["traceEvents"]:
        expect(event["ph"] in "MCXi", "an event of another kind")
        expect("pid" in event and "tid" in event and "name" in event, "an event lacks a key")
        if event["ph"] == "X":
            lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
        if event["ph"] == "M":
            name = (event["pid"], event["tid"], event["name"])
            expect(name not in named, "%s is told twice" % (name,))
            named.add(name)
        if event["ph"] == "C":
            counters.add(event["name"])
    expect({"load", "arena", "bound"} <= counters, "a counter is missing")
    for lane, events in lanes.items():
        events.sort()
        for (a, dur), (b, _) in zip(events, events[1:]):
            expect(a + dur <= b, "events of lane %s overlap" % (lane,))


def read_series(text):
    order, *runs = text.split()
    numbers = []
    for run in runs:
        value, _, count = run.partition("x")
        numbers += [int(value)] * int(count or 1)
    for _ in range(int(order)):
        for i in range(1, len(numbers)):
            numbers[i] += numbers[i - 1]
    return numbers


def picture_at(text, index):
    """The data of the drawn point with this index, as docs/view-format.md says."""
    own = text[: text.rindex(',\n"range":')] + "}"
    ranged = json.loads(text)["range"]
    frames = read_series(ranged["frame"])
    rank = frames[:index].count(frames[index])
    frame = ranged["frames"][frames[index]]
    series, at = {}, -1
    for gap, number in zip(frame["cells"][::2], frame["cells"][1::2]):
        at += gap + 1
        series[at] = read_series(ranged["series"][number])[rank]
    tokens = iter(range(1 << 30))

    def fill(token):
        place = next(tokens)
        if place not in series:
            return token.group()
        words = ["optimal", "feasible"]
        return words[series[place]] if token.group() in words else str(series[place])

    return json.loads(re.sub(r"\d+|optimal|feasible", fill, frame["text"] or own))


def check_range(text, folder):
    """FOLDER has the data of each point, drawn alone."""
    ranged = json.loads(text)["range"]
    for point, arena in enumerate(read_series(ranged["arena"])):
        found = picture_at(text, point)
        check_json(found)
        expect(found["facts"]["arena"] <= arena, "point %d: the arena is above the curve" % point)
        alone = json.loads(read("%s/%d.json" % (folder, point)))
        expect(alone.pop("range")["point"] == point, "point %d: another one" % point)
        expect(found == alone, "point %d: other data" % point)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def main():
    what, path = sys.argv[1:3]
    if what == "all":
        data = check_html(read(path + ".html"))
        expect(data == json.loads(read(path + ".json")), "the page has other data")
        check_svg(path + ".svg")
        check_trace(json.loads(read(path + ".trace")))
        return
    if what == "svg":
        check_svg(path)
        return
    text = read(path)
    if what == "html":
        check_html(text)
    elif what == "trace":
        check_trace(json.loads(text))
    elif what == "range":
        check_range(text, sys.argv[3])
    elif what == "ask":
        print(eval(sys.argv[3], {"d": json.loads(text)}))  # an expression of the test's own
    else:
        data = json.loads(text)
        check_json(data)
        if len(sys.argv) > 3:
            check_plan(data, json.loads(read(sys.argv[3])))


main()
