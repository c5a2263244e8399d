// Charts: a chart is {svg, tall, least, draw}, and after drawing also where its trials are and its rings around them.

// Round numbers between two ends, about as many as wanted, no closer than `least`, and how they are written.
function ticks(low, high, wanted, least = 0) {
  const rough = Math.max((high - low) / wanted, least);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.999);
  const text = tickText(step, Math.max(Math.abs(low), Math.abs(high)));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const tick = (_, k) => ({ value: (first + k) * step, text: text((first + k) * step) });
  return Array.from({ length: last - first + 1 }, tick);
}

// As many digits as tell neighbours apart.
function tickText(step, largest) {
  const magnitude = value => Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  const decimals = Math.max(0, -magnitude(step));
  if (largest < 1e6 && decimals < 6) {
    return value => value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  }
  return value => (value === 0 ? "0" : value.toExponential(Math.max(0, magnitude(value) - magnitude(step))));
}

// Room for values, and for limits that are not far from them.
function range(values, limits = []) {
  let [low, high] = [Infinity, -Infinity];
  const include = value => { low = Math.min(low, value); high = Math.max(high, value); };
  values.forEach(include);
  if (low > high) return [0, 1];
  const [least, most] = [2 * low - high, 2 * high - low];
  limits.filter(limit => limit > least && limit < most).forEach(include);
  const room = low < high ? (high - low) * 0.04 : Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

// Draws points {x, y, trial, kind} and a line through corners {x, y} over axes {label, range, limits, least}.
function plot(chart, { x, y, points, line }) {
  const frame = framed(chart, x, y);
  const parts = [...axes(frame, x, y), ...limits(frame, x, y)];
  chart.placed = points.map(point => placed(frame, point)).filter(Boolean);
  parts.push(...marks(frame, chart.placed, line));
  chart.width = frame.width;
  const ring = which => drawn("circle", { class: `ring ${which} off`, r: 8 });
  chart.rings = { chosen: ring("chosen"), hover: ring("hover") };
  chart.svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  chart.svg.classList.toggle("many", chart.placed.length > 2000);
  chart.svg.replaceChildren(...parts, ...Object.values(chart.rings));
  setRing(chart, "chosen", chosen);
}

// The edges of the plot inside its chart, the ticks, and where values lie.
function framed({ svg, tall, least }, x, y) {
  const width = svg.clientWidth || 680;
  const height = Math.round(Math.max(width * tall, least));
  const yTicks = ticks(...y.range, Math.max(2, height / 60));
  const left = 30 + 7 * Math.max(...yTicks.map(tick => tick.text.length));
  const [right, top, bottom] = [width - 12, 12, height - 46];
  const xTicks = ticks(...x.range, Math.max(2, (right - left) / 90), x.least);
  const scale = ([low, high], from, to) => value => from + ((value - low) / (high - low)) * (to - from);
  const [px, py] = [scale(x.range, left, right), scale(y.range, bottom, top)];
  return { width, height, left, right, top, bottom, xTicks, yTicks, px, py };
}

function axes({ height, left, right, top, bottom, xTicks, yTicks, px, py }, x, y) {
  const across = xTicks.flatMap(({ value, text }) => [
    drawn("line", { class: "grid", x1: px(value), x2: px(value), y1: top, y2: bottom }),
    drawn("text", { x: px(value), y: bottom + 20, "text-anchor": "middle" }, text),
  ]);
  const up = yTicks.flatMap(({ value, text }) => [
    drawn("line", { class: "grid", x1: left, x2: right, y1: py(value), y2: py(value) }),
    drawn("text", { x: left - 8, y: py(value) + 4, "text-anchor": "end" }, text),
  ]);
  const turned = `translate(13 ${(top + bottom) / 2}) rotate(-90)`;
  const labels = [
    drawn("text", { class: "label", x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, x.label),
    drawn("text", { class: "label", transform: turned, "text-anchor": "middle" }, y.label),
  ];
  return [...across, ...up, ...labels];
}

// The budget's limits and the float network's level as lines across the plot.
function limits({ left, right, top, bottom, px, py }, x, y) {
  const inside = axis => (axis.limits ?? []).filter(({ limit }) => limit > axis.range[0] && limit < axis.range[1]);
  const words = ({ side, name, limit }) => `${side ?? name} ${shortNumber(limit)}`;
  const looks = ({ side }) => (side ? "budget" : "level");
  const across = inside(x).flatMap(budget => {
    const place = px(budget.limit);
    const [shift, anchor] = place > right - 90 ? [-5, "end"] : [5, "start"];
    return [
      drawn("line", { class: looks(budget), x1: place, x2: place, y1: top, y2: bottom }),
      drawn("text", { x: place + shift, y: top + 10, "text-anchor": anchor }, words(budget)),
    ];
  });
  const up = inside(y).flatMap(budget => [
    drawn("line", { class: looks(budget), x1: left, x2: right, y1: py(budget.limit), y2: py(budget.limit) }),
    drawn("text", { x: right - 4, y: py(budget.limit) - 5, "text-anchor": "end" }, words(budget)),
  ]);
  return [...across, ...up];
}

// Where a point is, with its part of a path: a dot, or a stroke on one axis when its value on the other is not known.
function placed({ left, right, top, bottom, px, py }, { x, y, trial, kind }) {
  const [dx, dy] = [x === null ? left + 4 : px(x), y === null ? bottom - 4 : py(y)];
  if ((x === null && y === null) || dx < left || dx > right || dy < top || dy > bottom) return null;
  const place = `${dx.toFixed(1)} ${dy.toFixed(1)}`;
  const [shape, stroke] = x === null ? ["rug", "m-4 0h8"] : y === null ? ["rug", "m0 -4v8"] : ["dots", "h0"];
  return { trial, kind, px: dx, py: dy, shape, path: `M${place}${stroke}` };
}

// One path for each kind of trial, which is small and fast however many there are; the best last, so that they are on top.
function marks({ left, right, top, bottom, px, py }, points, line) {
  const paths = {};
  for (const { shape, kind, path } of points) (paths[`${shape} ${kind}`] ??= []).push(path);
  const mark = (name, looks = name) => (paths[name] ? [drawn("path", { class: looks, d: paths[name].join("") })] : []);
  // A line leaves the plot at its edge.
  const held = (value, low, high) => Math.min(Math.max(value, low), high).toFixed(1);
  const corners = line.map(({ x, y }) => `${held(px(x), left, right)} ${held(py(y), top, bottom)}`);
  return [
    ...mark("rug failed"), ...mark("rug pruned"),
    ...(line.length ? [drawn("path", { class: "steps", d: `M${corners.join("L")}` })] : []),
    ...mark("dots over"), ...mark("dots over", "dots hole"), ...mark("dots complete"),
    ...mark("dots front", "dots halo"), ...mark("dots front"),
  ];
}

// Puts a ring around a trial, or takes it away where the trial is not shown.
function setRing(chart, which, trial) {
  const place = chart.placed.find(point => point.trial === trial);
  const circle = chart.rings[which];
  circle.classList.toggle("off", !place);
  if (place) filled(circle, { cx: place.px, cy: place.py }, []);
}

// ---- the two charts

const direction = column => (columns[column].up ? "larger is better" : "smaller is better");

function axisOf(column, values) {
  const limits = [...data.budgets, ...data.levels].filter(limit => limit.column === column);
  const label = `${columns[column].name} (${direction(column)})`;
  return { label, limits, range: range(values, limits.map(budget => budget.limit)) };
}

const pointsOf = (x, y) => trials.map(trial => ({ x: x(trial), y: y(trial), trial, kind: kindOf(trial) }));

// All trials over two columns, and the steps that bound what is reached there.
function drawScatter(chart) {
  const [x, y] = [+byId("x").value, +byId("y").value];
  const points = pointsOf(trial => scoreOf(x, trial), trial => scoreOf(y, trial));
  const line = front(x, y);
  const shown = byId("near").checked ? line : points.filter(point => point.x !== null && point.y !== null);
  const ends = key => shown.map(point => point[key]).filter(Number.isFinite);
  plot(chart, { x: axisOf(x, ends("x")), y: axisOf(y, ends("y")), points, line });
  const about = column => html("div", {}, `${columns[column].name}: ${columns[column].about}; ${direction(column)}`);
  byId("axes").replaceChildren(...[...new Set([y, x])].map(about));
}

// The corners of the steps through trials that keep the budget and that none beats in both columns.
function front(x, y) {
  const known = trials.filter(trial => keepsBudget(trial) && scoreOf(x, trial) !== null && scoreOf(y, trial) !== null);
  const corners = [];
  const worst = column => (columns[column].up ? -Infinity : Infinity);
  let top = worst(y);
  for (const trial of known.sort((a, b) => fromBest(x)(a, b) || fromBest(y)(a, b))) {
    const place = { x: scoreOf(x, trial), y: scoreOf(y, trial) };
    if (!better(y, place.y, top)) continue;
    corners.push({ x: place.x, y: top }, place);
    top = place.y;
  }
  if (corners.length) corners.push({ x: worst(x), y: top });
  return corners;
}

// A column over the numbers of the trials, and its best value so far.
function drawHistory(chart) {
  const y = +byId("h").value;
  const points = pointsOf(trial => data.numbers[trial], trial => scoreOf(y, trial));
  const corners = [];
  for (const point of points.filter(({ trial, y }) => keepsBudget(trial) && y !== null)) {
    const top = corners.at(-1)?.y;
    if (top !== undefined && !better(y, point.y, top)) continue;
    if (top !== undefined) corners.push({ x: point.x, y: top });
    corners.push(point);
  }
  const [first, last] = [data.numbers[0], data.numbers.at(-1)];
  if (corners.length) corners.push({ x: last, y: corners.at(-1).y });
  const known = points.map(point => point.y).filter(value => value !== null);
  const across = { label: "trial", least: 1, range: [first - 0.5, last + 0.5] };
  plot(chart, { x: across, y: axisOf(y, known), points, line: corners });
}

const charts = [
  { svg: byId("scatter"), tall: 0.42, least: 300, draw: drawScatter },
  { svg: byId("history"), tall: 0.26, least: 240, draw: drawHistory },
];
