// The graph as a file: the present view in its present colours.

// A path that is written down instead of drawn.
const writtenPath = () => ({
  d: "",
  moveTo(...to) { this.d += `M${to.map(tenths)}`; },
  lineTo(...to) { this.d += `L${to.map(tenths)}`; },
  bezierCurveTo(...to) { this.d += `C${to.map(tenths)}`; },
});

function graphSvg() {
  const [lines, heads] = [writtenPath(), writtenPath()];
  for (const edge of view.edges) trace(lines, edge), arrowHead(heads, edge);
  const { width, height } = view.raw;
  const svg = drawn("svg", { viewBox: `-10 -10 ${width + 20} ${height + 20}`, "font-family": "system-ui, sans-serif" },
    ...view.frames.flatMap(({ name, x, y, wide, tall, isRight }) => [
      drawn("rect", { x, y, width: wide, height: tall, rx: 5, fill: palette.ground, stroke: palette.edge, "stroke-width": 0.8 }),
      drawn("text", { x: isRight ? x + wide - 9 : x + 9, y: y + 3, "text-anchor": isRight ? "end" : null, "font-size": 9, fill: palette.faint, stroke: palette.ground, "stroke-width": 4, "paint-order": "stroke" }, name)]),
    drawn("path", { d: lines.d, fill: "none", stroke: palette.edge, "stroke-width": 1.3 }), drawn("path", { d: heads.d, fill: palette.edge }));
  for (let box = 0; box < view.count; box++) {
    const looks = painted.boxes[box];
    const { fill, strong } = looks;
    const [line, thick, dashes] = outlines[view.states[box]] ?? outlines.same;
    const [x, y, wide, tall] = [view.left[box], view.top[box], view.wide[box], view.tall[box]];
    const rect = shift => drawn("rect", {
      x: shift, y: shift, width: wide, height: tall, rx: 5, fill,
      stroke: palette[line] ?? strong, "stroke-width": thick, "stroke-dasharray": dashes.length ? dashes.join(" ") : null,
    });
    const made = drawn("g", { transform: `translate(${tenths(x)} ${tenths(y)})` },
      drawn("title", {}, wordsOf(view.refs[box]).name), ...(view.refs[box] < 0 ? [rect(3.5)] : []), rect(0));
    if (kindOf(view.refs[box]) === "opaque") {
      const strokes = writtenPath();
      hatch(strokes, 0, 0, wide, tall);
      made.append(drawn("path", { d: strokes.d, stroke: strong, "stroke-width": 0.4 }));
    }
    if (!painted.metric) made.append(drawn("rect", { x: 1, y: 4, width: 3.5, height: max(0, tall - 8), fill: strong }));
    for (const { text, y, size, weight, ink } of textsOf(box)) {
      made.append(drawn("text", { x: 11, y: y + size * 0.35, "font-size": size, "font-weight": weight, fill: looks[ink] }, text));
    }
    svg.append(made);
  }
  return svg;
}
