// Training: curves over the epochs, one colour for each run.

const runs = data.training?.runs ?? [];
const hues = ["#2477b3", "#d98200", "#b0357f", "#3a9cb0", "#6b5bb0", "#8a929b"];
const hueOf = run => hues[run % hues.length];
const panes = [
  { name: "loss", columns: { train: "train_loss", val: "val_loss" }, canLog: true },
  { name: "accuracy", columns: { train: "train_accuracy", val: "val_accuracy" } },
  { name: "learning rate", columns: { val: "learning_rate" }, canLog: true },
];
const sides = { train: "training", val: "validation" };
const columnOf = (run, name) => (run.columns?.[name] ?? []).map(num);
const epochsOf = run => (run.columns?.epoch ?? []).map(num);

// An exponential mean that weighs its first values fairly; what is no number is passed over.
function smoothed(values, weight) {
  let [level, mass] = [0, 0];
  return values.map(value => {
    if (!isFinite(value)) return value;
    level = weight * level + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return level / mass;
  });
}

function drawPane(pane) {
  const weight = pane.columns.train ? +ui.smooth.value : 0;
  const isLog = pane.canLog && ui.decades.checked;
  const isDrawn = value => isFinite(value) && (!isLog || value > 0);
  const all = runs.flatMap(run => Object.values(pane.columns).flatMap(name => columnOf(run, name))).filter(isDrawn);
  const epochs = runs.flatMap(epochsOf).filter(isFinite);
  const [low, high] = all.length ? extent(all) : [0, 1];
  const room = high > low ? (high - low) * 0.05 : abs(high) * 0.1 || 1;
  const [first, last] = extent(epochs);
  const x = axis([first, max(last, first + 1)], false, "epoch");
  x.ticks = wanted => ticks(first, last, wanted, 1);
  const y = axis(isLog ? [low / 1.1, high * 1.1] : [low - room, high + room], isLog, pane.name);
  const chart = framed(pane.svg, x, y, 240);
  const path = (run, values) => {
    let isDown = false;
    return epochsOf(run).map((epoch, k) => {
      const part = isDrawn(values[k]) ? `${isDown ? "L" : "M"}${tenths(chart.px(epoch))} ${tenths(chart.py(values[k]))}` : "";
      isDown = part !== "";
      return part;
    }).join("");
  };
  runs.forEach((run, k) => {
    const best = run.best_epoch;
    if (isKnown(best)) chart.add("line", { class: "best", x1: chart.px(best), x2: chart.px(best), y1: chart.top, y2: chart.bottom });
    for (const [side, name] of Object.entries(pane.columns)) {
      const values = columnOf(run, name);
      if (weight) chart.add("path", { class: `curve raw ${side}`, stroke: hueOf(k), d: path(run, values) });
      chart.add("path", { class: `curve ${side}`, stroke: hueOf(k), d: path(run, smoothed(values, weight)) });
      const at = epochsOf(run).indexOf(best);
      if (side !== "val" || !isDrawn(values[at])) continue;
      const y = chart.py(smoothed(values, weight)[at]);
      chart.add("circle", { cx: chart.px(best), cy: y, r: 4, fill: hueOf(k), "data-tip": `best epoch of ${run.name}: ${best}` });
    }
  });
  pane.cursor = chart.add("line", { class: "cursor", y1: chart.top, y2: chart.bottom, x1: -9e3, x2: -9e3 });
  pane.chart = { ...chart, epochs: [...new Set(epochs)].sort((a, b) => a - b) };
}

// The values of all runs at an epoch, beside the cursor.
function pointAt(pane, epoch, event) {
  const { px, svg } = pane.chart;
  pane.epoch = epoch;
  for (const other of panes.filter(one => one.chart)) filled(other.cursor, { x1: other.chart.px(epoch), x2: other.chart.px(epoch) }, []);
  const lines = runs.flatMap(run => Object.entries(pane.columns).map(([side, name]) => {
    const k = epochsOf(run).indexOf(epoch);
    return k >= 0 && run.columns[name] && `${run.name} ${pane.columns.train ? `${sides[side]} ` : ""}${shown(run.columns[name][k])}`;
  })).filter(Boolean);
  const box = svg.getBoundingClientRect();
  showTip([`epoch ${epoch}`, ...lines].join("\n"), event?.clientX ?? box.left + px(epoch), event?.clientY ?? box.top + 20);
}
function listenToPane(pane) {
  const { svg } = pane;
  svg.onpointermove = event => {
    const x = event.clientX - svg.getBoundingClientRect().left;
    const near = (a, b) => (abs(pane.chart.px(b) - x) < abs(pane.chart.px(a) - x) ? b : a);
    pointAt(pane, pane.chart.epochs.reduce(near), event);
  };
  svg.onpointerleave = svg.onblur = () => {
    showTip(null);
    for (const { cursor } of panes) if (cursor) filled(cursor, { x1: -9e3, x2: -9e3 }, []);
  };
  svg.onkeydown = event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const { epochs } = pane.chart;
    pointAt(pane, epochs[min(max(epochs.indexOf(pane.epoch) + step, 0), epochs.length - 1)]);
  };
}

const drawTraining = () => panes.filter(pane => pane.svg).forEach(drawPane);

function startTraining() {
  const isSeen = ({ columns }) => runs.some(run => Object.values(columns).some(name => columnOf(run, name).some(value => !isNaN(value))));
  const seen = panes.filter(isSeen);
  ui.training.hidden = !seen.length;
  if (!seen.length) return;
  const rows = runs.flatMap(run => epochsOf(run).map((_, k) => ({ run, k })));
  const columns = [{ name: "run", isWord: true, value: ({ run }) => run.name },
    ...["epoch", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "learning_rate"]
      .map(name => ({ name, value: ({ run, k }) => run.columns[name]?.[k] }))];
  for (const pane of seen) {
    pane.svg = drawn("svg", { class: "chart", tabindex: 0, role: "img", "aria-label": `${pane.name} over the epochs; left and right arrow keys read values` });
    ui.curves.append(html("div", {}, pane.svg, savers(pane.name.replace(" ", "_"), pane.svg, columns, rows)));
    listenToPane(pane);
  }
  const key = (run, k) => html("span", {},
    html("i", { class: "line", style: `border-color:${hueOf(k)}` }), cut(run.name), isKnown(run.best_epoch) ? ` (best epoch ${run.best_epoch})` : "");
  ui.runs.append(...runs.map(key), html("span", { class: "was" }, "solid: validation, dashed: training"));
  ui.smooth.oninput = ui.decades.onchange = drawTraining;
  sortedTable(ui.epochTable, { file: "training", columns, rows });
  drawTraining();
}
startTraining();
addEventListener("resize", drawTraining);
