// The graph on a canvas: one view at a time. A box is known by its place in the view.

const canvas = ui.canvas;
const pen = canvas.getContext("2d");
const camera = { zoom: 1, x: 0, y: 0, width: 0, height: 0 };
// The view, its chosen box, the boxes on paths to and from it; nodes that were found, nodes under the threshold of SQNR.
let [view, chosen, lit, hits] = [null, null, null, null];
const under = new Set();

// Groups that a node is in, from the inside out.
function* groupsAround(node) {
  for (let at = nodes[node]?.group; isKnown(at); at = groups[at]?.parent) yield at;
}
const inside = groups.map(() => []);
nodes.forEach((_, node) => { for (const group of groupsAround(node)) inside[group].push(node); });
const members = reference => inside[-reference - 1];

// ---- views

// A view in typed arrays, with its edges by box and the box that stands for each node.
function prepared(raw) {
  const count = raw.boxes.length;
  const column = of => Float64Array.from(raw.boxes, of);
  const made = {
    raw, count, refs: Int32Array.from(raw.boxes, box => box[0]),
    left: column(box => box[1] - box[3] / 2), top: column(box => box[2] - box[4] / 2),
    wide: column(box => box[3]), tall: column(box => box[4]),
    edges: raw.edges.map(edgeOf), inputs: raw.boxes.map(() => []), outputs: raw.boxes.map(() => []),
  };
  for (const edge of made.edges) {
    made.inputs[edge.to]?.push(edge);
    made.outputs[edge.from]?.push(edge);
  }
  const places = new Map(raw.boxes.map((box, place) => [box[0], place]));
  made.boxOf = node => {
    if (places.has(node)) return places.get(node);
    for (const group of groupsAround(node)) if (places.has(-group - 1)) return places.get(-group - 1);
    return null;
  };
  made.states = Array.from(made.refs, stateOf);
  made.texts = [];
  return made;
}

// Edges lead down, so that their ends say how far they reach.
const edgeOf = ([from, to, ...points]) => ({ from, to, points, top: points[1], bottom: points.at(-1) });

// Smooth vertical lines through the points of an edge, into a path or what has the methods of one.
function trace(path, { points }, isStraight) {
  let [x, y] = points;
  path.moveTo(x, y);
  for (let k = 2; k + 1 < points.length; k += 2) {
    const [u, v] = [points[k], points[k + 1]];
    const middle = (y + v) / 2;
    if (isStraight) path.lineTo(u, v);
    else path.bezierCurveTo(x, middle, u, middle, u, v);
    [x, y] = [u, v];
  }
}

// ---- colours

// What boxes can be coloured by. A closed group shows the sum, the mean or the smallest of its nodes.
const sum = values => values.reduce((a, b) => a + b, 0);
const mean = values => sum(values) / values.length;
const metrics = {
  bits: { join: mean }, parameters: { join: sum, isLog: true }, macs: { join: sum, isLog: true }, bitops: { join: sum, isLog: true },
  sqnr: { join: values => min(...values), unit: " dB" }, sparsity: { join: mean, isShare: true }, time: { join: sum, isShare: true },
};
const viridis = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const rgb = parts => `rgb(${parts.map(round)})`;
function ramp(share) {
  const place = min(max(share, 0), 1) * (viridis.length - 1);
  const low = min(floor(place), viridis.length - 2);
  return viridis[low].map((part, k) => part + (viridis[low + 1][k] - part) * (place - low));
}
const partsOf = text => text.match(/[\d.]+/g).slice(0, 3).map(Number);
const blend = (a, b, share) => a.map((part, k) => part + (b[k] - part) * share);

const kinds = ["input", "product", "norm", "activation", "arithmetic", "pool", "shape", "opaque", "output", "group"];
let palette = {};
let painted = { boxes: [] };
// The outline of a box by its state in a diff: colour, width, dashes.
const outlines = { same: [null, 1, []], changed: ["front", 2, []], added: ["added", 2.4, []], removed: ["removed", 1.4, [5, 3]] };

// Looks up the colours of the theme, and gives every box of the view its own.
function recolor() {
  palette = colors([...kinds, "ground", "ink", "faint", "edge", "front", "failed", "added", "removed"]);
  const by = ui.color.value;
  painted = { by, boxes: [], metric: metrics[by] };
  if (!view) return;
  if (painted.metric) Object.assign(painted, valuesOf(by, metrics[by]));
  const ground = partsOf(palette.ground);
  for (let box = 0; box < view.count; box++) {
    const hue = partsOf(palette[kindOf(view.refs[box])] ?? palette.group);
    const made = { strong: rgb(hue), fill: rgb(blend(hue, ground, 0.86)), ink: palette.ink, faint: palette.faint };
    if (painted.metric) Object.assign(made, rampLooks(painted.shares[box]));
    painted.boxes.push(made);
  }
}
const kindOf = reference => (reference < 0 ? "group" : kinds.includes(nodes[reference].kind) ? nodes[reference].kind : "opaque");

function rampLooks(share) {
  if (isNaN(share)) return { strong: palette.edge, fill: palette.ground };
  const parts = ramp(share);
  const isLight = 0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] > 125;
  const ink = isLight ? "#111" : "#fff";
  return { strong: rgb(parts), fill: rgb(parts), ink, faint: ink };
}

// The values of the boxes, their ends, and where each lies between them.
function valuesOf(name, { join, isLog }) {
  const known = node => num(nodes[node][name]);
  const values = Array.from(view.refs, reference => {
    if (reference >= 0) return known(reference);
    const inside = members(reference).map(known).filter(value => !isNaN(value));
    return inside.length ? join(inside) : NaN;
  });
  const finite = values.filter(value => isFinite(value) && (!isLog || value > 0));
  const [low, high] = [min(...finite), max(...finite)];
  const scaled = value => (isLog ? log10(max(value, low)) : value);
  const between = value => (scaled(value) - scaled(low)) / (scaled(high) - scaled(low) || 1);
  return { values, low, high, shares: values.map(value => (isNaN(value) ? NaN : value === Infinity ? 1 : between(value))) };
}

// ---- what a box says

// Distinct formats of a node; ports are named where formats differ.
function badges({ formats = [] }) {
  const byFormat = new Map();
  for (const { port, format } of formats) byFormat.set(format, [...(byFormat.get(format) ?? []), port.replace("data_in_", "in ")]);
  return [...byFormat].map(([format, where]) => (byFormat.size > 1 ? `${where[0]}${where.length > 1 ? "…" : ""} ${format}` : format));
}

function wordsOf(reference) {
  if (reference < 0) return { name: groups[-reference - 1].name, about: `${plural(members(reference).length, "node")}, closed`, marks: [] };
  const node = nodes[reference];
  return { name: node.name, about: `${node.op}  ${node.shape ?? ""}`, marks: badges(node) };
}

function stateOf(reference) {
  if (reference >= 0) return nodes[reference].state ?? "same";
  return members(reference).some(node => stateOf(node) !== "same") ? "changed" : "same";
}

// The texts of a box as {text, y, size, weight, ink, isMark} from its upper edge, as many as have room.
function textsOf(box) {
  return (view.texts[box] ??= placedTexts(wordsOf(view.refs[box]), view.wide[box], view.tall[box]));
}
const setFont = (size, weight = 400) => { pen.font = `${weight} ${size}px system-ui, sans-serif`; };
function placedTexts({ name, about, marks }, wide, tall) {
  const room = wide - 18;
  const fit = (text, size, weight) => {
    setFont(size, weight);
    let short = cut(text, 200);
    for (let wide; (wide = pen.measureText(short).width) > room && short.length > 1; ) short = cut(text, min(short.length - 1, ceil((short.length * room) / wide)));
    return short;
  };
  const rows = tall >= 46 && marks.length ? 3 : tall >= 30 ? 2 : 1;
  const pitch = min(15, (tall - 6) / rows);
  const first = (tall - pitch * (rows - 1)) / 2;
  const texts = [[name, 12, 600], [about, 10.5], [marks.join(" · "), 9.5]].slice(0, rows);
  return texts.map(([text, size, weight], k) => ({ text: fit(text, size, weight), y: first + k * pitch, size, weight, ink: k ? "faint" : "ink", isMark: k > 1 }));
}

// ---- drawing

let isScheduled = false;
function redraw() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(draw);
}

function draw() {
  isScheduled = false;
  if (!view) return;
  const { zoom, x, y, width, height } = camera;
  const ratio = devicePixelRatio || 1;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.globalAlpha = 1;
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, width, height);
  pen.setTransform(ratio * zoom, 0, 0, ratio * zoom, ratio * x, ratio * y);
  const window = { left: -x / zoom, top: -y / zoom, right: (width - x) / zoom, bottom: (height - y) / zoom };
  drawEdges(window);
  drawBoxes(window);
  drawMap(window);
}

const isAmong = (set, reference) => (reference < 0 ? members(reference).some(node => set.has(node)) : set.has(reference));
const isOff = box => (hits ? !isAmong(hits, view.refs[box]) : !!lit && !lit.has(box));
const isLit = edge => lit.get(edge.from) * lit.get(edge.to) >= 0;

// Edges in the window, a few hundred in a path: one path of all is slow, and so is a path for each.
function drawEdges({ top, bottom }) {
  // An edge of less than two pixels is hidden between its boxes.
  const tiny = 2 / camera.zoom;
  const seen = view.edges.filter(edge => edge.bottom > top && edge.top < bottom && edge.bottom - edge.top > tiny);
  const isStraight = camera.zoom < 0.3;
  const stroke = (edges, style, wide) => {
    pen.strokeStyle = style;
    pen.lineWidth = wide;
    for (let from = 0; from < edges.length; from += 250) {
      pen.beginPath();
      for (const edge of edges.slice(from, from + 250)) trace(pen, edge, isStraight);
      pen.stroke();
    }
    if (camera.zoom < 0.45) return;
    pen.fillStyle = style;
    pen.beginPath();
    for (const edge of edges) arrowHead(pen, edge);
    pen.fill();
  };
  const wide = 1.3 / max(camera.zoom, 0.3);
  pen.globalAlpha = lit || hits ? 0.45 : 1;
  stroke(seen, palette.edge, wide);
  pen.globalAlpha = 1;
  if (lit) stroke(seen.filter(isLit), palette.product, 1.5 * wide);
}
function arrowHead(path, { points }) {
  const [x, y] = points.slice(-2);
  path.moveTo(x, y + 0.5);
  path.lineTo(x - 3.5, y - 6);
  path.lineTo(x + 3.5, y - 6);
}

function drawBoxes({ left, top, right, bottom }) {
  const isSmall = camera.zoom * 12 < 6;
  for (let box = 0; box < view.count; box++) {
    const [x, y, wide, tall] = [view.left[box], view.top[box], view.wide[box], view.tall[box]];
    if (y > bottom || y + tall < top || x > right || x + wide < left) continue;
    pen.globalAlpha = 1;
    if (isOff(box)) {
      pen.fillStyle = palette.ground;
      pen.fillRect(x, y, wide, tall);
      pen.globalAlpha = 0.28;
    }
    if (isSmall) drawSmall(box, x, y, wide, tall);
    else drawBox(box, x, y, wide, tall);
    if (box === chosen || under.size && isAmong(under, view.refs[box])) drawRing(box, x, y, wide, tall);
  }
  pen.globalAlpha = 1;
}

function drawSmall(box, x, y, wide, tall) {
  const state = view.states[box];
  pen.fillStyle = painted.boxes[box].strong;
  if (state === "removed") pen.globalAlpha *= 0.4;
  pen.fillRect(x, y, wide, tall);
  if (state === "same" || state === "removed") return;
  pen.strokeStyle = palette[state === "added" ? "added" : "front"];
  pen.lineWidth = 1.5 / camera.zoom;
  pen.strokeRect(x, y, wide, tall);
}

function drawBox(box, x, y, wide, tall) {
  const looks = painted.boxes[box];
  const reference = view.refs[box];
  const [line, thick, dashes] = outlines[view.states[box]] ?? outlines.same;
  pen.fillStyle = looks.fill;
  pen.strokeStyle = palette[line] ?? looks.strong;
  pen.lineWidth = thick;
  pen.setLineDash(dashes);
  // A closed group looks like a pile of boxes.
  for (const shift of reference < 0 ? [3.5, 0] : [0]) {
    outline(x + shift, y + shift, wide, tall);
    pen.fill();
    pen.stroke();
  }
  pen.setLineDash([]);
  if (reference >= 0 && kindOf(reference) === "opaque") hatch(x, y, wide, tall, looks.strong);
  if (!painted.metric) {
    pen.fillStyle = looks.strong;
    pen.fillRect(x + 1, y + 4, 3.5, tall - 8);
  }
  pen.textBaseline = "middle";
  for (const { text, y: down, size, weight, ink, isMark } of textsOf(box)) {
    if (size * camera.zoom < 5.5) continue;
    setFont(size, weight);
    if (isMark && !painted.metric) {
      pen.fillStyle = palette.ground;
      outline(x + 8, y + down - 7, pen.measureText(text).width + 6, 13);
      pen.fill();
    }
    pen.fillStyle = looks[ink];
    pen.fillText(text, x + 11, y + down);
  }
}

function outline(x, y, wide, tall) {
  pen.beginPath();
  pen.roundRect(x, y, wide, tall, 5);
}

function hatch(x, y, wide, tall, style) {
  pen.save();
  pen.clip();
  pen.beginPath();
  for (let at = -tall; at < wide; at += 7) pen.moveTo(x + at, y + tall), pen.lineTo(x + at + tall, y);
  pen.strokeStyle = style;
  pen.globalAlpha *= 0.35;
  pen.lineWidth = 1;
  pen.stroke();
  pen.restore();
}

function drawRing(box, x, y, wide, tall) {
  const thick = 2.5 / min(1, camera.zoom);
  const gap = 2 + thick / 2;
  pen.globalAlpha = 1;
  pen.strokeStyle = box === chosen ? palette.ink : palette.failed;
  pen.lineWidth = thick;
  outline(x - gap, y - gap, wide + 2 * gap, tall + 2 * gap);
  pen.stroke();
}
