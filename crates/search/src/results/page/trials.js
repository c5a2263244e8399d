// Charts of trials: a chart is {svg, tall, minHeight, draw}, and after drawing also where its trials are and its rings around them.

// Room for values, and for limits that are not far from them.
function range(values, limits = []) {
  let [low, high] = extent(values);
  if (low > high) return [0, 1];
  [low, high] = extent([...values, ...limits.filter(limit => limit > 2 * low - high && limit < 2 * high - low)]);
  const room = low < high ? (high - low) * 0.04 : abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

// Draws points {x, y, trial, kind} and a line through corners {x, y} over axes {label, range, limits}.
function plot(chart, { x, y, points, line }) {
  const { svg } = chart;
  const height = round(max((svg.clientWidth || 680) * chart.tall, chart.minHeight));
  const frame = framed(svg, x, y, height);
  chart.placed = points.map(point => placed(frame, point)).filter(Boolean);
  chart.width = frame.width;
  const ring = which => drawn("circle", { class: `ring ${which} off`, r: 8 });
  chart.rings = { chosen: ring("chosen"), hover: ring("hover") };
  svg.classList.toggle("many", chart.placed.length > 2000);
  svg.append(...limits(frame, x, y), ...marks(frame, chart.placed, line), ...Object.values(chart.rings));
  setRing(chart, "chosen", chosenTrial);
}

// The budget's limits and the float network's level as lines across the plot.
function limits({ left, right, top, bottom, px, py }, x, y) {
  const inside = axis => (axis.limits ?? []).filter(({ limit }) => limit > axis.range[0] && limit < axis.range[1]);
  const words = ({ side, name, limit }) => `${side ?? name} ${shown(limit)}`;
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
  const held = (value, low, high) => min(max(value, low), high).toFixed(1);
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
  const limits = [...study.budgets, ...study.levels].filter(limit => limit.column === column);
  const label = `${columns[column].name} (${direction(column)})`;
  const ends = range(values, limits.map(budget => budget.limit));
  return { ...axis(ends, false, label), limits, range: ends };
}

const pointsOf = (x, y) => trials.map(trial => ({ x: x(trial), y: y(trial), trial, kind: endOf(trial) }));

// All trials over two columns, and the steps that bound what is reached there.
function drawScatter(chart) {
  const [x, y] = [+ui.x.value, +ui.y.value];
  const points = pointsOf(trial => scoreOf(x, trial), trial => scoreOf(y, trial));
  const line = front(x, y);
  const near = ui.near.checked ? line : points.filter(point => point.x !== null && point.y !== null);
  const ends = key => near.map(point => point[key]).filter(Number.isFinite);
  plot(chart, { x: axisOf(x, ends("x")), y: axisOf(y, ends("y")), points, line });
  const about = column => html("div", {}, `${columns[column].name}: ${columns[column].about}; ${direction(column)}`);
  ui.axes.replaceChildren(...[...new Set([y, x])].map(about));
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
  const y = +ui.h.value;
  const points = pointsOf(trial => study.numbers[trial], trial => scoreOf(y, trial));
  const corners = [];
  for (const point of points.filter(({ trial, y }) => keepsBudget(trial) && y !== null)) {
    const top = corners.at(-1)?.y;
    if (top !== undefined && !better(y, point.y, top)) continue;
    if (top !== undefined) corners.push({ x: point.x, y: top });
    corners.push(point);
  }
  const [first, last] = [study.numbers[0], study.numbers.at(-1)];
  if (corners.length) corners.push({ x: last, y: corners.at(-1).y });
  const known = points.map(point => point.y).filter(value => value !== null);
  const ends = [first - 0.5, last + 0.5];
  const across = { ...axis(ends, false, "trial"), range: ends, ticks: wanted => ticks(...ends, wanted, 1) };
  plot(chart, { x: across, y: axisOf(y, known), points, line: corners });
}

const charts = [
  { svg: ui.scatter, tall: 0.42, minHeight: 300, draw: drawScatter },
  { svg: ui.history, tall: 0.26, minHeight: 240, draw: drawHistory },
];
