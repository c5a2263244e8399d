// Uses the page as a reader would: by keys, clicks and fields. What it finds goes into the document.
{
  const found = { errors: [] };
  addEventListener("error", event => found.errors.push(event.message));
  const key = (target, key, more = {}) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  const nameOf = () => (chosenNode() === null ? null : nodes[chosenNode()].name);
  const search = text => {
    ui.find.value = text;
    ui.find.dispatchEvent(new Event("input"));
    const names = [...(hits ?? [])].map(node => nodes[node].name);
    if (text && ui.hits.textContent !== plural(names.length, "node")) found.errors.push(`${text}: ${ui.hits.textContent}`);
    return names;
  };
  const cells = row => [...row.cells].map(cell => cell.textContent);
  found.at_start = nameOf();
  found.requests = performance.getEntriesByType("resource").map(one => one.name);

  // finding
  found.by_sqnr = search("sqnr<20");
  found.by_format = search("INTEGER(8,");
  found.by_op = search("op=linear");
  key(ui.find, "Enter");
  if (nameOf() !== found.by_op[0]) found.errors.push(`after the last hit Enter goes to ${nameOf()}`);
  search("");
  key(document.body, "/");
  if (document.activeElement !== ui.find) found.errors.push("/ does not focus the search");

  // moving
  const moved = (name, act) => {
    fit();
    place(camera.x, camera.y, 1);
    const before = { ...camera };
    act();
    if (["x", "y", "zoom"].every(part => camera[part] === before[part])) found.errors.push(`${name} does not move`);
  };
  for (const name of ["+", "-", "0"]) moved(name, () => key(document.body, name));
  for (const name of ["ArrowDown", "ArrowUp"]) moved(name, () => key(canvas, name));
  moved("wheel", () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: 40, cancelable: true })));
  moved("ctrl+wheel", () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: 40, ctrlKey: true, cancelable: true })));
  canvas.setPointerCapture = null;
  const pointer = (kind, pointerId, clientX, clientY) => canvas.dispatchEvent(new PointerEvent(kind, { pointerId, clientX, clientY, bubbles: true }));
  moved("drag", () => {
    pointer("pointerdown", 1, 300, 300);
    pointer("pointermove", 1, 300, 260);
    pointer("pointerup", 1, 300, 260);
  });
  moved("pinch", () => {
    pointer("pointerdown", 1, 300, 300);
    pointer("pointerdown", 2, 400, 300);
    pointer("pointermove", 2, 450, 300);
    pointer("pointerup", 1, 300, 300);
    pointer("pointerup", 2, 450, 300);
  });
  moved("map", () => ui.map.dispatchEvent(new PointerEvent("pointerdown", { buttons: 1, clientX: ui.map.getBoundingClientRect().left + 5, clientY: ui.map.getBoundingClientRect().bottom - 5 })));

  // walking
  canvas.focus();
  key(canvas, "Escape");
  canvas.blur();
  canvas.focus();
  found.tabbed = [{}, {}, { shiftKey: true }].map(more => {
    key(canvas, "Tab", more);
    return nameOf();
  });
  key(canvas, "Escape");
  found.next_changes = changes.map(() => {
    key(document.body, "n");
    return nameOf();
  });
  chooseNode(nodes.findIndex(node => node.name.startsWith("<img")));
  found.address_of_hostile = decodeURIComponent(location.hash.replace("#node=", ""));
  found.hostile_elements = document.querySelectorAll("img").length;

  // the table
  const head = name => [...document.querySelectorAll("#nodeTable th button")].find(one => one.textContent === name);
  head("sqnr").click();
  found.sorted = [...document.querySelectorAll("#nodeTable tbody tr")].map(row => nodes[row.dataset.row].name);
  ui.threshold.value = 15;
  ui.threshold.dispatchEvent(new Event("input"));
  found.under = document.querySelectorAll("#nodeTable tr.under").length;

  // colours, theme and views
  for (const option of ui.color.options) {
    ui.color.value = option.value;
    ui.color.dispatchEvent(new Event("change"));
    if (!ui.legend.firstChild) found.errors.push(`${option.value} has no legend`);
  }
  ui.color.value = "kind";
  repaint();
  const ground = () => getComputedStyle(document.body).backgroundColor;
  found.light = ground();
  ui.theme.click();
  found.dark = ground();
  ui.theme.click();
  choose(null);
  ui.view.value = 1;
  ui.view.dispatchEvent(new Event("change"));
  found.closed_boxes = view.count;
  const box = Array.from(view.refs).findIndex(reference => reference < 0);
  fit();
  const stage = canvas.getBoundingClientRect();
  const [x, y] = [stage.left + camera.x + (view.left[box] + 9) * camera.zoom, stage.top + camera.y + (view.top[box] + 9) * camera.zoom];
  for (const kind of ["pointerover", "pointermove"]) pointer(kind, 1, x, y);
  if (tip.hidden || tip.textContent !== "block\n2 nodes, closed") found.errors.push(`the tip of a group is ${tip.textContent}`);
  for (const kind of ["pointerdown", "pointerup"]) pointer(kind, 1, x, y);
  found.opened = nameOf();

  // names that are not unique
  const twin = nodes.length - 1;
  const old = nodes[twin].name;
  nodes[twin].name = nodes[0].name;
  chooseNode(twin);
  followAddress();
  if (chosenNode() !== twin) found.errors.push("the address leaves a chosen node for its namesake");
  nodes[twin].name = old;

  // numbers
  chooseNode(nodes.findIndex(node => node.name === "fc/b"));
  const rows = new Map([...document.querySelectorAll("#panel tr")].map(cells));
  found.panel = ["parameters", "bytes", "sqnr", "error"].map(name => rows.get(name));
  found.facts = cells([...document.querySelectorAll("#facts tbody tr")].find(row => row.cells[0].textContent === "accuracy"));
  found.rows_of_epochs = document.querySelectorAll("#epochTable tbody tr").length;
  ui.decades.click();
  ui.smooth.value = 0.5;
  ui.smooth.dispatchEvent(new Event("input"));
  found.curves = document.querySelectorAll("#curves .curve:not(.raw)").length;
  document.querySelector("#curves svg").dispatchEvent(new PointerEvent("pointermove", { clientX: 0, clientY: 10 }));
  if (tip.textContent.split("\n")[1] !== "first training 2") found.errors.push(`the tip of the first epoch is ${tip.textContent}`);
  const word = document.querySelector("#facts .term");
  word.focus();
  if (tip.textContent !== "the network" || word.getAttribute("aria-describedby") !== "tip") found.errors.push("a term does not explain itself");
  found.ports = document.querySelectorAll("#spans .row").length;
  document.querySelectorAll("#spans .row")[1].dispatchEvent(new MouseEvent("click"));
  ui.octaves.click();
  ui.octaves.click();
  const facts = new Map([...document.querySelectorAll("#portFacts tr")].map(row => [row.cells[0]?.textContent, cells(row).slice(1)]));
  found.port_facts = [...facts.get("format"), facts.get("saturated").at(-1)];
  found.sections = [...document.querySelectorAll("section")].filter(one => !one.hidden).map(one => one.id);

  // files
  const picture = new DOMParser().parseFromString(svgText(graphSvg()), "image/svg+xml");
  found.picture = {
    names: [...picture.querySelectorAll("g > title")].map(one => one.textContent),
    dashed: picture.querySelectorAll("rect[stroke-dasharray]").length,
    without_color: [...picture.querySelectorAll("rect, text")].filter(one => !/^rgb/.test(one.getAttribute("fill"))).length,
  };
  found.files = [];
  HTMLAnchorElement.prototype.click = function () { found.files.push(this.download); };
  const press = selector => document.querySelectorAll(selector).forEach(one => one.click());
  press("#graph h2 button");
  press("#nodeTable > button");
  press("#profiles h2 button:first-child");
  press("#curves > div:first-child button");
  found.csv_quotes = csv([['a"b', "c,d"]]) === '"a""b","c,d"\n';
  document.body.append(html("pre", { id: "found" }, JSON.stringify(found)));
}
