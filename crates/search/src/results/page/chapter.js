// Pointing at trials, choosing one, and what stands around the charts.

let chosenTrial = null;

// ---- pointing

// Says all of a trial beside its place, or nothing. Nodes for which the window has no room are counted.
function showTrial(chart, place) {
  for (const other of charts) setRing(other, "hover", place?.trial);
  tip.hidden = !place;
  if (!place) return;
  const more = html("p", { class: "about" });
  const lines = [...configs.keys()].map(node => nodeLine(node, place.trial));
  tip.replaceChildren(html("div", {}, ...titleOf(place.trial)), resultOf(place.trial), ...lines, more);
  const box = chart.svg.getBoundingClientRect();
  const scale = box.width / chart.width;
  const side = tipSide(box.left + place.px * scale, box.top + place.py * scale);
  for (let left = lines.length; tip.offsetHeight > side.room && left > 0; ) {
    lines[--left].remove();
    more.textContent = `and ${plural(lines.length - left, "more node")}; click to see them all`;
  }
  tip.style.left = `${side.left()}px`;
  tip.style.top = `${side.top()}px`;
}

// The side of a point of the window that has room for the tip, so that it neither covers the point nor leaves the window.
function tipSide(x, y) {
  const [gap, edge] = [14, 8];
  const within = (value, size, all) => max(edge, min(value, all - size - edge));
  const middle = () => within(y - tip.offsetHeight / 2, tip.offsetHeight, innerHeight);
  const room = innerHeight - 2 * edge;
  if (x + gap + tip.offsetWidth + edge <= innerWidth) return { room, left: () => x + gap, top: middle };
  if (x - gap - tip.offsetWidth >= edge) return { room, left: () => x - gap - tip.offsetWidth, top: middle };
  const left = () => within(x - tip.offsetWidth / 2, tip.offsetWidth, innerWidth);
  const [above, below] = [y - gap - edge, innerHeight - y - gap - edge];
  return below >= above
    ? { room: below, left, top: () => y + gap }
    : { room: above, left, top: () => y - gap - tip.offsetHeight };
}

// The trial nearest to a place in the window, a best one first among those that are close to each other.
function nearest(chart, event, reach) {
  const box = chart.svg.getBoundingClientRect();
  const scale = box.width / chart.width;
  const [x, y] = [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
  let [found, minDistance] = [null, reach ** 2];
  for (const point of chart.placed) {
    const distance = (point.px - x) ** 2 + (point.py - y) ** 2 - (point.kind === "front" ? 20 : 0);
    if (distance < minDistance) [found, minDistance] = [point, distance];
  }
  return found;
}

// ---- choosing

// Shows a trial in the panel, in the charts and in the table.
function choose(trial) {
  chosenTrial = trial;
  for (const chart of charts) setRing(chart, "chosen", trial);
  ui.trial.replaceChildren(html("h3", {}, ...titleOf(trial)), resultOf(trial), configTable(trial));
  const table = ui.best;
  for (const row of table.tBodies[0].rows) row.classList.toggle("chosen", +row.dataset.row === trial);
  const [row, box] = [table.querySelector(".chosen"), table.parentElement];
  if (!row) return;
  const isSeen = row.offsetTop > box.scrollTop + 30 && row.offsetTop + row.offsetHeight < box.scrollTop + box.clientHeight;
  if (!isSeen) box.scrollTop = row.offsetTop - box.clientHeight / 2;
}

// The page's address names the chosen trial, so that it can be passed on.
const address = trial => `#trial-${study.numbers[trial]}`;
function pick(trial) {
  choose(trial);
  location.replace(address(trial));
}
function followAddress() {
  const trial = trials.find(trial => address(trial) === location.hash);
  if (trial !== undefined && trial !== chosenTrial) choose(trial);
}

// Arrow keys walk over the best trials from left to right.
function walk(chart, event) {
  if (event.key === "Escape") showTrial(chart, null);
  const stops = chart.placed.filter(point => point.kind === "front" || point.trial === chosenTrial);
  stops.sort((a, b) => a.px - b.px || a.py - b.py);
  const here = stops.findIndex(point => point.trial === chosenTrial);
  const next = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: stops.length - 1 }[event.key];
  if (next === undefined || !stops.length) return;
  event.preventDefault();
  const stop = stops[max(0, min(next, stops.length - 1))];
  pick(stop.trial);
  showTrial(chart, stop);
}

function listen(chart) {
  const { svg } = chart;
  svg.onpointermove = event => event.pointerType !== "touch" && showTrial(chart, nearest(chart, event, 24));
  svg.onpointerleave = svg.onblur = () => showTrial(chart, null);
  svg.onclick = event => {
    const place = nearest(chart, event, 32);
    if (place) pick(place.trial);
  };
  svg.onkeydown = event => walk(chart, event);
}

// ---- around the charts

function summary() {
  const limit = ({ column, side, limit }) => `${columns[column].name} ${side} ${shown(limit)}`;
  const aims = objectives.map(column => columns[column].name).join(", ");
  const budget = study.budgets.length ? ` with ${study.budgets.map(limit).join(", ")}` : "";
  const size = study.configurations === null ? "" : ` of ${largeNumber(study.configurations)} configurations`;
  const effort = `${plural(trials.length, "trial")}${size} with ${study.sampler}, scored on ${plural(study.rows, "row")}`;
  ui.searched.append(`Searched for ${aims}${budget}: ${effort}, seed ${study.seed}.`);
  if (study.nearest === null) return;
  const words = `No trial keeps the budget. Nearest: trial ${study.numbers[study.nearest]}, ${study.excess}.`;
  ui.searched.append(html("br"), html("b", {}, words));
}

function legend() {
  const counts = {};
  for (const trial of trials) counts[endOf(trial)] = (counts[endOf(trial)] ?? 0) + 1;
  const where = { pruned: " (on the axis)", failed: " (in the history)" };
  const entry = kind => html("span", {}, html("i", { class: kind }), `${endings[kind]} ${shown(counts[kind])}${where[kind] ?? ""}`);
  ui.states.append(...Object.keys(endings).filter(kind => counts[kind]).map(entry));
  const words = `${plural(trials.length, "trial")}, ${counts.front ?? 0} ${endings.front}; arrow keys walk over them`;
  ui.scatter.setAttribute("aria-label", words);
  ui.history.setAttribute("aria-label", "the best value so far over the trials; arrow keys walk over the best trials");
}

// What the table lists, and under which title: of several objectives the front, of one the ten best.
function listed() {
  if (study.nearest !== null) return ["Nearest to the budget", [study.nearest]];
  if (objectives.length > 1) return ["The front", [...study.best]];
  return ["The best", trials.filter(keepsBudget).sort(fromBest(objectives[0])).slice(0, 10)];
}

function tableRow(trial, kept) {
  const cells = kept.map(column => html("td", {}, shown(scoreOf(column, trial))));
  const number = html("td", {}, html("a", { href: address(trial) }, study.numbers[trial]));
  const row = html("tr", { "data-row": trial }, number, ...cells, html("td", { class: "word" }, ...configLine(trial)));
  row.onclick = () => pick(trial);
  row.onmouseenter = () => charts.forEach(chart => setRing(chart, "hover", trial));
  row.onmouseleave = () => charts.forEach(chart => setRing(chart, "hover", null));
  return row;
}

// Makes the table, and returns the trial of its first row. Metrics that are the same in all rows are left out.
function bestTable() {
  const [title, all] = listed();
  const differs = column => new Set(all.map(trial => scoreOf(column, trial))).size > 1;
  const offered = [...new Set([...objectives, ...columns.keys()])];
  const kept = offered.filter(column => objectives.includes(column) || all.length < 2 || differs(column));
  const rows = new Map(all.map(trial => [trial, tableRow(trial, kept)]));
  const head = (text, about) => html("th", { title: about }, html("button", {}, text));
  const heads = [head("trial", "its number"), ...kept.map(column => head(columns[column].name, columns[column].about))];
  const values = "of every node what differs between trials; choose a row to see all of it";
  ui.bestTitle.textContent = title;
  ui.best.tHead.append(html("tr", {}, ...heads, html("th", { class: "word", title: values }, "configuration")));
  // Sorts by a column of the table, from its best value on, or back.
  const sort = (place, isBack) => {
    const order = place ? fromBest(kept[place - 1]) : (a, b) => a - b;
    const isFalling = isBack !== (place > 0 && columns[kept[place - 1]].up);
    all.sort((a, b) => (isBack ? order(b, a) : order(a, b)));
    for (const other of heads) other.removeAttribute("aria-sort");
    heads[place].setAttribute("aria-sort", isFalling ? "descending" : "ascending");
    ui.best.tBodies[0].append(...all.map(trial => rows.get(trial)));
  };
  heads.forEach((head, place) => {
    let isBack = place === 1;
    head.onclick = () => {
      sort(place, isBack);
      isBack = !isBack;
    };
  });
  sort(1, false);
  return all[0];
}

function importance() {
  const maxShown = 12;
  const percent = share => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
  const bar = ([key, share]) => [
    html("span", {}, key.replace("/config/", " ")),
    html("div", {}, html("i", { style: `width:${100 * share}%` })),
    html("b", {}, percent(share)),
  ];
  const objective = ([name, shares]) => {
    const part = html("div", {}, html("h3", {}, name));
    if (!shares.some(([, share]) => share > 0)) return filled(part, {}, ["No choice explains any of it."]);
    part.append(html("div", { class: "shares" }, ...shares.slice(0, maxShown).flatMap(bar)));
    const rest = shares.slice(maxShown);
    if (rest.length) part.append(html("p", { class: "about" }, `and ${rest.length} more, at most ${percent(rest[0][1])} each`));
    return part;
  };
  ui.importance.append(...study.importances.map(objective));
  if (!study.importances.length) ui.importance.append("Too few complete trials to tell.");
}

// Reasons with how often they were given, the most frequent first.
function failures() {
  const maxShown = 8;
  const counts = new Map();
  for (const trial of trials.filter(trial => endOf(trial) === "failed")) {
    const note = choice(study.notes, trial) ?? "no reason is kept";
    counts.set(note, (counts.get(note) ?? 0) + 1);
  }
  const reasons = [...counts].sort((a, b) => b[1] - a[1]);
  const lines = reasons.slice(0, maxShown).map(([note, count]) => html("li", {}, html("b", {}, `${shown(count)} × `), note));
  if (reasons.length > maxShown) lines.push(html("li", {}, `and ${plural(reasons.length - maxShown, "other reason")}`));
  ui.failures.lastElementChild.append(...lines);
  ui.failures.hidden = !reasons.length;
}

function columnChoice(id, offered, first, chart) {
  const option = column => html("option", { value: column, title: columns[column].about }, columns[column].name);
  ui[id].append(...offered.map(option));
  ui[id].value = first;
  ui[id].onchange = () => chart.draw(chart);
}

// The trials as columns of a file.
const trialColumns = [
  { name: "trial", value: trial => study.numbers[trial] }, { name: "state", value: trial => endings[endOf(trial)] },
  ...columns.map(({ name }, column) => ({ name, value: trial => scoreOf(column, trial) })),
  ...study.parameters.map(parameter => ({ name: `${parameter.node} ${parameter.key}`, value: trial => written(choice(parameter, trial) ?? "") })),
];

function startSearch() {
  ui.search.hidden = false;
  for (const { svg } of charts) svg.previousElementSibling.previousElementSibling.append(savers(svg.id, svg, trialColumns, trials));
  const drawAll = () => charts.forEach(chart => chart.draw(chart));
  const every = [...columns.keys()];
  const [up, second] = objectives;
  const bits = every.find(column => columns[column].name === "average_bitwidth");
  columnChoice("y", every, up, charts[0]);
  columnChoice("x", every, second ?? (up === bits ? 0 : bits), charts[0]);
  columnChoice("h", objectives, up, charts[1]);
  ui.near.onchange = drawAll;
  ui.nearLabel.hidden = !study.best.length;
  summary();
  legend();
  const first = bestTable();
  importance();
  failures();
  drawAll();
  choose(first ?? 0);
  followAddress();
  charts.forEach(listen);
  addEventListener("resize", drawAll);
  addEventListener("scroll", () => showTrial(charts[0], null), { passive: true });
  addEventListener("hashchange", followAddress);
}
startSearch();
