#!/usr/bin/env python3
"""Checks a certificate of `stowage solve --certificate` against its problem, from the documented
formats alone (docs/csv-format.md): it shares no code with the command.

    verify_certificate.py PROBLEM.csv CERTIFICATE.json [PLACED.csv]

PLACED.csv, as `stowage solve -o` writes it, is proven to be a placement of the stated height.
Prints what is proven and exits 0, or prints the first claim that does not hold and exits 1.
"""

import bisect
import codecs
import collections
import csv
import io
import json
import sys

ALIASES = {"buffer": "id", "buffer_id": "id", "begin": "lower", "start": "lower"}
Buffer = collections.namedtuple("Buffer", "id begin end size alignment offset windows")
# What JSON strings have instead of bytes that are not UTF-8.
codecs.register_error("replace_byte", lambda error: ("\ufffd", error.start + 1))


def require(condition, claim):
    if not condition:
        sys.exit(f"refused: it does not hold that {claim}")


def read_windows(cell, inclusive):
    """The list of (begin, end, low, high) of a cell `FROM-TO FROM-TO@LOW:HIGH`."""
    windows = []
    for word in cell.split():
        steps, _, part = word.partition("@")
        begin, end = (int(number) for number in steps.split("-"))
        low, high = (int(number) for number in part.split(":")) if part else (0, 0)
        windows.append((begin, end + inclusive, low, high))
    return windows


def read_csv(path):
    with open(path, "rb") as file:
        text = file.read().removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    csv.field_size_limit(2**31 - 1)
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    header = [ALIASES.get(name.strip(), name.strip()) for name in rows[0]]
    buffers = []
    for row in rows[1:]:
        cell = dict(zip(header, row))
        name = cell["id"].encode("utf-8", "surrogateescape").decode("utf-8", "replace_byte")
        inclusive = "end" in header
        end = int(cell["end"]) + 1 if inclusive else int(cell["upper"])
        offset = cell.get("offset", "").strip()
        buffers.append(Buffer(
            name, int(cell["lower"]), end, int(cell["size"]),
            int(cell.get("alignment", "").strip() or 1),
            None if offset in ("", "-1") else int(offset),
            read_windows(cell.get("gaps", ""), inclusive)))
    return buffers


def pieces(buffer):
    """Parts of a lifetime and the bytes occupied in each: (begin, end, low, high)."""
    at = buffer.begin
    for begin, end, low, high in buffer.windows:
        if at < begin:
            yield at, begin, 0, buffer.size
        if low < high:
            yield begin, end, low, high
        at = end
    if at < buffer.end:
        yield at, buffer.end, 0, buffer.size


def check_section(buffers, section):
    """No placement is lower than what is live at one step: all ranges begin at multiples of the
    unit, so each but the topmost takes its size rounded up."""
    step, unit = section["step"], section["unit"]
    live = [{"row": row, "id": buffer.id, "low": low, "high": high, "bytes": high - low}
            for row, buffer in enumerate(buffers, 1)
            for begin, end, low, high in pieces(buffer) if begin <= step < end]
    require(unit > 0 and unit & (unit - 1) == 0, f"the unit {unit} is a power of two")
    require(section["live"] == live, f"the listed buffers and bytes are those live at step {step}")
    for entry in live:
        start = buffers[entry["row"] - 1].alignment | entry["low"]
        require(start % unit == 0, f"row {entry['row']} begins at a multiple of the unit {unit}")
    padding = [-entry["bytes"] % unit for entry in live]
    load = sum(entry["bytes"] for entry in live)
    require(section["load"] == load, f"the load at step {step} is {section['load']}")
    require(section["padded"] == load + sum(padding), f"with padding it is {section['padded']}")
    require(section["padding"] == max(padding, default=0),
            f"the largest padding is {section['padding']}")
    require(section["bound"] == section["padded"] - section["padding"],
            f"the section proves {section['bound']}")
    return section["bound"]


def check_single(buffers, key, claim, bounds):
    """One buffer alone: the highest end of a fixed one, or the largest."""
    if claim is None:
        require(not any(bounds), f"there is no buffer for `{key}`")
        return 0
    row = claim["row"]
    require(0 < row <= len(buffers) and buffers[row - 1].id == claim["id"],
            f"`{key}`: row {row} has the id {claim['id']!r}")
    require(claim["bound"] == bounds[row - 1] == max(bounds), f"`{key}` is {claim['bound']}")
    return claim["bound"]


def check_bounds(buffers, claims):
    fixed = [0 if b.offset is None else b.offset + b.size for b in buffers]
    proven = {"section": check_section(buffers, claims["section"]),
              "fixed_end": check_single(buffers, "fixed_end", claims["fixed_end"], fixed),
              "largest": check_single(buffers, "largest", claims["largest"],
                                      [b.size for b in buffers])}
    certified, bound = claims["certified_bound"], claims["bound"]
    require(certified == max(proven.values()), f"the certified bound is {certified}")
    require(proven.get(claims["certified_by"]) == certified,
            f"`{claims['certified_by']}` proves the certified bound")
    require(certified <= bound <= claims["height"],
            f"certified bound {certified} <= bound {bound} <= height {claims['height']}")
    require(claims["bound_by"] == (claims["certified_by"] if bound == certified else "search"),
            f"the bound is proven by `{claims['bound_by']}`")
    require(claims["optimal"] is (claims["height"] == bound),
            f"`optimal` is {claims['optimal']}: the height equals the bound")


def check_placement(buffers, placed, height):
    """Sweeps over time: what is born must fit between its neighbours among what is occupied."""
    require([b._replace(id="", offset=None) for b in buffers] ==
            [b._replace(id="", offset=None) for b in placed], "the rows placed are the problem's")
    changes = []
    for row, (asked, buffer) in enumerate(zip(buffers, placed), 1):
        require(buffer.offset is not None, f"row {row} has an offset")
        require(asked.offset in (None, buffer.offset), f"row {row} is at its fixed offset")
        require(buffer.offset % buffer.alignment == 0, f"row {row} is aligned")
        for begin, end, low, high in pieces(buffer):
            occupied = buffer.offset + low, buffer.offset + high, row
            changes += [(begin, 1, occupied), (end, 0, occupied)]
    highest = max((b.offset + b.size for b in placed), default=0)
    require(highest == height, f"the height is {height}")
    live = []  # disjoint, in order of offset
    for step, is_birth, occupied in sorted(changes):
        at = bisect.bisect_left(live, occupied)
        if not is_birth:
            del live[at]
            continue
        for other in live[max(at - 1, 0):at + 1]:
            require(other[1] <= occupied[0] or occupied[1] <= other[0],
                    f"rows {other[2]} and {occupied[2]} are apart at step {step}")
        live.insert(at, occupied)


def check(problem, certificate, placed=None):
    with open(certificate, encoding="utf-8") as file:
        claims = json.load(file)
    require(claims["stowage_certificate"] == 1, "the certificate has version 1")
    buffers = read_csv(problem)
    require(claims["buffers"] == len(buffers), f"the problem has {claims['buffers']} buffers")
    if claims["ignore_offsets"]:
        buffers = [buffer._replace(offset=None) for buffer in buffers]
    check_bounds(buffers, claims)
    height, bound, certified = claims["height"], claims["bound"], claims["certified_bound"]
    print(f"proven: no placement is lower than {certified}, by `{claims['certified_by']}`")
    if bound > certified:
        print(f"not proven here: the search's bound {bound} has no short proof")
    if placed is None:
        print(f"not checked: the height {height}; give the placed CSV")
        return
    check_placement(buffers, read_csv(placed), height)
    print(f"proven: the placement is valid, and its height is {height}")
    if height == certified:
        print("proven: the placement is optimal")


def main(paths):
    if len(paths) not in (2, 3):
        sys.exit(__doc__)
    try:
        check(*paths)
    except (KeyError, TypeError, ValueError, IndexError, OSError, csv.Error) as error:
        sys.exit(f"refused: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
