// How long a large graph takes: its first picture since the page began to load, a frame, a search.
{
  const first = performance.getEntriesByName("picture")[0].startTime;
  const timed = (times, act) => {
    const from = performance.now();
    for (let k = 0; k < times; k++) act();
    // Reading a pixel makes the browser finish what it was told to draw.
    const probe = html("canvas").getContext("2d");
    probe.drawImage(canvas, 0, 0);
    probe.getImageData(0, 0, 1, 1);
    return +((performance.now() - from) / times).toFixed(2);
  };
  const near = timed(20, () => { place(camera.x, camera.y - 25, 0.8); draw(); });
  fit();
  const far = timed(20, () => { camera.x += 1; draw(); });
  const search = timed(10, () => find("bits>4 op=linear"));
  const walk = timed(5, () => choose(view.count >> 1));
  const found = { first: +first.toFixed(0), near, far, search, walk, hits: hits.size };
  document.body.append(html("pre", { id: "found" }, JSON.stringify(found)));
}
