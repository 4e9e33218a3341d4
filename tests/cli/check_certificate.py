"""Damages certificates and placements in every way that matters: each damage must be refused.

Usage: check_certificate.py STOWAGE VERIFIER FOLDER
"""

import contextlib
import copy
import importlib.util
import io
import json
import pathlib
import random
import subprocess
import sys

stowage, verifier, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
spec = importlib.util.spec_from_file_location("verify_certificate", verifier)
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
checks = 0


def refusal(problem, claims, placed=None):
    """Why the verifier refuses it; None if it does not."""
    path = folder / "claims.json"
    path.write_text(json.dumps(claims), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            verify.main([problem, path] + ([] if placed is None else [placed]))
    except SystemExit as refused:
        return refused.code
    return None


def expect(holds, *what):
    global checks
    checks += 1
    if not holds:
        sys.exit(" ".join(str(part) for part in what))


def solve(problem, *options):
    certificate, placed = folder / "certificate.json", folder / "placed.csv"
    done = subprocess.run([stowage, "solve", problem, "--certificate", certificate, "-o", placed,
                           "--nodes", "20k", "--format", "json", *options],
                          capture_output=True, text=True, check=True)
    claims = json.loads(certificate.read_text(encoding="utf-8"))
    found = json.loads(done.stdout)
    expect(claims["height"] == found["height"], problem, claims, found)
    expect(claims["bound"] >= found["lower_bound"] >= found["peak_load"], problem, claims, found)
    expect(claims["bound"] == max(claims["certified_bound"], found["lower_bound"]), problem)
    return claims, placed


def recount(section, live):
    """A forger's section: its sums follow from what it lists."""
    sizes = [entry["bytes"] for entry in live]
    padding = [-size % section["unit"] for size in sizes]
    section.update(live=live, load=sum(sizes), padded=sum(sizes) + sum(padding),
                   padding=max(padding, default=0))
    section["bound"] = section["padded"] - section["padding"]


def recertify(claims):
    """… and its bounds follow from the section."""
    bounds = {key: (claims[key] or {"bound": 0})["bound"]
              for key in ("section", "fixed_end", "largest")}
    by = max(bounds, key=bounds.get)
    claims.update(certified_bound=bounds[by], certified_by=by, bound=bounds[by], bound_by=by)
    claims["height"] = max(claims["height"], bounds[by])
    claims["optimal"] = claims["height"] == claims["bound"]


def damages(claims):
    """Every damaged certificate, with its name."""
    def damaged(name, change, repair=recertify):
        other = copy.deepcopy(claims)
        change(other)
        if repair is not None:
            repair(other)
        return name, other

    def change_live(change):
        def apply(other):
            live = other["section"]["live"]
            change(live)
            recount(other["section"], live)
        return apply

    def grow(entry):
        entry["high"] += 64
        entry["bytes"] += 64

    def shift(entry):
        entry["low"] += 64
        entry["high"] += 64

    def double_unit(other):
        other["section"]["unit"] *= 2
        recount(other["section"], other["section"]["live"])

    def raise_certified(other):
        other["certified_bound"] += 1
        other["bound"] = max(other["bound"], other["certified_bound"])
        other["height"] = max(other["height"], other["bound"])
        other["optimal"] = other["height"] == other["bound"]

    live = claims["section"]["live"]
    yield damaged("too high certified bound", raise_certified, None)
    yield damaged("bound above the height", lambda c: c.update(bound=c["height"] + 1), None)
    yield damaged("optimal", lambda c: c.update(optimal=not c["optimal"]), None)
    yield damaged("number of buffers", lambda c: c.update(buffers=c["buffers"] + 1), None)
    yield damaged("version", lambda c: c.update(stowage_certificate=2), None)
    yield damaged("proof", lambda c: c.update(bound_by="faith"), None)
    yield damaged("certified by", lambda c: c.update(certified_by="faith", bound_by="faith"), None)
    yield damaged("no section", lambda c: c.pop("section"), None)
    for key in ("load", "padded", "padding", "bound"):
        yield damaged(f"section's {key}",
                      lambda c, k=key: c["section"].update({k: c["section"][k] + 1}))
    for key in ("fixed_end", "largest"):
        if claims[key] is not None:
            yield damaged(f"{key}'s bound", lambda c, k=key: c[k].update(bound=c[k]["bound"] + 1))
            yield damaged(f"{key}'s id", lambda c, k=key: c[k].update(id=c[k]["id"] + "x"))
            yield damaged(f"{key}'s row", lambda c, k=key: c[k].update(row=c["buffers"] + 1))
            yield damaged(f"no {key}", lambda c, k=key: c.update({k: None}))
        else:
            yield damaged(f"an invented {key}",
                          lambda c, k=key: c.update({k: {"row": 1, "id": "x", "bound": 10**9}}))
    if live:
        last = len(live) - 1
        yield damaged("wrong step", lambda c: c["section"].update(step=10**9))
        yield damaged("missing buffer", change_live(lambda l: l.pop()))
        yield damaged("buffer twice", change_live(lambda l: l.append(l[0])))
        yield damaged("larger buffer", change_live(lambda l: grow(l[last])))
        yield damaged("other bytes", change_live(lambda l: shift(l[0])))
        yield damaged("wrong row", change_live(lambda l: l[0].update(row=l[0]["row"] + 1)))
        yield damaged("wrong id", change_live(lambda l: l[0].update(id=l[0]["id"] + "x")))
        yield damaged("too large unit", double_unit)
        yield damaged("unit that is not a power of two", lambda c: c["section"].update(unit=3))
    if claims["height"] > claims["certified_bound"]:
        yield damaged("bound of the search as a proven one", lambda c: c.update(
            bound=c["height"], bound_by=c["certified_by"], optimal=True), None)


def damaged_placements(placed):
    lines = placed.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    column = lines[0].split(",").index("offset")
    rows = [line.split(",") for line in lines[1:]]
    offsets = [int(row[column]) for row in rows]
    for at, offset in ((0, offsets[0] + 1), (len(rows) - 1, ""), (0, max(offsets) + 4096)):
        other = [row[:] for row in rows]
        other[at][column] = str(offset)
        path = folder / "damaged.csv"
        path.write_text("\n".join([lines[0]] + [",".join(row) for row in other]) + "\n",
                        encoding="utf-8", errors="surrogateescape")
        yield f"offset {offset} of row {at + 1}", path


def check(problem, *options, by=None):
    claims, placed = solve(problem, *options)
    refused = refusal(problem, claims, placed)
    expect(refused is None, problem.name, refused)
    expect(refusal(problem, claims) is None, problem.name, "without a placement")
    expect(by in (None, claims["bound_by"]), problem.name, claims)
    for name, damage in damages(claims):
        expect(refusal(problem, damage) is not None, problem.name, "accepted:", name)
    taller = dict(claims, height=claims["height"] + 1, optimal=False)
    expect(refusal(problem, taller, placed) is not None, problem.name, "accepted: a wrong height")
    return claims, placed


def write(name, *lines):
    path = folder / name
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode()
                                for line in lines) + b"\n")
    return path


def random_problem(draw, number):
    """Alignments, windows that begin at some multiple, and fixed offsets far apart."""
    use_end = draw.random() < 0.5
    unit = draw.choice((1, 4, 16))
    lines = [f"id,lower,{'end' if use_end else 'upper'},size,alignment,offset,gaps"]
    for i in range(draw.randrange(1, 25)):
        begin = draw.randrange(20)
        end = begin + draw.randrange(1, 12)
        size = draw.randrange(1, 200)
        windows, at = [], begin + 1
        while at < end and draw.random() < 0.5:
            to = draw.randrange(at, end) + 1
            low = draw.randrange(size) // unit * unit
            part = "" if draw.random() < 0.5 else f"@{low}:{draw.randrange(low, size) + 1}"
            windows.append(f"{at}-{to - use_end}{part}")
            at = to
        alignment = draw.choice((unit, unit, unit * 2, unit * 16))
        offset = 4096 + 256 * i if draw.random() < 0.1 else draw.choice(("", "-1"))
        cells = (f"b{i}", begin, end - use_end, size, alignment, offset, " ".join(windows))
        lines.append(",".join(str(cell) for cell in cells))
    return write(f"random-{number}.csv", *lines)


header = "id,lower,upper,size"
plain = write("plain.csv", header, "a,0,4,100", "b,2,6,50", "c,4,8,100")
claims, placed = check(plain, by="section")
for name, path in damaged_placements(placed):
    expect(refusal(plain, claims, path) is not None, "accepted:", name)
aligned = write("aligned.csv", header + ",alignment", "a,0,4,100,64", "b,0,4,10,64", "c,3,6,1,64")
claims, placed = check(aligned, by="section")
expect(claims["certified_bound"] == 128 + 64 + 64 - 63, claims)
for name, path in damaged_placements(placed):
    expect(refusal(aligned, claims, path) is not None, "accepted:", name)
expect(refusal(plain, claims) is not None, "accepted: another problem's certificate")
fixed = write("fixed.csv", header + ",offset", "a,0,4,100,", "b,0,4,50,400", "c,5,6,7,0")
claims, placed = check(fixed, by="fixed_end")
moved = write("moved.csv", header + ",offset", "a,0,4,100,0", "b,0,4,50,400", "c,5,6,7,1")
expect(refusal(fixed, claims, moved) is not None, "accepted: a fixed buffer that moved")
check(fixed, "--ignore-offsets", by="section")
check(write("largest.csv", header + ",gaps", "a,0,4,100,0-3@0:10 3-4@50:60"), by="largest")
check(write("windows.csv", "begin,gaps,buffer,end,size", "0,2-3@8:16 5-6,a,9,64", "2,,b,6,56"),
      by="section")
holes = write("holes.csv", header + ",alignment", "a,0,4,5,8", "b,0,4,5,8", "c,0,4,4,1")
claims, _ = check(holes, by="search")
expect(claims["bound"] == 17 and claims["certified_bound"] == 14 and claims["optimal"], claims)
check(write("odd.csv", "\ufeffid,lower,upper,size\r", '"quote "" back\\slash",0,4,8\r', "",
            "tab\t\u00e9\u2028,0, 4,8\r", b"bad\xff\xc3,0,4,8\r", '"two\nlines\x1b",0,4,9'))
claims, _ = check(write("empty.csv", header))
expect(claims["optimal"] and claims["bound"] == 0, claims)
draw = random.Random(1)
by = set()
for number in range(60):
    problem = random_problem(draw, number)
    by.add(check(problem)[0]["bound_by"])
    claims, _ = solve(problem, "--strategy", "first-fit")  # proves what the load does, no more
    expect(claims["bound_by"] != "search", "the load proves more than the certificate", claims)
expect({"section", "fixed_end"} <= by, by)
print(f"{checks} checks")
