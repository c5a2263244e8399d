// The colours of the boxes: by kind, or by a number of their nodes.

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
  const [low, high] = extent(finite);
  const scaled = value => (isLog ? log10(max(value, low)) : value);
  const between = value => (scaled(value) - scaled(low)) / (scaled(high) - scaled(low) || 1);
  return { values, low, high, shares: values.map(value => (isNaN(value) ? NaN : value === Infinity ? 1 : between(value))) };
}
