// Names inside the picture: short, and still different from each other, as in the static picture.
// What most names begin with is left out, and what is too long is cut where the fewest others
// become the same text.

const MOST_ALIKE = 400; // names that a cut is compared with: those of the largest buffers
const MOST_CUTS = 12; // places tried for one name

// What at least two of three names that have a path begin with.
function commonPrefix(names) {
  // |name| up to the part that follows the first |size| characters; "": that is its last part.
  const onePartMore = (name, size) => {
    const more = /^[/.]*[^/.]+[/.]+(?=[^/.])/.exec(name.slice(size));
    return more ? name.slice(0, size) + more[0] : "";
  };
  const all = names.filter((name) => onePartMore(name, 0));
  let prefix = "";
  for (;;) {
    const votes = new Map();
    for (const name of all) {
      const more = name.startsWith(prefix) && onePartMore(name, prefix.length);
      if (more) votes.set(more, (votes.get(more) || 0) + 1);
    }
    const most = [...votes].find(([, count]) => 3 * count >= 2 * all.length);
    if (!most) return prefix;
    prefix = most[0];
  }
}

// |name| in |most| characters of which |head| are its first ones.
const cutName = (name, head, most) =>
  cutEnd(name.slice(0, head)) + "…" + cutStart(name.slice(name.length - (most - 1 - head)));

// |order| lists buffers, the largest first. The function returned gives the name of a buffer in at
// most so many characters; |taken| holds cut names that the picture has already, and grows. "":
// nothing is left by which it could be told from another.
function makeNames(model, order) {
  const { buffers } = model;
  const named = (b) => buffers.name[b] >= 0;
  const nameAt = (b) => stringAt(model, buffers.name[b]);
  const all = Array.from({ length: buffers.count }, (_, b) => b);
  const prefix = commonPrefix(all.filter(named).map(nameAt));
  const cuts = new Map();

  function shortened(b) {
    if (!named(b)) return bufferName(model, b, 160);
    let name = nameAt(b);
    if (name.length > prefix.length && name.startsWith(prefix)) name = name.slice(prefix.length);
    name = name.replace(/^\/+(?=.)/, "").replace(/(.)_output_0$/, "$1");
    return shownName(name, 160) || "(no name)";
  }

  const others = [...new Set(order.slice(0, MOST_ALIKE))].map(shortened);

  function bestCut(name, most) {
    const stride = Math.ceil(most / MOST_CUTS) | 1; // odd: on both sides of the middle
    let fewest = Infinity;
    let best = "";
    for (let i = 0; i < most && fewest > 1; i += stride) {
      const head = (i + most) % 2 ? (most - 1 - i) >> 1 : (most + i) >> 1; // the middle first
      const [first, last] = [name.slice(0, head), name.slice(name.length - (most - 1 - head))];
      const alike = others.filter(
        (other) => other.length >= most && other.startsWith(first) && other.endsWith(last),
      ).length;
      if (alike < fewest) [fewest, best] = [alike, cutName(name, head, most)];
    }
    return best;
  }

  return (b, most, taken) => {
    const name = shortened(b);
    if (name.length <= most) return name;
    const key = b * 1024 + most;
    if (!cuts.has(key)) cuts.set(key, bestCut(name, most));
    const text = cuts.get(key);
    if (taken.has(text)) return "";
    taken.add(text);
    return text;
  };
}
