// The adder graph of a neuron: operands to the left, the result to the right.

const [rowTall, boxTall] = [25, 18];
// Columns are as wide as the window has room for, and wide enough for a name and the bend of a wire.
const columnWide = count => min(max((ui.adderScroll.clientWidth - 110) / max(count - 1, 1), 128), 160);
let net = null;
let drawing = null;

// Places: a column for every level, a row for every value that comes from outside, operations between their operands.
function layoutOf(root) {
  const { order, inside, isCut } = coneOf(net, root);
  const edges = [];
  const level = new Map();
  for (const at of order) {
    const operands = inside.get(at) ? operandsOf(net, at) : [];
    operands.forEach(([from, shift], k) => edges.push({ from, to: at, shift, side: operands.length > 1 ? (2 * k) / (operands.length - 1) - 1 : 0 }));
    level.set(at, 1 + max(-1, ...operands.map(([operand]) => level.get(operand))));
  }
  // A value from outside stands just before the first that reads it.
  for (const at of order) {
    if (inside.get(at)) continue;
    const readers = edges.filter(edge => edge.from === at).map(edge => level.get(edge.to));
    if (readers.length) level.set(at, min(...readers) - 1);
  }
  const y = new Map();
  let row = 0;
  for (const at of order) {
    const operands = inside.get(at) ? operandsOf(net, at).map(([operand]) => y.get(operand)) : [];
    y.set(at, operands.length ? mean(operands) : row++ * rowTall);
  }
  const columns = Map.groupBy ? Map.groupBy(order, at => level.get(at)) : new Map([...new Set(level.values())].map(one => [one, order.filter(at => level.get(at) === one)]));
  for (const column of columns.values()) {
    column.sort((a, b) => y.get(a) - y.get(b));
    let last = -Infinity;
    for (const at of column) {
      last = max(y.get(at), last + rowTall);
      y.set(at, last);
    }
  }
  const wide = columnWide(max(...columns.keys()) + 1);
  const boxes = new Map(order.map(at => [at, { at, x: 6 + level.get(at) * wide, y: y.get(at) + 16, isOwn: inside.get(at), level: level.get(at) }]));
  return { root, boxes, edges, columns, isCut };
}

const endOf = (text, size) => (text.length > size ? `…${text.slice(1 - size)}` : text);
// The words in a box.
function labelOf({ at, isOwn }) {
  const kind = net.kinds[at];
  const shift = net.shifts[at];
  if (kind === "k") return String(net.low[at]);
  if (kind === "i") return endOf(hardware.inputs[shift] ?? `x[${shift}]`, 14);
  if (!isOwn) return endOf(`${net.nodes[net.node[at]]}${net.element[at] < 0 ? "" : `[${net.element[at]}]`}`, 14);
  const sign = { "+": "+", "-": "−", n: "−", q: shift < 0 ? `≪${-shift}` : `≫${shift}`, c: "clamp", l: "<", m: "choose", g: "max", p: "×", s: `≪${shift}`, t: "table" }[kind];
  return `${sign} ${wordOf(net, at)}`;
}
const wideOf = box => max(46, 12 + 6.7 * labelOf(box).length);

function drawNeuron(root) {
  drawing = layoutOf(root);
  const { boxes, edges } = drawing;
  const paths = edges.map(edge => {
    const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
    const [x1, y1, x2, y2] = [from.x + wideOf(from), from.y, to.x, to.y + 5 * edge.side];
    const bend = max((x2 - x1) / 2, 12);
    edge.path = drawn("path", { d: `M${tenths(x1)} ${tenths(y1)}C${tenths(x1 + bend)} ${tenths(y1)} ${tenths(x2 - bend)} ${tenths(y2)} ${tenths(x2)} ${tenths(y2)}` });
    const label = drawn("text", { class: "shift", x: tenths(x2 - 4), y: to.y + (edge.side > 0 ? 14 : -6), "text-anchor": "end" }, edge.shift ? `≪${edge.shift}` : "");
    return [edge.path, label];
  });
  const groups = [...boxes.values()].map(box => {
    const kind = net.kinds[box.at];
    // The result itself is read by all neurons behind it.
    const isShared = box.isOwn && box.at !== root && net.reads[box.at] > 1;
    const looks = box.isOwn ? `adder${isShared ? " shared" : ""}` : kind === "k" ? "constant" : "leaf";
    const wide = wideOf(box);
    box.group = drawn("g", { class: looks, "data-tip": lineOf(net, box.at) },
      drawn("rect", { x: tenths(box.x), y: tenths(box.y - boxTall / 2), width: tenths(wide), height: boxTall }),
      drawn("text", { x: tenths(box.x + 6), y: tenths(box.y + 4) }, labelOf(box)),
      isShared ? drawn("text", { class: "reads", x: tenths(box.x + wide - 1), y: tenths(box.y - boxTall / 2 - 2), "text-anchor": "end" }, `×${net.reads[box.at]}`) : "");
    box.group.onclick = () => (box.isOwn || kind === "k" ? point(box.at) : follow(box.at));
    return box.group;
  });
  const all = [...boxes.values()];
  const [wide, tall] = [max(...all.map(box => box.x + wideOf(box))) + 8, max(...all.map(box => box.y)) + 18];
  filled(ui.adders, { viewBox: `0 0 ${tenths(wide)} ${tenths(tall)}`, width: tenths(wide), height: tenths(tall) }, []);
  ui.adders.replaceChildren(...paths.flat(), ...groups);
  point(root, false);
  ui.adderScroll.scrollLeft = 0;
  ui.adderScroll.scrollTop = 0;
}

// Marks an operation, its operands and its readers, and writes it out below the drawing.
function point(at, isSeen = true) {
  const { boxes, edges } = drawing;
  drawing.chosen = at;
  for (const box of boxes.values()) box.group.classList.toggle("on", box.at === at);
  for (const edge of edges) edge.path.classList.toggle("lit", edge.from === at || edge.to === at);
  ui.adderText.textContent = lineOf(net, at);
  if (isSeen) boxes.get(at).group.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// Opens the neuron that a value from outside is the result of.
function follow(at) {
  if (net.kinds[at] === "i" || net.kinds[at] === "k" || net.element[at] < 0) return point(at);
  openNeuron(net.node[at], net.element[at]);
}

function adderKey(event) {
  if (!drawing) return;
  const { boxes, edges, columns, chosen } = drawing;
  const column = columns.get(boxes.get(chosen).level);
  const place = column.indexOf(chosen);
  const next = {
    ArrowLeft: () => edges.find(edge => edge.to === chosen)?.from, ArrowRight: () => edges.find(edge => edge.from === chosen)?.to,
    ArrowUp: () => column[place - 1], ArrowDown: () => column[place + 1],
  }[event.key];
  if (next) {
    event.preventDefault();
    const to = next();
    if (to !== undefined) point(to);
  } else if (event.key === "Enter" && !boxes.get(chosen).isOwn) {
    event.preventDefault();
    follow(chosen);
  }
}

// ---- the neurons of a layer

let opened = { node: -1, element: -1 };
function fillGrid(node) {
  const neurons = [...net.neurons[node]];
  const most = max(1, ...neurons.map(([, neuron]) => neuron.adders));
  const layer = layers.findIndex(one => one.layer === net.nodes[node]);
  ui.neuronGrid.className = tintOf(max(layer, 0));
  ui.neuronGrid.replaceChildren(...neurons.map(([element, { adders }], k) => {
    const made = button(String(element), () => openNeuron(node, element), `element ${element}: ${plural(adders, "adder")}`);
    made.style.setProperty("--heat", `${round((55 * adders) / most)}%`);
    made.tabIndex = k ? -1 : 0;
    made.dataset.element = element;
    return made;
  }));
  ui.neuronCount.textContent = plural(neurons.length, "neuron");
}

function openNeuron(node, element) {
  if (!net.neurons[node]?.size) return;
  const known = net.neurons[node].has(element) ? element : net.neurons[node].keys().next().value;
  if (opened.node !== node) {
    fillGrid(node);
    ui.neuronLayer.value = node;
    layerChosen?.(layers.findIndex(one => one.layer === net.nodes[node]));
  }
  opened = { node, element: known };
  for (const one of ui.neuronGrid.children) {
    const isOn = +one.dataset.element === known;
    one.setAttribute("aria-pressed", isOn);
    one.tabIndex = isOn ? 0 : -1;
  }
  const { last, adders } = net.neurons[node].get(known);
  drawNeuron(last);
  const operations = [...drawing.boxes.values()].filter(box => box.isOwn);
  const shared = operations.filter(box => box.at !== last && net.reads[box.at] > 1).length;
  ui.neuronName.textContent = `${net.nodes[node]}[${known}]`;
  ui.neuronAbout.textContent = `${plural(adders, "adder")} of its own; ${plural(operations.length, "operation")} drawn, ${shared} of them shared`
    + `${drawing.isCut ? `; the drawing ends after ${maxDrawn}` : ""}.`;
  ui.adders.setAttribute("aria-label", `adders of ${ui.neuronName.textContent}; left and right arrow keys walk over them`);
  location.replace(`#neuron-${node}-${known}`);
}

function gridKey(event) {
  const all = [...ui.neuronGrid.children];
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  const next = step && all[all.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.click();
}

// The neuron or layer of the page's address.
function followAddress() {
  const [kind, ...numbers] = location.hash.slice(1).split("-");
  const [node, element] = numbers.map(Number);
  if (kind === "neuron" && (node !== opened.node || element !== opened.element)) openNeuron(node, element);
  if (kind === "layer") openLayer(node);
}
function openLayer(layer) {
  if (net && layers[layer]) openNeuron(net.nodes.indexOf(layers[layer].layer), 0);
}

function startNeurons() {
  if (!hardware.net) return;
  net = readNetlist(hardware.net);
  const offered = net.nodes.map((name, node) => ({ name, node })).filter(({ node }) => net.neurons[node].size);
  if (!offered.length) return;
  ui.neuronPart.hidden = false;
  ui.netLimited.textContent = net.limited ?? "";
  ui.neuronLayer.append(...offered.map(({ name, node }) => html("option", { value: node }, cut(name))));
  ui.neuronLayer.onchange = () => openNeuron(+ui.neuronLayer.value, 0);
  ui.neuronGrid.onkeydown = gridKey;
  ui.adders.onkeydown = adderKey;
  addEventListener("hashchange", followAddress);
  const isAsked = /^#(neuron|layer)-/.test(location.hash);
  if (isAsked) followAddress();
  if (opened.node < 0) openFirst(offered);
}
// The address of a page that was opened without one stays without one.
function openFirst(offered) {
  const adders = ({ node }) => sum([...net.neurons[node].values()].map(one => one.adders));
  const first = offered.find(one => adders(one) > 0) ?? offered[0];
  const before = location.hash;
  openNeuron(first.node, 0);
  if (!before) history.replaceState(null, "", location.pathname + location.search);
}
