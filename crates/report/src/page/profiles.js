// Profiles: the sizes of the values of all ports beside what their formats can hold, and the histogram of one.

const portName = ({ node, port }) => `${nodes[node]?.name ?? node} ${port}`;
let chosenPort = 0;
let maxPorts = 80;

// Smallest, 1 %, quartiles, 99 % and largest size of the values; quantiles with signs are put in order without them.
function sizes({ quantiles = [] }) {
  const values = quantiles.map(num);
  return values.some(value => value < 0) ? values.map(abs).sort(compared) : values;
}
const limitOf = range => (range ? max(...range.map(num).map(abs)) : NaN);

// Exponents that the drawing spans: of the values, and of the formats as far as they are near them.
function exponents(list) {
  const finite = values => values.filter(value => value > 0 && value < Infinity).map(log2);
  const seen = finite(list.flatMap(port => sizes(port).slice(1)));
  const [low, high] = [min(0, ...seen), max(0, ...seen)];
  const formats = finite(list.flatMap(port => [num(port.step), limitOf(port.range)])).filter(at => at > low - 12 && at < high + 8);
  const top = ceil(max(high, ...formats)) + 1;
  return [max(floor(min(low, ...formats)) - 1, top - 48), top];
}

function drawSpans() {
  const list = ports.slice(0, maxPorts);
  const [low, high] = exponents(list);
  const pitch = 19;
  const wide = ui.spans.clientWidth || 600;
  const left = min(230, wide * 0.36);
  const step = max(1, ceil(((high - low) * 40) / (wide - left)));
  const places = Array.from({ length: floor((high - low) / step) + 1 }, (_, k) => low + k * step);
  const x = { label: "size of the values", at: value => (value - low) / (high - low), ticks: () => places.map(value => ({ value, text: `2${superscript(value)}` })) };
  const chart = framed(ui.spans, x, { at: () => 0 }, list.length * pitch + 54, { left });
  const held = value => tenths(min(max(chart.px(value > 0 ? log2(value) : low), chart.left), chart.right));
  const paths = { band: "", "was-band": "", whisker: "", quartiles: "", median: "", ends: "" };
  const bar = (from, to, y, half) => `M${held(from)} ${y - half}H${held(to)}V${y + half}H${held(from)}Z`;
  list.forEach((port, k) => {
    const y = chart.top + (k + 0.5) * pitch;
    const [smallest, one, first, middle, third, last, largest] = sizes(port);
    if (port.range) paths.band += bar(num(port.step), limitOf(port.range), y, 8);
    if (port.before?.range) paths["was-band"] += bar(num(port.before.step), limitOf(port.before.range), y, 8);
    if (largest >= 0) {
      paths.whisker += `M${held(one)} ${y}H${held(last)}`;
      paths.quartiles += bar(first, third, y, 4);
      paths.median += `M${held(middle)} ${y - 4}V${y + 4}`;
      paths.ends += `M${held(smallest)} ${y}h0M${held(largest)} ${y}h0`;
    }
  });
  for (const [name, d] of Object.entries(paths)) if (d) chart.add("path", { class: name, d });
  list.forEach((port, k) => {
    const y = chart.top + k * pitch;
    const room = floor((chart.left - 8) / 6.6);
    const name = cut(nodes[port.node]?.name ?? "", max(4, room - port.port.length - 1));
    chart.add("text", { x: chart.left - 8, y: y + 13.5, "text-anchor": "end", class: "label" }, cut(`${name} ${port.port}`, room));
    const row = chart.add("rect", { class: k === chosenPort ? "row on" : "row", x: 0, y, width: chart.width, height: pitch, "data-tip": portWords(port) });
    row.onclick = () => choosePort(k);
  });
  const more = button(`show all ${shown(ports.length)} ports`, () => { maxPorts = Infinity; drawSpans(); });
  ui.morePorts.replaceChildren(...(ports.length > list.length ? [more] : []));
}
const losses = port => [["saturated", port.saturated], ["zeroed", port.zeroed]].filter(([, share]) => isKnown(share));
const portWords = port => [portName(port), port.format ?? "no format", ...losses(port).map(([name, share]) => `${name} ${percent(share)}`)].join("\n");

function choosePort(k) {
  chosenPort = k;
  ui.spans.querySelectorAll(".row").forEach((row, at) => row.classList.toggle("on", at === k));
  drawHistogram();
}

// ---- one port

// The histogram of a port as paths: its bars, and those of the rounded values. Tall bars of the latter are cut.
function bars(counts, rounded, px, top, bottom) {
  const largest = max(1, ...counts);
  const tallest = max(largest, ...(rounded ?? []));
  const high = min(tallest, 2.5 * largest);
  const bar = (count, k) => count && `M${tenths(px(k))} ${bottom}V${tenths(bottom - (min(count, high) / high) * (bottom - top))}H${tenths(px(k + 1))}V${bottom}Z`;
  const path = list => list.map(bar).filter(Boolean).join("");
  return { bars: path(counts), rounded: path(rounded ?? []), isCut: high < tallest, high };
}

function drawHistogram() {
  const port = ports[chosenPort];
  const isLog = (ui.octaves.checked || !port.histogram) && !!port.logarithmic;
  ui.octaves.disabled = !port.logarithmic || !port.histogram;
  const shape = isLog ? port.logarithmic : port.histogram ?? { low: 0, high: 1, counts: [] };
  const low = num(shape.low) || 0;
  const top = isLog ? low + shape.counts.length : max(num(shape.high) || 0, low + 1e-9);
  const x = axis([low, top], false, isLog ? "power of two of the size" : "value");
  const rounded = isLog ? null : port.rounded;
  const chart = framed(ui.histogram, x, axis([0, bars(shape.counts, rounded, Number, 0, 0).high], false, "values"), 250, { top: 32 });
  const px = k => chart.px(low + (k / max(1, shape.counts.length)) * (top - low));
  const paths = bars(shape.counts, rounded, px, chart.top, chart.bottom);
  if (paths.rounded) chart.add("path", { class: "rounded", d: paths.rounded });
  chart.add("path", { class: "bars", d: paths.bars });
  const edges = one => (isLog ? [["step", log2(num(one?.step))], ["limit", log2(limitOf(one?.range))]]
    : [["lowest", num(one?.range?.[0])], ["step", num(one?.step)], ["highest", num(one?.range?.[1])]]);
  for (const [one, looks] of [[port.before, "was-limit"], [port, "limit"]]) {
    for (const [name, value] of edges(one).filter(([, value]) => value >= low && value <= top)) {
      chart.add("line", { class: looks, x1: chart.px(value), x2: chart.px(value), y1: chart.top - 4, y2: chart.bottom });
      const side = x.at(value) > 0.9 ? "end" : x.at(value) < 0.1 ? "start" : "middle";
      if (one === port) chart.add("text", { x: chart.px(value), y: chart.top - (name === "step" ? 20 : 8), "text-anchor": side }, name);
    }
  }
  ui.portName.textContent = cut(portName(port), 60);
  ui.histogram.setAttribute("aria-label", `histogram of ${portName(port)}`);
  showPortFacts(port, paths.isCut);
}

function showPortFacts(port, isCut) {
  const ends = range => range?.map(shown).join(" … ");
  const said = { format: shown, saturated: percent, zeroed: percent, range: ends, step: shown };
  const was = port.before;
  const rows = Object.keys(said).filter(name => isKnown(port[name])).map(name =>
    [term(name), ...(was ? [isKnown(was[name]) ? said[name](was[name]) : ""] : []), said[name](port[name])]);
  const numbers = [...["count", "mean", "deviation", "nans"].map(name => [name, shown(port[name])]),
    ["values", ends([port.min, port.max])], ["zeros", percent(port.zeros)]];
  const { low, high, counts } = port.histogram ?? { counts: [] };
  const edge = k => num(low) + (k / counts.length) * (num(high) - num(low));
  const columns = [{ name: "low", value: edge }, { name: "high", value: k => edge(k + 1) },
    { name: "count", value: k => counts[k] }, { name: "rounded", value: k => port.rounded?.[k] }];
  ui.portFacts.replaceChildren(
    html("p", { class: "about" },
      port.rounded && !ui.octaves.checked ? `Blue: the values; orange: rounded to the format${isCut ? ", tall bars cut" : ""}. ` : "",
      savers("histogram", ui.histogram, columns, [...counts.keys()]),
      port.values ? button("save values", () => saveCsv("values", [{ name: portName(port), value: k => port.values[k] }], port.values.keys())) : ""),
    pairTable(rows, was && ["", "before", "after"]), pairTable(numbers.map(([name, text]) => [term(name), text])));
}

// A histogram for the panel; a click shows it large.
function smallHistogram(k) {
  const port = ports[k];
  const { counts } = port.histogram ?? port.logarithmic ?? { counts: [] };
  const paths = bars(counts, port.rounded, at => (at / counts.length) * 320, 2, 44);
  const svg = drawn("svg", { class: "chart bars", viewBox: "0 0 320 46", preserveAspectRatio: "none", role: "img", "aria-label": `histogram of ${portName(port)}` },
    drawn("path", { class: "rounded", d: paths.rounded ?? "" }), drawn("path", { class: "bars", d: paths.bars ?? "" }));
  const show = () => { choosePort(k); ui.port.scrollIntoView({ block: "center" }); };
  svg.onclick = show;
  const said = losses(port).map(([name, share]) => `, ${name} ${percent(share)}`).join("");
  return html("figure", {}, svg, html("figcaption", {}, `${port.port}: ${shown(port.min)} … ${shown(port.max)}${said} `, button("show", show)));
}

function startProfiles() {
  ui.profiles.hidden = !ports.length;
  if (!ports.length) return;
  const text = (name, value) => ({ name, value, isWord: true });
  const number = (name, words = shown) => ({ name, value: row => ports[row][name], text: row => words(ports[row][name]) });
  const columns = [text("port", row => portName(ports[row])), text("format", row => ports[row].format ?? ""),
    ...["count", "min", "max", "mean", "deviation", "nans", "step"].map(name => number(name)),
    ...["zeros", "saturated", "zeroed"].map(name => number(name, percent)),
    ...["min |x|", "1 %", "25 %", "50 %", "75 %", "99 %", "max |x|"].map((name, k) => ({ name, value: row => sizes(ports[row])[k] }))];
  const details = ui.portTable.parentElement;
  details.ontoggle = () => details.open && !ui.portTable.firstChild
    && sortedTable(ui.portTable, { file: "profiles", columns, rows: ports.keys(), pick: choosePort });
  ui.octaves.onchange = drawHistogram;
  ui.spans.onkeydown = event => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choosePort(min(max(chosenPort + step, 0), min(maxPorts, ports.length) - 1));
  };
  ui.profiles.querySelector("h2").append(savers("profiles", ui.spans, columns, [...ports.keys()]));
  drawSpans();
  drawHistogram();
}
