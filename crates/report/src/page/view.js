// Views of the graph, and what their boxes say. A box is known by its place in the view.

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
    frames: (raw.frames ?? []).map(frameOf), edges: raw.edges.map(edgeOf), inputs: raw.boxes.map(() => []), outputs: raw.boxes.map(() => []),
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

// A name stands at the left or at the right, so that it does not cover that of the frame around it.
function frameOf([group, x, y, wide, tall]) {
  let isRight = false;
  for (let at = groups[group].parent; isKnown(at); at = groups[at].parent) isRight = !isRight;
  return { name: cut(groups[group].name, 24), x: x - wide / 2, y: y - tall / 2, wide, tall, isRight };
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
