// The chosen node or group: all that is known of it.

const outputs = nodes.map(() => []);
nodes.forEach((node, k) => (node.inputs ?? []).forEach(from => outputs[from]?.push(k)));
const portsOf = nodes.map(() => []);
ports.forEach((port, k) => portsOf[port.node]?.push(k));

// A table of rows whose first cell is their name; of texts, or of numbers.
function pairTable(rows, head, side = "word") {
  const row = ([name, ...cells]) => html("tr", {}, html("th", { class: "word", scope: "row" }, name),
    ...cells.map(cell => html("td", { class: side }, ...[cell].flat())));
  const table = html("table", {}, html("tbody", {}, ...rows.map(row)));
  if (head) table.createTHead().append(html("tr", {}, ...head.map(text => html("th", { class: side, scope: "col" }, text))));
  return table;
}
const links = list => list.flatMap((node, k) => [k ? ", " : "", html("a", { href: address(node), "data-tip": nodes[node].op }, cut(nodes[node].name, 32))]);
const changed = (before, after) => [html("span", { class: "was" }, isKnown(before) && before !== after ? `${shown(before)} → ` : ""), shown(after)];

function factsOf(node) {
  const one = nodes[node];
  const counts = ["bits", "parameters", "bytes", "macs", "bitops"].map(name => [name, changed(one.before?.[name], one[name]), one[name] ?? one.before?.[name]]);
  const more = [["cost", one.cost], ["sparsity", percent(one.sparsity), one.sparsity],
    ["sqnr", `${shown(one.sqnr)} dB`, one.sqnr], ["error", shown(one.error), one.error], ["time", percent(one.time), one.time]];
  const around = [...groupsAround(node)].reverse().map(group => groups[group].name);
  const rows = [["shape", one.shape], ["target", one.target], ["group", around.at(-1)], ...counts, ...more].filter(row => isKnown(row.at(-1)) && row.at(-1) !== "");
  const ends = [["inputs", links(one.inputs ?? [])], ["outputs", links(outputs[node])]].filter(([, list]) => list.length);
  return pairTable([...rows.map(([name, text]) => [term(name), text]), ...ends]);
}

// The old way to copy, which works from disk in every browser.
function copy(element) {
  getSelection().selectAllChildren(element);
  document.execCommand("copy");
}

function nodePanel(node) {
  const one = nodes[node];
  const state = isChange(node) ? [", ", html("b", {}, one.state)] : [];
  const parts = [
    html("h3", { "data-tip": one.name }, cut(one.name, 120)),
    html("p", {}, term(one.op), " (", term(one.kind ?? ""), ")", ...state, " · ", html("a", { href: address(node) }, "link")),
  ];
  if (one.changes?.length) parts.push(html("ul", {}, ...one.changes.map(text => html("li", {}, text))));
  parts.push(factsOf(node));
  if (one.formats?.length) {
    parts.push(html("h3", {}, "Formats"), pairTable(one.formats.map(({ port, format, before }) => [term(port), changed(before, format)])));
  }
  if (one.attributes?.length) parts.push(html("h3", {}, "Attributes"), pairTable(one.attributes));
  if (one.text) {
    const code = html("code", {}, one.text);
    parts.push(html("h3", {}, "Text form"), code, button("copy", () => copy(code)));
  }
  if (portsOf[node].length) parts.push(html("h3", {}, "Values"), ...portsOf[node].map(smallHistogram));
  return parts;
}

function groupPanel(box) {
  const inside = members(view.refs[box]);
  const counts = name => sum(inside.map(node => num(nodes[node][name])).filter(isFinite));
  const rows = ["parameters", "bytes", "macs", "bitops"].map(name => [term(name), shown(counts(name))]);
  const { name, about } = wordsOf(view.refs[box]);
  return [html("h3", {}, cut(name, 120)), html("p", {}, `${about} `, button("open", () => openGroup(box))), pairTable(rows), html("p", {}, ...links(inside))];
}

function showPanel(box) {
  const parts = box === null ? [html("p", { class: "about" }, "Choose a node to see what is known of it.")]
    : chosenNode() === null ? groupPanel(box) : nodePanel(chosenNode());
  ui.panel.replaceChildren(...parts);
  ui.panel.scrollTop = 0;
}
