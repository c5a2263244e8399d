// The graph on a canvas, as much of it as is in the window.

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
  drawFrames();
  drawEdges(window);
  drawBoxes(window);
  drawMap(window);
}

// Frames around open groups, with the names of the groups on their upper edges.
function drawFrames() {
  pen.strokeStyle = palette.edge;
  pen.lineWidth = 0.8 / max(camera.zoom, 0.3);
  pen.textBaseline = "middle";
  setFont(9);
  for (const { name, x, y, wide, tall, isRight } of view.frames) {
    outline(x, y, wide, tall);
    pen.stroke();
    if (camera.zoom < 0.45) continue;
    const long = pen.measureText(name).width;
    const left = isRight ? x + wide - long - 9 : x + 9;
    pen.fillStyle = palette.ground;
    pen.fillRect(left - 3, y - 6, long + 6, 12);
    pen.fillStyle = palette.faint;
    pen.fillText(name, left, y);
  }
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
  if (kindOf(reference) === "opaque") {
    pen.lineWidth = 0.4;
    pen.beginPath();
    hatch(pen, x, y, wide, tall);
    pen.stroke();
  }
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

// Strokes across a box, cut at its edges.
function hatch(path, x, y, wide, tall) {
  for (let at = 7 - tall; at < wide; at += 7) {
    const [left, low] = [max(at, 0), min(tall, tall + at)];
    const reach = min(low, wide - left);
    path.moveTo(x + left, y + low);
    path.lineTo(x + left + reach, y + low - reach);
  }
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
