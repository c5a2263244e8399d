// Moving over the graph: pointers, wheel, keys, and the map in the corner.

const map = ui.map;

// Keeps some of the graph in the window. True when the place is another than before.
function place(x, y, zoom = camera.zoom) {
  const old = { ...camera };
  camera.zoom = min(max(zoom, 0.01), 4);
  const held = (at, size, all) => {
    const [low, high] = [all - size - 60, 60];
    return low > high ? (all - size) / 2 : min(max(at, low), high);
  };
  camera.x = held(x, view.raw.width * camera.zoom, camera.width);
  camera.y = held(y, view.raw.height * camera.zoom, camera.height);
  redraw();
  return old.x !== camera.x || old.y !== camera.y || old.zoom !== camera.zoom;
}

function zoomBy(factor, x = camera.width / 2, y = camera.height / 2) {
  const zoom = min(max(camera.zoom * factor, 0.01), 4);
  const by = zoom / camera.zoom;
  place(x - (x - camera.x) * by, y - (y - camera.y) * by, zoom);
}

const wholeZoom = () => min(1, (camera.width - 40) / view.raw.width, (camera.height - 40) / view.raw.height);
function fit() {
  const zoom = wholeZoom();
  place((camera.width - view.raw.width * zoom) / 2, (camera.height - view.raw.height * zoom) / 2, zoom);
}

// The whole graph where it can be read; else its beginning.
function begin() {
  const whole = wholeZoom();
  if (whole >= 0.45) return fit();
  place(0, 0, max(0.45, min(1, (camera.width - 40) / view.raw.width)));
  if (view.count) center(0, 45 - camera.height / 2);
}

// Puts a box into the middle, or lower.
function center(box, down = 0) {
  const [x, y] = [view.left[box] + view.wide[box] / 2, view.top[box] + view.tall[box] / 2];
  place(camera.width / 2 - x * camera.zoom, camera.height / 2 + down - y * camera.zoom);
}

// Brings a box into the window if it is not there, large enough to be read.
function reveal(box) {
  const [x, y] = [view.left[box] * camera.zoom + camera.x, view.top[box] * camera.zoom + camera.y];
  const [wide, tall] = [view.wide[box] * camera.zoom, view.tall[box] * camera.zoom];
  const isSeen = x > 8 && y > 8 && x + wide < camera.width - 8 && y + tall < camera.height - 8;
  if (isSeen && camera.zoom > 0.5) return redraw();
  camera.zoom = max(camera.zoom, 0.8);
  center(box);
}

function resize() {
  [camera.width, camera.height] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [camera.width * devicePixelRatio, camera.height * devicePixelRatio];
}

// ---- pointing

function boxAt(event) {
  const box = canvas.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left - camera.x) / camera.zoom, (event.clientY - box.top - camera.y) / camera.zoom];
  for (let k = view.count - 1; k >= 0; k--) {
    if (x >= view.left[k] && x <= view.left[k] + view.wide[k] && y >= view.top[k] && y <= view.top[k] + view.tall[k]) return k;
  }
  return null;
}

function hover(event) {
  const box = boxAt(event);
  canvas.style.cursor = box === null ? "" : "pointer";
  if (box === null) return showTip(null);
  const { name, about, marks } = wordsOf(view.refs[box]);
  const value = painted.metric ? `\n${painted.by} ${valueText(painted.values[box])}` : "";
  showTip([cut(name, 400), about, ...marks].join("\n") + value, event.clientX, event.clientY);
}
function valueText(value) {
  if (isNaN(value)) return "not known";
  const { isShare, unit } = painted.metric;
  return isShare ? percent(value) : `${isFinite(value) ? short(value) : value}${unit ?? ""}`;
}

// Pointers that are down: one drags, two pinch.
const down = new Map();
let travelled = 0;
function pointerMove(event) {
  if (!down.has(event.pointerId)) return hover(event);
  const before = [...down.values()];
  const old = down.get(event.pointerId);
  const [dx, dy] = [event.clientX - old.clientX, event.clientY - old.clientY];
  down.set(event.pointerId, event);
  travelled += abs(dx) + abs(dy);
  if (travelled > 4) showTip(null);
  if (down.size === 1) return place(camera.x + dx, camera.y + dy);
  const apart = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1;
  const [a, b] = [...down.values()];
  const box = canvas.getBoundingClientRect();
  zoomBy(apart([a, b]) / apart(before), (a.clientX + b.clientX) / 2 - box.left, (a.clientY + b.clientY) / 2 - box.top);
}
function pointerUp(event) {
  if (!down.delete(event.pointerId) || travelled > 4 || down.size) return;
  const box = boxAt(event);
  if (box !== null && view.refs[box] < 0) return openGroup(box);
  choose(box, false);
}

// The page scrolls on where the graph has no more to show.
function wheel(event) {
  const unit = event.deltaMode ? 18 : 1;
  if (event.ctrlKey || event.metaKey) zoomBy(Math.exp((-event.deltaY * unit) / 300), event.offsetX, event.offsetY);
  else if (!place(camera.x - event.deltaX * unit, camera.y - event.deltaY * unit)) return;
  event.preventDefault();
}

// ---- keys

// Tab walks over the boxes until the last, or until Escape.
let isWalking = true;
function canvasKey(event) {
  const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
  if (step) {
    place(camera.x + step[0], camera.y + step[1]);
  } else if (event.key === "Tab" && isWalking) {
    const next = event.shiftKey ? (chosen ?? view.count) - 1 : (chosen ?? -1) + 1;
    if (next < 0 || next >= view.count) return;
    choose(next);
  } else if (event.key === "Enter" && chosen !== null && view.refs[chosen] < 0) {
    openGroup(chosen);
  } else if (event.key === "Escape") {
    isWalking = false;
    choose(null);
  } else return;
  event.preventDefault();
}

// ---- the map

// The boxes as last coloured.
let mapDrawing = null;
function drawMap({ left, top, right, bottom }) {
  const { width, height } = view.raw;
  const isWhole = left <= 0 && top <= 0 && right >= width && bottom >= height;
  map.hidden = isWhole;
  if (isWhole) return;
  const scale = min(170 / width, 190 / height);
  const ratio = devicePixelRatio || 1;
  const [wide, tall] = [max(width * scale, 24), max(height * scale, 24)];
  if (mapDrawing?.of !== painted) {
    [map.width, map.height] = [wide * ratio, tall * ratio];
    map.style.cssText = `width:${wide}px;height:${tall}px`;
    mapDrawing = { of: painted, sheet: html("canvas", { width: map.width, height: map.height }) };
    const sheet = mapDrawing.sheet.getContext("2d");
    sheet.scale(ratio * scale, ratio * scale);
    for (let box = 0; box < view.count; box++) {
      sheet.fillStyle = painted.boxes[box].strong;
      sheet.fillRect(view.left[box], view.top[box], max(view.wide[box], 1 / scale), max(view.tall[box], 1 / scale));
    }
  }
  const sheet = map.getContext("2d");
  sheet.setTransform(1, 0, 0, 1, 0, 0);
  sheet.clearRect(0, 0, map.width, map.height);
  sheet.drawImage(mapDrawing.sheet, 0, 0);
  sheet.scale(ratio * scale, ratio * scale);
  sheet.strokeStyle = palette.front;
  sheet.lineWidth = 1.5 / scale;
  sheet.strokeRect(left, top, right - left, bottom - top);
}
function mapMove(event) {
  if (!event.buttons) return;
  const share = [event.offsetX / map.clientWidth, event.offsetY / map.clientHeight];
  place(camera.width / 2 - share[0] * view.raw.width * camera.zoom, camera.height / 2 - share[1] * view.raw.height * camera.zoom);
}

function listenToCanvas() {
  canvas.onpointerdown = event => {
    canvas.setPointerCapture?.(event.pointerId);
    down.set(event.pointerId, event);
    if (down.size === 1) travelled = 0;
  };
  canvas.onpointermove = pointerMove;
  canvas.onpointerup = pointerUp;
  canvas.onpointercancel = event => down.delete(event.pointerId);
  canvas.onpointerleave = () => showTip(null);
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.onkeydown = canvasKey;
  canvas.onfocus = () => { isWalking = true; };
  map.onpointerdown = map.onpointermove = mapMove;
  ui.closer.onclick = () => zoomBy(1.25);
  ui.farther.onclick = () => zoomBy(0.8);
  ui.fit.onclick = fit;
}
