// The waveform of the first rows, and the floor of the device.

const [waveTall, waveLeft, cycleWide] = [24, 96, 64];

function showWave() {
  const wave = hardware.wave;
  if (!wave?.clock?.length) return;
  ui.wavePart.hidden = false;
  // The clock rises once in a cycle; without registers it stands still, and a row takes as long.
  const rises = wave.clock.filter(([, isUp]) => isUp).map(([time]) => time);
  const period = rises.length > 1 ? rises[1] - rises[0] : 10000;
  const px = time => waveLeft + (time / period) * cycleWide;
  const rows = [{ name: "clk" }, ...wave.lines];
  const [wide, tall] = [px(wave.end) + 8, rows.length * waveTall + 22];
  const parts = [];
  for (let cycle = 0; cycle * period <= wave.end; cycle++) {
    parts.push(drawn("path", { class: "edge", d: `M${px(cycle * period)} 16V${tall}` }),
      drawn("text", { class: "name", x: px(cycle * period) + 3, y: 11 }, String(cycle)));
  }
  rows.forEach(({ name, port, codes }, k) => {
    const y = 20 + k * waveTall;
    parts.push(drawn("text", { class: "name", x: waveLeft - 8, y: y + 15, "text-anchor": "end" }, endOf(name, 13)));
    parts.push(...(codes ? busParts(codes, port, { y, px, period, end: wave.end, rises }) : [clockPath(wave, y, px)]));
  });
  filled(ui.wave, { viewBox: `0 0 ${tenths(wide)} ${tall}`, width: tenths(wide), height: tall,
    "aria-label": `codes of ${plural(wave.lines.length, "element")} over ${plural(floor(wave.end / period), "cycle")}` }, []);
  ui.wave.replaceChildren(...parts);
  const latency = hardware.latency ? `its result stands in y ${plural(hardware.latency, "clock edge")} later` : "its result stands in y at once";
  const more = wave.left_out ? ` ${plural(wave.left_out, "further element")} not shown.` : "";
  ui.waveAbout.textContent = `Codes in Icarus, by clock cycle. Row 0 is marked: ${latency}.${more}`;
}

function clockPath(wave, y, px) {
  const [low, high] = [y + 19, y + 4];
  const parts = wave.clock.map(([time, isUp], k) => `${k ? "L" : "M"}${tenths(px(time))} ${k && wave.clock[k - 1][1] ? high : low}V${isUp ? high : low}`);
  const last = wave.clock.at(-1)[1] ? high : low;
  return drawn("path", { d: `${parts.join("")}H${tenths(px(wave.end))}` });
}

// A word: a box from change to change, with its code where there is room.
function busParts(codes, port, { y, px, period, end, rises }) {
  // Row 0 is at the input in the first cycle, and at the result after as many edges as the pipeline has registers.
  const start = port === "x" ? 0 : hardware.latency ? rises[hardware.latency - 1] : 0;
  const isFirst = (from, to) => from < start + period && to > start;
  const cuts = [start, start + period];
  const spans = codes.flatMap(([time, code], k) => {
    const to = codes[k + 1]?.[0] ?? end;
    const times = [time, ...cuts.filter(one => one > time && one < to), to];
    return times.slice(1).map((last, j) => [times[j], last, code]);
  });
  return spans.filter(([from, to]) => to > from).flatMap(([from, to, code]) => {
    const [x1, x2, top, bottom] = [px(from), px(to), y + 3, y + 20];
    const slope = min(3, (x2 - x1) / 2);
    const middle = (top + bottom) / 2;
    const looks = code === null ? "unknown" : isFirst(from, to) ? "bus first" : "bus";
    const d = `M${tenths(x1)} ${middle}L${tenths(x1 + slope)} ${top}H${tenths(x2 - slope)}L${tenths(x2)} ${middle}L${tenths(x2 - slope)} ${bottom}H${tenths(x1 + slope)}Z`;
    const text = code === null ? "x" : String(code);
    const hasRoom = text.length * 6.7 + 6 < x2 - x1;
    return [drawn("path", { class: looks, d, "data-tip": text }),
      drawn("text", { x: tenths((x1 + x2) / 2), y: y + 15.5, "text-anchor": "middle", style: "pointer-events:none" }, hasRoom ? text : "")];
  });
}

// ---- the floor

function showFloor() {
  const floor = hardware.floor;
  if (!floor) return;
  ui.floorPart.hidden = false;
  const { width, height, tiles } = floor;
  const layerOf = floor.layers.map(prefix => layers.findIndex(layer => layer.prefix === prefix));
  const names = floor.layers.map((prefix, k) => layers[layerOf[k]]?.layer ?? (prefix || "other"));
  const [paths, counts, at] = [new Map(), floor.layers.map(() => 0), new Map()];
  for (let k = 0; k < tiles.length; k += 4) {
    const [x, y, layer, cells] = tiles.slice(k, k + 4);
    const key = `${layer},${cells < 4}`;
    const top = height - 1 - y;
    paths.set(key, `${paths.get(key) ?? ""}M${x} ${top}h.88v.88h-.88z`);
    counts[layer] += cells;
    at.set(`${x},${top}`, `${names[layer]}: ${plural(cells, "cell")}`);
  }
  const drawnPaths = [...paths].map(([key, d]) => {
    const [layer, isThin] = key.split(",");
    return drawn("path", { d, fill: colorOf(layerOf[layer]), "fill-opacity": isThin === "true" ? 0.6 : 1 });
  });
  const frame = frameOf(floor);
  const look = () => {
    const [x, y, wide, tall] = ui.floorWhole.checked ? [0, 0, width, height] : frame;
    ui.floor.setAttribute("viewBox", `${x} ${y} ${wide} ${tall}`);
  };
  ui.floorWhole.onchange = look;
  look();
  filled(ui.floor, { "aria-label": `tiles of the device by layer: ${names.map((name, k) => `${name} ${counts[k]} cells`).join(", ")}` }, []);
  ui.floor.replaceChildren(drawn("rect", { width, height, "stroke-width": 0.2 }), ...drawnPaths);
  ui.floor.onpointermove = event => {
    const box = ui.floor.getBoundingClientRect();
    const view = ui.floor.viewBox.baseVal;
    const scale = min(box.width / view.width, box.height / view.height);
    const [left, top] = [(box.width - view.width * scale) / 2, (box.height - view.height * scale) / 2];
    const tile = [view.x + (event.clientX - box.left - left) / scale, view.y + (event.clientY - box.top - top) / scale].map(Math.floor);
    showTip(at.get(tile.join()), event.clientX, event.clientY);
  };
  ui.floor.onpointerleave = () => showTip(null);
  ui.floorLegend.append(...names.map((name, k) => html("span", {}, html("i", { style: `background:${colorOf(layerOf[k])}` }), `${cut(name)} ${shown(counts[k])}`)));
  ui.floorAbout.textContent = "Tiles of the fastest placement, each in the colour of the layer that has most cells in it; paler tiles have fewer than four. "
    + "Grey tiles are of none: pins, clocks and what no name leads to.";
}

// The part of the device in which layers have cells, with a tile around it; all of it where there is none.
function frameOf({ width, height, layers: names, tiles }) {
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let k = 0; k < tiles.length; k += 4) {
    if (!names[tiles[k + 2]]) continue;
    const [x, y] = [tiles[k], height - 1 - tiles[k + 1]];
    [left, top, right, bottom] = [min(left, x - 1), min(top, y - 1), max(right, x + 2), max(bottom, y + 2)];
  }
  return right > left ? [left, top, right - left, bottom - top] : [0, 0, width, height];
}
