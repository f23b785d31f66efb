// The mask painter: paint who may look at whom; the weights follow, and which outputs move when one token is changed.
// Computed here, so that it lives on a page without a kernel; mask_painter.py is its twin in NumPy. It follows shared.js
// in one script.

const BLOCKED = -1e9; // the score of a key that may not be looked at
const PRESETS = ["everyone", "causal", "padding", "both"];

// --- the steps -----------------------------------------------------------------------------------------------------

/** Compute weights and outputs, once more with one token changed, and who moved: the same as the twin's `explore`. */
export function explore({ Q, K, V, names, mask, changed }) {
  const { weights, output } = attend(Q, K, V, mask);
  const swapped = [Q, K, V].map((table) => table.map((row, i) => (i === changed ? row.map((number) => -number) : row)));
  const after = attend(...swapped, mask).output;
  const moved = output.map((row, i) => row.some((number, column) => Math.abs(after[i][column] - number) > 1e-9));
  return { weights, output, moved, sentence: sentence(names, mask, changed, moved) };
}

function attend(Q, K, V, mask) {
  const root = Math.sqrt(Q[0].length);
  const weights = Q.map((query, i) => {
    const scores = K.map((key) => query.reduce((sum, number, column) => sum + number * key[column], 0) / root);
    return softmax(scores.map((score, j) => (mask[i][j] ? score : BLOCKED)));
  });
  const output = weights.map((row) =>
    V[0].map((_, column) => row.reduce((sum, weight, key) => sum + weight * V[key][column], 0)),
  );
  return { weights, output };
}

function sentence(names, mask, changed, moved) {
  const n = names.length;
  const parts = [`${mask.flat().filter(Boolean).length} of ${n * n} pairs may look.`];
  const blind = names.filter((_, i) => !mask[i].some(Boolean));
  if (blind.length) parts.push(`${listed(blind)} may look at nothing: the plain mean of all values.`);
  if (changed >= 0) {
    const movers = names.filter((_, i) => moved[i]);
    parts.push(`With ${listed([names[changed]])} changed, ${movers.length ? `the output of ${listed(movers)} moves` : "no output moves"}.`);
    const earlier = names.slice(0, changed).filter((_, i) => moved[i]);
    if (earlier.length) parts.push(`${listed(earlier)} saw the future.`);
  }
  return parts.join(" ");
}

function listed(words) {
  const quoted = words.map((word) => `"${word}"`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}`;
}

/** Make one of the masks that have a name: of every key, of those up to the query, of real tokens, or of both. */
export function preset(name, padding) {
  return padding.map((_, i) =>
    padding.map((pad, j) => {
      const past = j <= i;
      return { everyone: true, causal: past, padding: !pad, both: past && !pad }[name];
    }),
  );
}

export function nameOf(mask, padding) {
  const same = (name) => JSON.stringify(preset(name, padding)) === JSON.stringify(mask);
  return PRESETS.find(same) ?? "your own";
}

// --- the page ------------------------------------------------------------------------------------------------------

function render({ model, el }) {
  const root = element("div", { class: "attention-explorer mask-painter" });
  const start = { mask: model.get("mask"), changed: model.get("changed") };
  const names = model.get("names");
  const n = names.length;

  function put(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  }

  function toggle(i, j) {
    put({ mask: model.get("mask").map((row, r) => row.map((may, c) => (r === i && c === j ? !may : may))) });
  }

  const presets = PRESETS.map((name) => element("button", { type: "button" }, name));
  presets.forEach((button, p) => {
    button.addEventListener("click", () => put({ mask: preset(PRESETS[p], model.get("padding")) }));
  });
  const reset = element("button", { type: "button" }, "Start again");
  reset.addEventListener("click", () => put({ mask: start.mask.map((row) => [...row]), changed: start.changed }));

  const group = `mp-changed-${Math.random().toString(36).slice(2)}`;
  const radios = [-1, ...names.keys()].map((value) => element("input", { type: "radio", name: group, value }));
  const choice = element("fieldset", {}, element("legend", {}, "change one token"));
  for (const radio of radios) {
    choice.append(element("label", {}, radio, ` ${Number(radio.value) < 0 ? "none" : names[radio.value]} `));
    radio.addEventListener("change", () => put({ changed: Number(radio.value) }));
  }

  // The squares: one of them can be reached by Tab, the others from there by the arrow keys.
  const squares = names.map(() => []);
  const marks = [];
  const table = element("table", {}, element("caption", {}, "weights: a row for who looks, a column for who is looked at"));
  const head = element("tr", {}, element("td"));
  for (const name of names) head.append(element("th", { scope: "col" }, name));
  head.append(element("th", { scope: "col" }, "output"));
  table.append(head);
  names.forEach((query, i) => {
    const line = element("tr", {}, element("th", { scope: "row" }, query));
    names.forEach((_, j) => {
      const square = element("button", { type: "button", class: "mp-square", tabindex: i + j === 0 ? 0 : -1 });
      square.addEventListener("click", () => toggle(i, j));
      square.addEventListener("keydown", (event) => move(event, i, j));
      square.addEventListener("focus", () => {
        for (const other of squares.flat()) other.tabIndex = other === square ? 0 : -1;
      });
      squares[i].push(square);
      line.append(element("td", {}, square));
    });
    marks.push(element("td", { class: "mp-mark" }));
    line.append(marks[i]);
    table.append(line);
  });

  function move(event, i, j) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    squares[Math.min(n - 1, Math.max(0, i + step[0]))][Math.min(n - 1, Math.max(0, j + step[1]))].focus();
  }

  const status = element("p", { class: "ae-sentence", role: "status", "aria-live": "polite" });
  root.append(
    element("div", { class: "ae-row ae-controls" }, element("span", {}, "mask"), ...presets, reset),
    element("div", { class: "ae-row" }, table),
    element("div", { class: "ae-row" }, choice),
    status,
  );
  el.append(root);

  function update() {
    const now = Object.fromEntries(["Q", "K", "V", "names", "mask", "changed", "padding"].map((name) => [name, model.get(name)]));
    const result = explore(now);
    const named = nameOf(now.mask, now.padding);
    presets.forEach((button, p) => button.setAttribute("aria-pressed", PRESETS[p] === named));
    squares.flat().forEach((square, place) => {
      const [i, j] = [Math.floor(place / n), place % n];
      const [may, weight] = [now.mask[i][j], result.weights[i][j]];
      square.textContent = may || weight > 0 ? twoDigits(weight) : "–";
      square.setAttribute("aria-pressed", may);
      square.setAttribute("aria-label", `${names[i]} may look at ${names[j]}, weight ${twoDigits(weight)}`);
      square.classList.toggle("mp-blocked", !may);
      Object.assign(square.style, may ? shade(weight) : { background: "", color: "" });
    });
    marks.forEach((mark, i) => {
      mark.textContent = now.changed < 0 ? "" : result.moved[i] ? (i < now.changed ? "✗ moves" : "moves") : "stays";
      mark.classList.toggle("mp-leak", result.moved[i] && i < now.changed);
    });
    for (const radio of radios) radio.checked = Number(radio.value) === now.changed;
    if (status.textContent !== result.sentence) status.textContent = result.sentence; // said only when it changes
  }

  update();
  return follow(model, ["mask", "changed"], update);
}

export default { render };
