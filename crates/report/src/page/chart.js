// Parts that charts are drawn from.

const superscript = power => String(power).replace(/[-\d]/g, sign => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]);

// An axis over values; a logarithmic one has ticks at powers of ten, or at 1, 2 and 5 where those are few.
function axis([low, high], isLog, label) {
  if (!isLog) return { label, at: value => (value - low) / (high - low), ticks: wanted => ticks(low, high, wanted) };
  const [from, to] = [log10(low), log10(high)];
  const decades = wanted => {
    const every = max(1, ceil((to - from) / wanted));
    const powers = Array.from({ length: ceil(to - from) + 1 }, (_, k) => floor(from) + k).filter(power => power % every === 0);
    const values = powers.flatMap(power => (to - from < 2.5 ? [1, 2, 5] : [1]).map(step => step * 10 ** power));
    return values.filter(value => value >= low && value <= high).map(value => ({ value, text: shown(+value.toPrecision(2)) }));
  };
  return { label, at: value => (log10(value) - from) / (to - from), ticks: decades };
}

// The grid of a chart; gives the places of values.
function framed(svg, x, y, height, margin = {}) {
  const width = svg.clientWidth || svg.parentElement.clientWidth || 480;
  const yTicks = y.ticks?.(max(2, height / 50)) ?? [];
  const left = margin.left ?? 30 + 7 * max(1, ...yTicks.map(tick => tick.text.length));
  const [right, top, bottom] = [width - (margin.right ?? 12), margin.top ?? 14, height - 40];
  const [px, py] = [value => left + x.at(value) * (right - left), value => bottom - y.at(value) * (bottom - top)];
  const line = (x1, y1, x2, y2) => drawn("line", { class: "grid", x1, y1, x2, y2 });
  const parts = x.ticks(max(2, (right - left) / 80)).flatMap(({ value, text }) => [
    line(px(value), top, px(value), bottom), drawn("text", { x: px(value), y: bottom + 18, "text-anchor": "middle" }, text)]);
  parts.push(...yTicks.flatMap(({ value, text }) => [
    line(left, py(value), right, py(value)), drawn("text", { x: left - 8, y: py(value) + 4, "text-anchor": "end" }, text)]));
  parts.push(drawn("text", { class: "label", x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, x.label ?? ""));
  if (y.label) parts.push(drawn("text", { class: "label", transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.label));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(...parts);
  return { svg, width, left, right, top, bottom, px, py, add: (name, attributes, ...children) => svg.appendChild(drawn(name, attributes, ...children)) };
}

const savers = (name, svg, columns, rows) => html("span", { class: "tools" },
  button("save SVG", () => saveSvg(name, svg)), button("save CSV", () => saveCsv(name, columns, rows)));
