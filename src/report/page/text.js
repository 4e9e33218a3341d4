"use strict";
// Text: bytes, numbers and names as people read them, and elements made without markup. Names come
// from models and are hostile: they reach the document through textContent alone, and marks that
// would vanish, or turn the text around them, are spelled out.

const $ = (id) => document.getElementById(id);

// An element with properties and children; strings become text nodes, so no markup is ever parsed.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "click") element.addEventListener("click", value);
    else if (name in element && !name.startsWith("aria")) element[name] = value;
    else element.setAttribute(name, value);
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined) element.append(child);
  return element;
}

// A table to look words of models and users up in: it holds "constructor" only where it was put in.
const lookup = (entries) => Object.assign(Object.create(null), entries);

const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

// 17305600 → "16.5 MiB": three significant digits, units of 1024.
function bytesText(n) {
  let unit = 0;
  let size = Math.abs(n);
  while (size >= 1023.5 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  const digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return (n < 0 ? "−" : "") + size.toFixed(digits) + "\u202f" + UNITS[unit];
}

const exactBytes = (n) => thousands(n) + "\u202fB";
const signedBytes = (n) => (n > 0 ? "+" : "") + bytesText(n);
const hexText = (n) => "0x" + n.toString(16);
const percent = (part, whole) =>
  whole > 0
    ? ((100 * part) / whole).toFixed(part < whole && part * 1000 > 995 * whole ? 2 : 1) + "\u202f%"
    : "–";
const plural = (n, one, many) => thousands(n) + "\u202f" + (n === 1 ? one : many || one + "s");

// Control characters, marks of direction and what shows as nothing: written as escapes.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function shownName(name, limit) {
  let text = name;
  const most = limit || 160;
  if (text.length > most) {
    const half = most >> 1;
    text = cutEnd(text.slice(0, half)) + "…" + cutStart(text.slice(-half));
  }
  return text.replace(INVISIBLE, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

// A cut must not leave half of a surrogate pair.
const cutEnd = (text) => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text);
const cutStart = (text) => (/^[\udc00-\udfff]/.test(text) ? text.slice(1) : text);

// RFC 4180: quoted where needed, quotes doubled.
function csvField(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
