// The data of the page, and how it is put into words.
"use strict";
const ui = Object.fromEntries(Array.from(document.querySelectorAll("[id]"), element => [element.id, element]));
const { abs, ceil, floor, log10, log2, max, min, round } = Math;
const data = JSON.parse(ui.data.textContent);
const graph = data.graph;
const nodes = graph?.nodes ?? [];
const groups = graph?.groups ?? [];
const ports = data.ports ?? [];
const isDiff = !!graph?.is_diff;

// ---- numbers

// A number of the data. The texts "nan", "inf" and "-inf" are numbers too; what is not known is NaN.
const special = { inf: Infinity, "-inf": -Infinity };
const num = value => (typeof value === "number" ? value : special[value] ?? NaN);
const isKnown = value => value !== null && value !== undefined;

function shown(value) {
  if (!isKnown(value)) return "–";
  if (typeof value !== "number") return String(value);
  const size = abs(value);
  if (Number.isInteger(value) && size < 1e15) return value.toLocaleString("en-US");
  return size >= 1e6 || size < 1e-3 ? String(+value.toPrecision(4)).replace("e-", "e−") : String(+value.toPrecision(5));
}
const percent = share => (typeof share === "number" ? `${+(100 * share).toPrecision(3)} %` : shown(share));
const plural = (count, word) => `${shown(count)} ${word}${count === 1 ? "" : "s"}`;
const cut = (text, max = 48) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

// The smallest and the largest of values, however many there are.
const extent = values => values.reduce(([a, b], value) => [min(a, value), max(b, value)], [Infinity, -Infinity]);

// Orders values of a column: numbers by size, texts by letters, what is no number last.
const compared = (a, b) => (a < b ? -1 : a > b ? 1 : 0) || (a !== a) - (b !== b);

// Round numbers between two ends, about as many as wanted, no closer than `minStep`, with as many digits as tell neighbours apart.
function ticks(low, high, wanted, minStep = 0) {
  const rough = max((high - low) / wanted, minStep);
  const power = 10 ** floor(log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.999);
  const size = value => floor(log10(abs(value)) + 1e-9);
  const decimals = max(0, -size(step));
  const isShort = max(-low, high) < 1e6 && decimals < 6;
  const text = value => (isShort ? value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    : value === 0 ? "0" : value.toExponential(max(0, size(value) - size(step))));
  const first = ceil(low / step - 1e-9);
  const count = floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: max(0, count) }, (_, k) => ({ value: (first + k) * step, text: text((first + k) * step) }));
}

// ---- elements, with texts as texts

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (isKnown(value) && value !== false) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const html = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const drawn = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
const button = (text, act, about) => {
  const made = html("button", { "data-tip": about }, text);
  made.onclick = act;
  return made;
};

// A word that explains itself where an explanation is known; a long one is cut and shown whole on hover.
function term(word, text = word, about = null) {
  const known = about ?? (Object.hasOwn(data.terms ?? {}, word) ? data.terms[word] : null);
  if (known) return html("span", { class: "term", tabindex: 0, "data-tip": known }, cut(text));
  return cut(text) === text ? text : html("span", { "data-tip": text }, cut(text));
}

// ---- the tip beside what is pointed at or focused

const tip = ui.tip;
function showTip(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const [gap, edge] = [14, 8];
  const left = x + gap + tip.offsetWidth + edge <= innerWidth ? x + gap : x - gap - tip.offsetWidth;
  const top = y + gap + tip.offsetHeight + edge <= innerHeight ? y + gap : y - gap - tip.offsetHeight;
  tip.style.left = `${max(edge, left)}px`;
  tip.style.top = `${max(edge, top)}px`;
}
function tipOf(event) {
  const element = event.target.closest?.("[data-tip]");
  if (!element) return event.target === canvas || showTip(null);
  const box = element.getBoundingClientRect();
  element.setAttribute("aria-describedby", "tip");
  showTip(element.dataset.tip, event.clientX ?? box.left, event.clientY ?? box.bottom);
}

// ---- files: a chart as SVG, numbers as CSV

function save(name, type, text) {
  const link = html("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const csvCell = value => (/[\x22,\r\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
const csv = rows => rows.map(row => row.map(csvCell).join(",") + "\n").join("");
// Saves what columns {name, value} have of rows.
const saveCsv = (name, columns, rows) =>
  save(`${name}.csv`, "text/csv", csv([columns.map(one => one.name), ...[...rows].map(row => columns.map(one => one.value(row)))]));

// A drawing as a file of its own: what the looks of the page say of it is written into it.
const looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "font-size", "font-family"];
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map(one => [...one.querySelectorAll("*")]);
  from.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const name of looks) filled(to[k], { [name]: style.getPropertyValue(name) || null }, []);
    to[k].removeAttribute("class");
  });
  const { x, y, width, height } = svg.viewBox.baseVal;
  filled(copy, { xmlns: "http://www.w3.org/2000/svg", width, height }, []);
  copy.prepend(drawn("rect", { x, y, width, height, fill: colors(["ground"]).ground }));
  return new XMLSerializer().serializeToString(copy);
}
const saveSvg = (name, svg) => save(`${name}.svg`, "image/svg+xml", svgText(svg ?? graphSvg()));
const tenths = value => value.toFixed(1);

// Colours of the looks by their names, as they are in the present theme.
function colors(names) {
  const probe = html("div", {}, ...names.map(name => html("i", { style: `color:var(--${name})` })));
  document.body.append(probe);
  const found = names.map((name, k) => [name, getComputedStyle(probe.children[k]).color]);
  probe.remove();
  return Object.fromEntries(found);
}
