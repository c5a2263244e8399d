// The table of the nodes; in a diff the table of changes, and the threshold of SQNR.

const isChange = node => (nodes[node].state ?? "same") !== "same";
const changes = [...nodes.keys()].filter(isChange);
// BitOPs that a node has less than before.
const savedBy = ({ before, bitops, state }) =>
  (state === "added" ? 0 : num(before?.bitops ?? bitops)) - (state === "removed" ? 0 : num(bitops));
const savedAll = sum(nodes.map(savedBy).filter(isFinite));

const word = (name, value, about) => ({ name, value: row => value(nodes[row]) ?? "", isWord: true, about });
// Large counts are written short; the panel has all digits.
const short = value => (num(value) >= 1e6 ? value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 4 }) : shown(value));
const count = (name, about, value = node => node[name]) => ({ name, about, value: row => value(nodes[row]), text: row => short(value(nodes[row])) });
const formatsOf = (node, pick) => [...new Set((node.formats ?? []).map(pick))].join(", ");
const shareColumn = (name, about, value) => ({ ...count(name, about, value), text: row => percent(value(nodes[row]) ?? null) });

function nodeColumns() {
  const first = [word("name", node => node.name), word("op", node => node.op)];
  const last = [count("sqnr"), count("error")];
  if (!isDiff) {
    return [...first, word("shape", node => node.shape), word("formats", node => formatsOf(node, one => one.format)),
      ...["bits", "parameters", "bytes", "macs", "bitops"].map(name => count(name)), ...last,
      shareColumn("sparsity", undefined, node => node.sparsity), shareColumn("time", undefined, node => node.time)];
  }
  const share = node => (savedAll > 0 && isFinite(savedBy(node)) ? savedBy(node) / savedAll : null);
  return [first[0], word("state", node => node.state), ...last,
    count("bits before", "mean bits of its ports before", node => (node.before ? node.before.bits : node.state === "added" ? null : node.bits)),
    count("bits after", "mean bits of its ports after", node => (node.state === "removed" ? null : node.bits)),
    count("BitOPs before", undefined, node => (node.before ? node.before.bitops : node.state === "added" ? null : node.bitops)),
    count("BitOPs after", undefined, node => (node.state === "removed" ? null : node.bitops)),
    shareColumn("saved", "its share of all BitOPs saved", share),
    word("before", node => (node.state === "added" ? "" : formatsOf(node, one => one.before ?? one.format))),
    word("after", node => (node.state === "removed" ? "" : formatsOf(node, one => one.format))), first[1]];
}

let nodeTable = null;

function startNodes() {
  const section = ui.nodes;
  section.hidden = !nodes.length;
  if (!nodes.length) return;
  section.querySelector("h2").textContent = isDiff ? "Changes" : "Nodes";
  // Columns in which no node has a value are left out.
  const columns = nodeColumns().filter(({ value }) => nodes.some((_, node) => isKnown(value(node)) && value(node) !== ""));
  const looks = node => [under.has(node) && "under", node === (view && chosenNode()) && "chosen"].filter(Boolean).join(" ");
  const rows = [...changes, ...[...nodes.keys()].filter(node => !isChange(node))];
  const pick = node => view && chooseNode(node);
  nodeTable = sortedTable(ui.nodeTable, { file: isDiff ? "changes" : "nodes", columns, rows, address, pick, looks });
  ui.diffControls.hidden = ui.changeKeys.hidden = !isDiff;
  startThreshold();
}

function startThreshold() {
  const known = nodes.map(node => num(node.sqnr)).filter(isFinite);
  const input = ui.threshold;
  input.parentElement.hidden = ui.under.hidden = !known.length;
  input.max = ceil(max(1, ...known)) + 1;
  ui.diffControls.querySelector(".under").append(term("sqnr", "SQNR"));
  input.oninput = () => {
    under.clear();
    nodes.forEach((node, k) => num(node.sqnr) < +input.value && under.add(k));
    ui.under.textContent = +input.value ? `${input.value} dB: ${plural(under.size, "node")}` : "off";
    nodeTable.fill();
    redraw();
  };
  ui.under.textContent = "off";
}

function markRows(node) {
  if (!nodeTable) return;
  for (const row of nodeTable.table.tBodies[0].rows) row.classList.toggle("chosen", row.dataset.row === String(node));
  const [row, box] = [nodeTable.table.querySelector(".chosen"), nodeTable.table.parentElement];
  if (row && abs(row.offsetTop - box.scrollTop - box.clientHeight / 2) > box.clientHeight / 2 - 40) box.scrollTop = row.offsetTop - box.clientHeight / 2;
}
