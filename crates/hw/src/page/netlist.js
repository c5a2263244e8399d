// The netlist: operations in columns, the neurons of every node, and the operations that a neuron is computed by.

const adderKinds = "+-n";
const letters = { "+": "a", "-": "a", n: "a" };

// The columns with what follows from them: node and element of every operation, how many read it, its name, and for every
// node its neurons with their last operation and their adders.
function readNetlist(raw) {
  const count = raw.kinds.length;
  const [node, element, reads] = [0, 0, 0].map(() => new Int32Array(count));
  for (let run = 0, at = 0; run < raw.origins.length; run += 3) {
    for (const end = at + raw.origins[run]; at < end; at++) [node[at], element[at]] = [raw.origins[run + 1], raw.origins[run + 2]];
  }
  const net = { ...raw, count, node, element, reads, neurons: raw.nodes.map(() => new Map()) };
  const numbers = new Map();
  net.numbers = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    for (const [operand] of operandsOf(net, at)) reads[operand]++;
    const kind = raw.kinds[at];
    const key = `${node[at]},${element[at]},${letters[kind] ?? kind}`;
    const number = numbers.get(key) ?? 0;
    numbers.set(key, number + 1);
    net.numbers[at] = number;
    if (element[at] < 0 || "ik".includes(kind)) continue;
    const neuron = net.neurons[node[at]].get(element[at]) ?? { adders: 0, last: at };
    neuron.last = at;
    neuron.adders += adderKinds.includes(kind);
    net.neurons[node[at]].set(element[at], neuron);
  }
  return net;
}

// The operands of an operation, each with its shift to the left.
function operandsOf(net, at) {
  const isSum = "+-".includes(net.kinds[at]);
  const shift = isSum ? net.shifts[at] : 0;
  const operands = [];
  if (net.selects[at]) operands.push([at - net.selects[at], 0]);
  if (net.a[at]) operands.push([at - net.a[at], max(-shift, 0)]);
  if (net.b[at]) operands.push([at - net.b[at], max(shift, 0)]);
  return operands;
}

const bitsOf = value => (value ? floor(log2(value)) + 1 : 0);
// The word of an interval: its bits, with s for a sign.
function wordOf(net, at) {
  const [low, high] = [net.low[at], net.low[at] + net.high[at]];
  if (low >= 0) return `u${max(bitsOf(high), 1)}`;
  return `s${max(bitsOf(max(high, 0)), bitsOf(-low - 1)) + 1}`;
}

function nameOf(net, at) {
  const kind = net.kinds[at];
  const place = net.element[at] < 0 ? "" : `_n${net.element[at]}`;
  return net.names[at] ?? `${net.prefixes[net.node[at]]}${place}_${letters[kind] ?? kind}${net.numbers[at]}`;
}

// An operation as a line of text, as `ch show DIR/net.json` prints it.
function lineOf(net, at) {
  const operands = operandsOf(net, at).map(([operand, shift]) => {
    const name = net.kinds[operand] === "k" ? String(net.low[operand]) : nameOf(net, operand);
    return shift ? `(${name} << ${shift})` : name;
  });
  const [a, b, c] = operands;
  const shift = net.shifts[at];
  const words = {
    i: () => hardware.inputs[shift] ?? `x[${shift}]`, k: () => String(net.low[at]), "+": () => `${a} + ${b}`, "-": () => `${a} - ${b}`,
    n: () => `-${a}`, q: () => (shift < 0 ? `round(${a} << ${-shift})` : `round(${a} >> ${shift})`), c: () => `clamp(${a})`, l: () => `${a} < ${b}`,
    m: () => `${a} ? ${c} : ${b}`, g: () => `max(${a}, ${b})`, p: () => `${a} * ${b}`, s: () => `${a} << ${shift}`, t: () => `table[${a}]`,
  };
  const readers = net.reads[at] < 2 ? "" : `, read by ${net.reads[at]}`;
  return `${nameOf(net, at)} = ${words[net.kinds[at]]?.() ?? ""}    ${net.low[at]} … ${net.low[at] + net.high[at]}, ${wordOf(net, at)}${readers}`;
}

const maxDrawn = 400;

// The operations of a neuron, operands first: those of its node, and at their edge values of other nodes. True for those whose operands are
// drawn too.
function coneOf(net, root) {
  const isOwn = at => at === root || (net.node[at] === net.node[root] && !"ik".includes(net.kinds[at]));
  const inside = new Map([[root, true]]);
  let isCut = false;
  for (const at of inside.keys()) {
    if (!inside.get(at)) continue;
    const operands = operandsOf(net, at).map(([operand]) => operand).filter(operand => !inside.has(operand));
    if (inside.size + operands.length > maxDrawn) {
      isCut = true;
      inside.set(at, false);
      continue;
    }
    for (const operand of operands) inside.set(operand, isOwn(operand));
  }
  const order = [];
  const seen = new Set();
  const visit = at => {
    if (seen.has(at)) return;
    seen.add(at);
    if (inside.get(at)) for (const [operand] of operandsOf(net, at)) visit(operand);
    order.push(at);
  };
  visit(root);
  return { order, inside, isCut };
}
