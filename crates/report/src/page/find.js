// Finding nodes by words and conditions, and choosing one.

const fields = new Set(["name", "op", "kind", "state", "shape", "bytes", "error", ...Object.keys(metrics)]);
const words = nodes.map(node =>
  [node.name, node.op, node.kind, node.target, node.state === "same" ? "" : node.state, ...(node.formats ?? []).map(one => one.format)].join("\n").toLowerCase());
const powers = { k: 1e3, m: 1e6, g: 1e9 };

// A test of nodes by one word: a condition such as sqnr<20 or op=conv2d, or a part of what a node is called.
function condition(word) {
  const [, field, sign, text] = word.replace(/^params/, "parameters").match(/^([a-z]+)([<>]=?|=)(.+)$/) ?? [];
  if (!fields.has(field)) return node => words[node].includes(word);
  const [, digits, power] = text.match(/^(-?[\d.]+(?:e[-+]?\d+)?)([kmg]?)$/) ?? [];
  const limit = digits ? Number(digits) * (powers[power] ?? 1) : num(text);
  const value = node => nodes[node][field];
  if (sign === "=") return node => (isNaN(limit) ? String(value(node)).toLowerCase() === text : num(value(node)) === limit);
  const isEnough = sign.length > 1;
  return node => {
    const by = (num(value(node)) - limit) * (sign[0] === "<" ? -1 : 1);
    return by > 0 || (isEnough && by === 0);
  };
}

function find(text) {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(condition);
  hits = tests.length ? new Set([...nodes.keys()].filter(node => tests.every(test => test(node)))) : null;
  ui.hits.textContent = hits ? plural(hits.size, "node") : "";
  redraw();
}

// Chooses the node of a list that follows the chosen one, or precedes it.
function chooseNext(list, step) {
  if (!list.length) return;
  const here = chosenNode() ?? -1;
  chooseNode(step > 0 ? list.find(node => node > here) ?? list[0] : list.findLast(node => node < here) ?? list.at(-1));
}

// ---- choosing

const chosenNode = () => (chosen !== null && view.refs[chosen] >= 0 ? view.refs[chosen] : null);
const address = node => `#node=${encodeURIComponent(nodes[node].name)}`;

// Chooses a box, lights its paths, and shows it in the panel, in the table and in the address.
function choose(box, isRevealed = true) {
  chosen = box;
  lit = box === null ? null : pathsOf(box);
  const node = chosenNode();
  showPanel(box);
  markRows(node);
  if (box !== null && isRevealed) reveal(box);
  else redraw();
  if (node !== null && location.hash !== address(node)) location.replace(address(node));
}

// Chooses a node, in another view if this one has no box of its own for it.
function chooseNode(node) {
  const has = one => one.refs[one.boxOf(node)] === node;
  if (!has(view)) {
    const other = graph.views.findIndex((_, k) => has(viewAt(k)));
    if (other >= 0) switchView(other);
  }
  choose(view.boxOf(node));
}

// Boxes that lead to a box (-1), that it leads to (1), and itself (0).
function pathsOf(box) {
  const found = new Map();
  for (const [edges, end, side] of [["inputs", "from", -1], ["outputs", "to", 1]]) {
    const open = [box];
    for (let next; (next = open.pop()) !== undefined; ) {
      for (const edge of view[edges][next]) {
        if (found.has(edge[end])) continue;
        found.set(edge[end], side);
        open.push(edge[end]);
      }
    }
  }
  return found.set(box, 0);
}

// Names need not be unique: what is chosen stays if the address means it too.
function followAddress() {
  const meant = [...nodes.keys()].filter(node => address(node) === location.hash);
  if (meant.length && !meant.includes(chosenNode())) chooseNode(meant[0]);
}

// ---- views

const preparedViews = [];
const viewAt = k => (preparedViews[k] ??= prepared(graph.views[k]));
function switchView(k) {
  const node = view && chosenNode();
  view = viewAt(k);
  ui.view.value = k;
  [chosen, lit] = [null, null];
  recolor();
  showLegend();
  begin();
  if (isKnown(node)) choose(view.boxOf(node));
}

// Opens a closed group in the first view, from the most closed on, that has it open, at its place.
function openGroup(box) {
  const reference = view.refs[box];
  const [first] = members(reference);
  const other = graph.views.findLastIndex((_, k) => viewAt(k).refs[viewAt(k).boxOf(first)] !== reference);
  if (other < 0) return choose(box);
  switchView(other);
  choose(view.boxOf(first));
  canvas.focus({ preventScroll: true });
}
