// Uses the page as a reader would: by keys and clicks. What it finds goes into the document.
{
  const found = { errors: [] };
  addEventListener("error", event => found.errors.push(event.message));
  const key = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const texts = selector => [...document.querySelectorAll(selector)].map(one => one.textContent);
  const parts = ["layerPart", "stagePart", "neuronPart", "wavePart", "floorPart", "sizePart", "claim"];
  found.ready = Math.round(performance.now());
  found.requests = performance.getEntriesByType("resource").map(one => one.name);
  found.parts = parts.filter(name => !ui[name].hidden);
  found.at_start = ui.neuronName.textContent;
  found.layers = [...document.querySelectorAll("#layerTable tbody th")].map(one => one.dataset.tip ?? one.textContent);
  found.stages = document.querySelectorAll("#stageBars .stack").length;
  found.checks = document.querySelectorAll("#checkTable tbody tr").length;
  found.passed = [...document.querySelectorAll("#checkTable tbody tr")].filter(row => row.querySelector(".passed")).map(row => row.cells[0].textContent);
  found.images = document.images.length;

  // every layer, and in it the first neurons, walked from the result to an input and back
  found.neurons = [];
  const lines = new Set();
  found.walked = true;
  const start = performance.now();
  for (const option of ui.neuronLayer.options) {
    ui.neuronLayer.value = option.value;
    ui.neuronLayer.dispatchEvent(new Event("change"));
    const grid = [...ui.neuronGrid.children];
    found.neurons.push(grid.length);
    found.opened_after ??= Math.round(performance.now() - start);
    for (const one of grid.slice(0, 3)) {
      one.click();
      if (one.getAttribute("aria-pressed") !== "true") found.errors.push(`${one.textContent} is not opened`);
      const root = ui.adderText.textContent;
      for (let step = 0; step < 20; step++) {
        lines.add(ui.adderText.textContent);
        key(ui.adders, step % 3 === 2 ? "ArrowDown" : "ArrowLeft");
      }
      if (ui.adderText.textContent === root) found.walked = false;
      for (let step = 0; step < 40; step++) key(ui.adders, "ArrowRight");
      if (ui.adderText.textContent !== root) found.errors.push(`readers do not lead back to ${root}`);
      document.querySelectorAll("#adders g").forEach(group => lines.add(group.dataset.tip));
    }
    grid[0].focus();
    if (grid[1]) {
      key(grid[0], "ArrowRight");
      if (document.activeElement !== grid[1]) found.errors.push("arrow keys do not walk over neurons");
    }
  }
  found.lines = [...lines].slice(0, 200);
  if (!lines.size || [...lines].some(line => line.includes("undefined") || line.includes("NaN"))) found.errors.push("an operation has no words");

  // the address, the table and the tip
  const head = [...document.querySelectorAll("#layerTable th button")].find(one => one.textContent === "adders");
  head?.click();
  if (!ui.layerPart.hidden && !/^#neuron-\d+-\d+$/.test(location.hash)) found.errors.push(`the address is ${location.hash}`);
  document.querySelector("#layerShares i")?.dispatchEvent(new PointerEvent("pointerover", { bubbles: true, clientX: 5, clientY: 5 }));
  if (!ui.layerPart.hidden && tip.hidden) found.errors.push("a share has no tip");

  // themes, and a narrow window
  const ground = () => getComputedStyle(document.body).backgroundColor;
  found.light = ground();
  ui.theme.click();
  found.dark = ground();
  ui.theme.click();
  document.body.style.width = "320px";
  const isInside = element => element.closest(".scroll") || element.parentElement.closest("svg") || element.closest("#neuronGrid") || element.closest("#tip");
  const width = document.body.getBoundingClientRect().right;
  found.too_wide = [...document.querySelectorAll("#hardware *, header *")].filter(one => one.getBoundingClientRect().right > width + 1 && !isInside(one))
    .map(one => `${one.tagName} ${one.id} ${one.className.baseVal ?? one.className}`).slice(0, 5);
  document.body.append(html("pre", { id: "found" }, JSON.stringify(found)));
}
