// Tables that can be sorted by every column.

const maxRows = 200;

// Fills a place with a table of columns {name, about, isWord, value, text, cell} over rows. The value sorts and goes into
// files, the text is shown. Long tables show their first rows until all are asked for.
function sortedTable(place, { file, columns, rows, address, pick, looks }) {
  const table = html("table", { class: "sorted" }, html("thead"), html("tbody"));
  let [shownRows, all, sortedBy, isBack] = [[...rows], false, -1, false];
  const text = (column, row) => (column.text ?? (row => shown(column.value(row))))(row);
  const head = ({ name, about, isWord }, k) =>
    html("th", { scope: "col", class: isWord && "word" }, button(name, () => sort(k), about ?? data.terms?.[name.toLowerCase()]));
  const heads = columns.map(head);
  table.tHead.append(html("tr", {}, ...heads));
  const line = row => {
    const cells = columns.map((column, k) => {
      const words = text(column, row);
      const inner = k || !address ? cut(words) : html("a", { href: address(row) }, cut(words));
      const attributes = { class: column.isWord && "word", "data-tip": cut(words) === words ? null : words };
      return k ? html("td", attributes, inner) : html("th", { ...attributes, scope: "row" }, inner);
    });
    const made = html("tr", { class: looks?.(row), "data-row": pick && row }, ...cells);
    if (pick) made.onclick = () => pick(row);
    return made;
  };
  const more = html("p");
  const fill = () => {
    table.tBodies[0].replaceChildren(...(all ? shownRows : shownRows.slice(0, maxRows)).map(line));
    more.replaceChildren();
    if (all || shownRows.length <= maxRows) return;
    more.append(button(`show all ${shown(shownRows.length)} rows`, () => { all = true; fill(); }));
  };
  // Sorts by a column; numbers begin with the largest, and a second time turns the order around.
  function sort(k) {
    isBack = sortedBy === k ? !isBack : !columns[k].isWord;
    sortedBy = k;
    const { value } = columns[k];
    shownRows.sort((a, b) => {
      const [u, v] = [value(a), value(b)].map(columns[k].isWord ? String : num);
      return isBack && u === u && v === v ? compared(v, u) : compared(u, v);
    });
    heads.forEach(one => one.removeAttribute("aria-sort"));
    heads[k].setAttribute("aria-sort", isBack ? "descending" : "ascending");
    fill();
  }
  const saved = button("save CSV", () => saveCsv(file, columns, shownRows));
  place.replaceChildren(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": file }, table), more, saved);
  fill();
  return { table, fill };
}
