// What the page knows of the search, and how it is put into words. Functions for elements and numbers are those of the page.
const study = data.search;
const { columns, objectives } = study;

// A trial is known by its place in the columns. A column of one entry holds it for all trials.
const at = (column, trial) => (column.length === 1 ? column[0] : column[trial]);
const trials = study.numbers.map((_, trial) => trial);
const best = new Set(study.best);

// How trials ended, in the order of the legend.
const endings = {
  front: objectives.length > 1 ? "on the front" : "best",
  complete: "complete",
  over: "over the budget",
  pruned: "given up early",
  failed: "could not be run",
};
const letters = { c: "complete", o: "over", p: "pruned", f: "failed" };
const endOf = trial => (best.has(trial) ? "front" : letters[study.states[trial]]);
const keepsBudget = trial => study.states[trial] === "c";

const scoreOf = (column, trial) => at(columns[column].values, trial);
const better = (column, a, b) => (columns[column].up ? a > b : a < b);
// Orders trials from the best to the worst in a column.
const fromBest = column => (a, b) => (scoreOf(column, a) - scoreOf(column, b)) * (columns[column].up ? -1 : 1);

// A parameter's value in a trial; undefined where it has none. Letters count from "0".
const choice = (parameter, trial) => parameter.list[at(parameter.letters, trial).charCodeAt(0) - 48];
const configs = new Map(study.parameters.map(parameter => [parameter.node, []]));
for (const parameter of study.parameters) configs.get(parameter.node).push(parameter);
// The keys that a trial has at a node, with their values.
const configOf = (node, trial) =>
  configs.get(node).map(parameter => [parameter.key, choice(parameter, trial)]).filter(([, value]) => value !== undefined);

// ---- numbers

const written = value => (Array.isArray(value) ? `[${value.join(", ")}]` : String(value));

function largeNumber(value) {
  if (value < 1e6) return shown(value);
  if (value >= 1e15) return value.toExponential(1);
  return value.toLocaleString("en-US", { notation: "compact", compactDisplay: "long" });
}

// ---- one trial

const titleOf = trial => [html("b", {}, `trial ${study.numbers[trial]}`), ` – ${endings[endOf(trial)]}`];

// What a trial scored, or why it could not be run.
function resultOf(trial) {
  const note = choice(study.notes, trial);
  if (note !== undefined) return html("p", {}, note);
  const score = ({ name }, column) => {
    const value = html("b", objectives.includes(column) ? { class: "aim" } : {}, shown(scoreOf(column, trial)));
    return html("span", {}, `${name} `, value);
  };
  return html("div", { class: "scores" }, ...columns.map(score));
}

// A node in a sentence: its format, then its keys.
function nodeLine(node, trial) {
  const said = configOf(node, trial).map(([key, value]) => (key === "name" ? "" : `${key} `) + written(value));
  return html("p", {}, html("b", {}, node), ` ${said.join(", ")}`);
}

// Of the first nodes the keys that have several values over the trials; all keys where none has.
const varied = study.parameters.filter(parameter => parameter.list.length > 1);
const maxNodes = 6;
const telling = new Set(varied.length ? varied : study.parameters);
function configLine(trial) {
  const said = node => configs.get(node)
    .filter(parameter => telling.has(parameter) && choice(parameter, trial) !== undefined)
    .map(parameter => `${parameter.key} ${written(choice(parameter, trial))}`);
  const lines = [...configs.keys()].map(node => [node, said(node)]).filter(([, keys]) => keys.length);
  const rest = lines.splice(maxNodes);
  const spans = lines.map(([node, keys]) => html("span", {}, html("b", {}, `${node}.`), keys.join(", ")));
  return rest.length ? [...spans, html("span", {}, `and ${rest.length} more`)] : spans;
}

// Nodes down, keys across.
function configTable(trial) {
  const rows = [...configs.keys()].map(node => [node, new Map(configOf(node, trial))]);
  const keys = [...new Set(rows.flatMap(([, config]) => [...config.keys()]))];
  const side = key => (key === "name" ? { class: "word" } : {});
  // Long keys may be broken after an underscore.
  const broken = key => key.split(/(?<=_)/).flatMap(part => [part, html("wbr")]);
  const head = [html("th", { class: "word" }, "node"), ...keys.map(key => html("th", side(key), ...broken(key)))];
  const cell = (config, key) => html("td", side(key), config.has(key) ? written(config.get(key)) : "");
  const row = ([node, config]) => html("tr", {}, html("td", { class: "word" }, node), ...keys.map(key => cell(config, key)));
  const table = html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows.map(row)));
  return html("div", { class: "scroll" }, table);
}
