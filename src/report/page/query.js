// Finding: the words of the search box and the terms of the table's filter. Both are a pure
// function from text to a test of one buffer.

const UNIT_SIZE = { "": 1, b: 1, k: 1024, m: 1048576, g: 1073741824, t: 1099511627776 };

// What a buffer is found by, in lower case: its name and id and those of all that lies in it.
function searchTexts(model) {
  const { buffers, values } = model;
  const texts = new Array(buffers.count);
  for (let b = 0; b < buffers.count; b++) {
    let text = nameOf(model, buffers, b) + "\n" + opOf(model, b);
    for (let i = values.first[b]; i < values.first[b + 1]; i++) {
      const v = values.order[i];
      text += "\n" + nameOf(model, values, v) + "\n" + stringAt(model, values.op[v]);
    }
    texts[b] = text.toLowerCase();
  }
  return texts;
}

const hasId = (model, b, id) => {
  const { buffers, values } = model;
  if (buffers.id[b] === id) return true;
  for (let i = values.first[b]; i < values.first[b + 1]; i++)
    if (values.id[values.order[i]] === id) return true;
  return false;
};

// Buffers that hold the words in name or op, or the id ("%12" or "12"); exact names come first.
function findBuffers(model, texts, words) {
  const text = words.trim().toLowerCase();
  if (!text) return [];
  const number = /^%?(\d+)$/.exec(text);
  const hits = [];
  const exact = [];
  for (let b = 0; b < model.buffers.count; b++) {
    const byId = number && hasId(model, b, Number(number[1]));
    if (byId || ("\n" + texts[b] + "\n").includes("\n" + text + "\n")) exact.push(b);
    else if ((!number || text[0] !== "%") && texts[b].includes(text)) hits.push(b);
  }
  return exact.concat(hits);
}

const NUMBERS = lookup({
  size: (m, b) => m.buffers.size[b],
  offset: (m, b) => m.buffers.offset[b],
  begin: (m, b) => m.buffers.begin[b],
  end: (m, b) => m.buffers.end[b],
  life: (m, b) => m.buffers.end[b] - m.buffers.begin[b],
  id: (m, b) => m.buffers.id[b],
  without: (m, b) => m.without()[b],
});
const WORDS = lookup({
  op: opOf,
  kind: kindOf,
  type: typeOf,
  name: (m, b) => nameOf(m, m.buffers, b),
  change: changeOf,
});

const COMPARE = {
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
};

function termTest(model, texts, term) {
  const compare = /^(\w+)(>=|<=|>|<|=)([\d.]+)([bkmgt]?)(?:i?b)?$/.exec(term);
  if (compare && NUMBERS[compare[1]]) {
    const limit = Number(compare[3]) * UNIT_SIZE[compare[4]];
    return (b) => COMPARE[compare[2]](NUMBERS[compare[1]](model, b), limit);
  }
  const live = /^live:(\d+)$/.exec(term);
  if (live) {
    const step = Number(live[1]);
    return (b) => model.buffers.begin[b] <= step && step < model.buffers.end[b];
  }
  const word = /^(\w+):(.+)$/.exec(term);
  if (word && WORDS[word[1]])
    return (b) => WORDS[word[1]](model, b).toLowerCase().includes(word[2]);
  return (b) =>
    texts[b].includes(term) ||
    kindOf(model, b).includes(term) ||
    typeOf(model, b).toLowerCase().includes(term) ||
    "%" + model.buffers.id[b] === term;
}

// All terms of a filter must hold; the empty filter lets everything through.
function filterTest(model, texts, filter) {
  const tests = filter
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((term) => termTest(model, texts, term));
  return (b) => tests.every((test) => test(b));
}
