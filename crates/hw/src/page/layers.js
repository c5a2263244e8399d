// The facts of the folder, the colours of its layers, and tables and bars of layers, stages and checks.

const hardware = data.hardware;
const facts = hardware.report ?? {};
const layers = Array.isArray(facts.layers) ? facts.layers : [];
const stages = Array.isArray(facts.stages) ? facts.stages : [];
const findings = Array.isArray(facts.synth) ? facts.synth : [];

const tintOf = layer => `tint${layer % hardware.colors.length}`;
const colorOf = layer => (layer >= 0 ? hardware.colors[layer % hardware.colors.length] : hardware.other_color);
hardware.colors.forEach((color, k) => ui.hardware.style.setProperty(`--tint${k}`, color));

const total = (list, key) => sum(list.map(one => num(one?.[key])).filter(isFinite));
const shareOf = (part, whole) => (whole > 0 ? num(part) / whole : null);

// ---- checks and the proof

// A text whose parts between backticks are code.
const coded = text => text.split("`").map((part, k) => (k % 2 ? html("code", {}, part) : part));

function showChecks() {
  const ends = { true: ["passed", "✓ "], false: ["differs", "✗ "] };
  const row = ({ rung, on, result, tool, passed, about }) => {
    const [looks, mark] = ends[passed] ?? ["was", ""];
    return html("tr", {},
      html("th", { scope: "row", class: "word" }, on ? `${rung} (${on})` : rung),
      html("td", { class: "word result" }, html("span", { class: looks }, mark, ...coded(result))),
      html("td", { class: "word" }, tool), html("td", { class: "word" }, about));
  };
  const heads = ["check", "result", "by", "what is compared"].map(text => html("th", { scope: "col", class: "word" }, text));
  ui.checkTable.append(html("table", {}, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...hardware.checks.map(row))));
}

function showClaim() {
  const claim = hardware.claim;
  if (!claim) return;
  ui.claim.hidden = false;
  const words = `certificate.json: rtl/net.sv computes the network for all 2^${claim.input_bits} inputs, with ${plural(claim.words, "word")}, `
    + `${plural(claim.outputs, "output")} and a latency of ${plural(claim.latency, "cycle")}. Proved by ${claim.program}, read by ${claim.reader}.`;
  ui.claimed.append(words, claim.changed ? html("b", { class: "differs" }, ` ${claim.changed} is not the file that was proved.`) : "");
  ui.claimFiles.append(pairTable(claim.files.map(([file, hash]) => [file, html("code", {}, hash)]), ["file", "SHA-256"]));
}

// ---- layers

function showLayers(pick) {
  if (!layers.length) return null;
  ui.layerPart.hidden = false;
  const all = total(layers, "lut");
  const bits = total(layers, "adder_bits");
  const share = layer => (all ? shareOf(layer.lut, all) : shareOf(layer.adder_bits, bits));
  ui.layerShares.append(...layers.map((layer, k) =>
    html("i", { class: tintOf(k), style: `flex:${share(layer) ?? 0}`, "data-tip": `${layer.layer}: ${percent(share(layer))}` })));
  ui.layerShares.setAttribute("aria-label", `shares of the layers in ${all ? "LUTs" : "bits of adders"}; the table has the same`);
  const found = (name, layer) => findings.find(one => one.target === name)?.layers?.find(one => one.layer === layer.prefix)?.lut;
  const column = (name, key, about) => ({ name, about, value: k => layers[k][key] });
  const columns = [
    { name: "layer", isWord: true, value: k => layers[k].layer, about: "a node of the graph" },
    column("neurons", "neurons", "elements of its result that have an operation of their own"),
    column("adders", "adders", "adders and subtractors"),
    column("bits", "adder_bits", "bits that they compute"),
    column("LUT (estimate)", "lut", `look-up tables for ${facts.target ?? "the target"}, estimated`),
    ...findings.map(({ target }) => ({ name: `LUT (${target})`, about: "look-up tables after synthesis", value: k => found(target, layers[k]) })),
    { name: "share", about: "part of the estimated look-up tables", value: k => share(layers[k]), text: k => percent(share(layers[k])) },
    column("FF", "ff", "flip-flops"),
  ];
  let chosen = -1;
  const looks = k => `${tintOf(k)}${k === chosen ? " chosen" : ""}`;
  const table = sortedTable(ui.layerTable, { file: "layers", columns, rows: [...layers.keys()], pick, looks, address: k => `#layer-${k}` });
  return layer => {
    chosen = layer;
    table.fill();
  };
}

// ---- stages

function showStages() {
  if (!stages.length) return;
  ui.stagePart.hidden = false;
  const most = max(...stages.map(stage => num(stage.adder_bits) || 0), 1);
  ui.stageBars.append(...stages.flatMap(stage => {
    const parts = (stage.by_layer ?? []).map((bits, k) => ({ bits, k })).filter(part => part.bits > 0);
    const segments = parts.map(({ bits, k }) =>
      html("i", { class: tintOf(k), style: `width:${(100 * bits) / most}%`, "data-tip": `${layers[k]?.layer}: ${plural(bits, "bit")} of adders` }));
    const words = [plural(stage.adders, "adder"), plural(stage.adder_bits, "bit"), plural(stage.levels, "level"),
      facts.latency ? `${shown(stage.ff)} FF` : "no registers"];
    const label = parts.map(({ bits, k }) => `${layers[k]?.layer} ${bits}`).join(", ");
    return [html("b", {}, facts.latency ? `stage ${stage.stage}` : "all"),
      html("div", { class: "stack", role: "img", "aria-label": `bits of adders: ${label}` }, ...segments), html("span", {}, words.join(" · "))];
  }));
}

// ---- synthesis

const scrolled = table => html("div", { class: "scroll", tabindex: 0 }, table);

function showSizes() {
  if (!findings.length) return;
  ui.sizePart.hidden = false;
  for (const one of findings) {
    const area = one.area ?? {};
    const rows = [["LUT", area.lut], ["LUT with one for each INV", one.lut_with_inv], ["carry cells", area.carry], ["flip-flops", area.ff],
      ["multiplier blocks", area.dsp], ["memories", area.ram]].map(([name, value]) => [name, shown(value)]);
    const clocks = one.placement;
    if (clocks) {
      rows.push(["clock, min", `${num(clocks.min_mhz).toFixed(1)} MHz`], ["clock, median", `${num(clocks.median_mhz).toFixed(1)} MHz`],
        ["clock, max", `${num(clocks.max_mhz).toFixed(1)} MHz`]);
    }
    const tools = [one.tool, clocks?.tool].filter(Boolean).join(", ");
    ui.sizes.append(html("h3", {}, `${one.target}`), html("p", { class: "about" }, tools), pairTable(rows, null, ""));
    const fastest = (clocks?.seeds ?? []).reduce((a, b) => (num(b.fmax_mhz) > num(a?.fmax_mhz ?? 0) ? b : a), null);
    if (!fastest?.critical_path?.length) continue;
    const steps = fastest.critical_path.map(step => [step.signal, step.layer, `${num(step.delay_ns).toFixed(2)} ns`]);
    ui.sizes.append(html("details", {}, html("summary", {}, "the longest path of the fastest seed"), scrolled(pairTable(steps, ["signal", "layer", "delay"]))));
  }
  const boards = Array.isArray(facts.bitstreams) ? facts.bitstreams : [];
  if (!boards.length) return;
  const rows = boards.map(one => [one.board, one.file ?? one.reason ?? one.result, shown(one.area?.lut), shown(one.bytes)]);
  ui.sizes.append(html("h3", {}, "Bitstreams"), scrolled(pairTable(rows, ["board", "file", "LUT", "bytes"])));
}
