// The summary, the legend, the theme, and the start.

// ---- summary

// How much a number grew or fell, as a share.
function change(before, after) {
  const [a, b] = [num(before), num(after)];
  const by = (100 * (b - a)) / abs(a);
  return isFinite(by) && by ? `${by < 0 ? "−" : "+"}${+abs(by).toPrecision(2)} %` : "";
}

function showSummary() {
  const facts = data.facts ?? [];
  const isPair = facts.some(({ before }) => isKnown(before));
  const row = ({ name, before, after, about }) =>
    [term(name, name, about), ...(isPair ? [isKnown(before) ? shown(before) : "", shown(after), change(before, after)] : [shown(after)])];
  if (facts.length) ui.facts.append(pairTable(facts.map(row), isPair && ["", "before", "after", "change"], ""));
  ui.sentences.append(...(data.sentences ?? []).map(text => html("p", {}, text)));
  ui.program.textContent = data.program ?? "";
}

// ---- legend

function showLegend() {
  const swatch = (style, text) => html("span", {}, html("i", { style }), text);
  const entries = [];
  if (painted.metric) {
    const bar = html("i", { class: "ramp", style: `background:linear-gradient(90deg,${viridis.map(rgb)})` });
    entries.push(html("span", {}, term(painted.by), ` ${valueText(painted.low)}`, bar, valueText(painted.high)),
      swatch(`border-color:${palette.edge}`, "not known"));
  } else {
    const used = new Set(Array.from(view.refs, kindOf));
    const style = kind => `background:${palette[kind]};border-color:${palette[kind]}`;
    entries.push(...kinds.filter(kind => used.has(kind)).map(kind => swatch(style(kind), term(kind, kind === "group" ? "closed group" : kind))));
  }
  const states = new Set(view.states);
  for (const [state, [name, , dashes]] of Object.entries(outlines)) {
    if (state === "same" || !states.has(state)) continue;
    entries.push(swatch(`border:2px ${dashes.length ? "dashed" : "solid"} ${palette[name]}`, state));
  }
  ui.legend.replaceChildren(...entries);
}

// ---- start

function repaint() {
  if (view) {
    recolor();
    showLegend();
    draw();
  }
}

// The system's theme until the button chooses the other one.
function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  ui.theme.onclick = () => {
    const isDark = root.style.colorScheme ? root.style.colorScheme === "dark" : dark.matches;
    root.style.colorScheme = isDark ? "light" : "dark";
    repaint();
  };
  dark.onchange = repaint;
  // Paper is light, and shows the whole graph.
  let kept = "light";
  let place = null;
  for (const moment of ["beforeprint", "afterprint"]) {
    addEventListener(moment, () => {
      [kept, root.style.colorScheme] = [root.style.colorScheme, kept];
      resize();
      if (view && !place) {
        place = { ...camera };
        fit();
      } else if (view) {
        Object.assign(camera, { x: place.x, y: place.y, zoom: place.zoom });
        place = null;
      }
      repaint();
    });
  }
}

function pageKey(event) {
  if (event.key === "Escape") showTip(null);
  if (event.target.matches?.("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey || !view) return;
  const act = {
    "/": () => ui.find.focus(), "+": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: fit,
    n: () => chooseNext(changes, 1), p: () => chooseNext(changes, -1),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function startGraph() {
  ui.graph.hidden = false;
  ui.limited.append(graph.limited ?? "");
  const offered = Object.keys(metrics).filter(name => nodes.some(node => num(node[name]) > 0 || num(node[name]) < 0));
  ui.color.append(...["kind", ...offered].map(name => html("option", { value: name }, name)));
  ui.color.onchange = repaint;
  ui.view.append(...graph.views.map(({ closed }, k) => html("option", { value: k }, closed?.length ? `${closed.length} closed` : "open")));
  ui.viewLabel.hidden = graph.views.length < 2;
  ui.view.onchange = () => switchView(+ui.view.value);
  ui.graph.querySelector("h2").append(savers("graph", null, nodeColumns(), [...nodes.keys()]));
  canvas.setAttribute("aria-label", `graph ${graph.name ?? ""} of ${plural(nodes.length, "node")}; the table below has the same`);
  ui.find.oninput = () => find(ui.find.value);
  ui.find.onkeydown = event => {
    if (event.key === "Enter" && hits) chooseNext([...hits], event.shiftKey ? -1 : 1);
    if (event.key === "Escape") canvas.focus();
  };
  // The table of changes stands beside the graph.
  if (isDiff) {
    ui.split.className = "diff";
    ui.side.prepend(ui.nodes);
  }
  resize();
  showPanel(null);
  switchView(0);
  draw();
  performance.mark("picture");
  listenToCanvas();
}

function start() {
  startTheme();
  showSummary();
  if (graph?.views?.length) startGraph();
  startNodes();
  startProfiles();
  if (view) followAddress();
  addEventListener("keydown", pageKey);
  addEventListener("hashchange", () => view && followAddress());
  for (const kind of ["pointerover", "focusin"]) addEventListener(kind, tipOf);
  addEventListener("focusout", () => showTip(null));
  // Keys may scroll to what they focus, whose tip stays.
  addEventListener("scroll", () => tipOf({ target: document.activeElement }));
  addEventListener("resize", () => {
    if (view) {
      const isWhole = camera.zoom === wholeZoom();
      resize();
      if (isWhole) fit();
      else place(camera.x, camera.y);
    }
    if (ports.length) drawSpans(), drawHistogram();
  });
}
start();
