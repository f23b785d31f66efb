// The attention explorer: edit the vectors, the scale and the temperature; every step of equation 1 follows.
// Computed here, so that it lives on a page without a kernel; attention_explorer.py is its twin in NumPy. It follows
// shared.js in one script.

const LARGEST = 6; // rows and columns of a table that still fit a page

// --- the steps -----------------------------------------------------------------------------------------------------

/** Compute every step of attention: the same names and the same rule for the sentence as the twin's `explore`. */
export function explore({ Q, K, V, scale, temperature, query_names, key_names }) {
  const d_k = Q[0].length;
  const root = { "1": 1, "√d_k": Math.sqrt(d_k), d_k }[scale];
  const divisor = root * temperature;
  const scores = Q.map((query) => K.map((key) => query.reduce((sum, number, i) => sum + number * key[i], 0)));
  const scaled = scores.map((row) => row.map((score) => score / divisor));
  const weights = scaled.map(softmax);
  const output = weights.map((row) =>
    V[0].map((_, column) => row.reduce((sum, weight, key) => sum + weight * V[key][column], 0)),
  );
  return { divisor, scores, scaled, weights, output, sentence: sentence(weights, query_names, key_names) };
}

/** Say for each query which key has the largest weight; keys within a billionth of it share the place. */
function sentence(weights, queries, keys) {
  const parts = weights.map((row, query) => {
    const largest = Math.max(...row);
    const peaks = keys.filter((_, key) => row[key] >= largest - 1e-9);
    const size = twoDigits(largest);
    if (peaks.length === 1) return `${queries[query]} looks most at ${peaks[0]} (${size})`;
    if (peaks.length === keys.length) return `${queries[query]} looks at all alike (${size} each)`;
    return `${queries[query]} looks most at ${peaks.join(" and ")} (${size} each)`;
  });
  return parts.join("; ") + ".";
}

// --- the page ------------------------------------------------------------------------------------------------------

function render({ model, el }) {
  const root = element("div", { class: "attention-explorer" });
  const start = snapshot();
  let chosen = { name: "Q", row: 0, column: 0 };
  let tied = start.tied;
  el.append(root);

  function snapshot() {
    const copy = (name) => model.get(name).map((row) => [...row]);
    const [Q, K, V] = ["Q", "K", "V"].map(copy);
    const same = JSON.stringify(Q) === JSON.stringify(K) && JSON.stringify(K) === JSON.stringify(V);
    return { Q, K, V, scale: model.get("scale"), temperature: model.get("temperature"), tied: same };
  }

  function values() {
    const names = ["Q", "K", "V", "scale", "temperature", "query_names", "key_names"];
    return Object.fromEntries(names.map((name) => [name, model.get(name)]));
  }

  function put(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  }

  /** Change one table (or, while they are tied, all three) and save it. */
  function edit(name, change) {
    const names = tied ? ["Q", "K", "V"] : [name];
    put(Object.fromEntries(names.map((each) => [each, change(model.get(each).map((row) => [...row]))])));
  }

  function setNumber({ name, row, column }, number) {
    edit(name, (table) => {
      table[row][column] = number;
      return table;
    });
  }

  /** Give Q and K another d_k: new columns are zeros, so that at first only the scale changes. */
  function setWidth(width) {
    const resized = (table) => table.map((row) => Array.from({ length: width }, (_, i) => row[i] ?? 0));
    const names = tied ? ["Q", "K", "V"] : ["Q", "K"];
    chosen = { name: names[0], row: 0, column: 0 };
    put(Object.fromEntries(names.map((name) => [name, resized(model.get(name))])));
  }

  // The controls that stay; the tables of numbers are built again only when their shape changes.
  const tables = element("div", { class: "ae-row" });
  const steps = element("div", { class: "ae-row" });
  const status = element("p", { class: "ae-sentence", role: "status", "aria-live": "polite" });
  const number = element("input", { type: "range", min: -5, max: 5, step: 0.1 });
  const numberLabel = element("span");
  const temperature = element("input", { type: "range", min: 0.1, max: 5, step: 0.1, "aria-label": "temperature" });
  const temperatureText = element("span");
  const width = element("input", { type: "number", min: 1, max: LARGEST, step: 1, "aria-label": "d_k, numbers in a vector" });
  const tie = element("input", { type: "checkbox" });
  const reset = element("button", { type: "button" }, "Start again");
  const group = `ae-scale-${Math.random().toString(36).slice(2)}`;
  const scales = ["1", "√d_k", "d_k"].map((name) => element("input", { type: "radio", name: group, value: name }));
  const scaleTexts = { "1": "nothing", "√d_k": "√d_k", d_k: "d_k" };
  const scaleBox = element("fieldset", {}, element("legend", {}, "divide the scores by"));
  for (const radio of scales) scaleBox.append(element("label", {}, radio, ` ${scaleTexts[radio.value]} `));

  number.addEventListener("input", () => setNumber(chosen, Number(number.value)));
  temperature.addEventListener("input", () => put({ temperature: Number(temperature.value) }));
  width.addEventListener("change", () => {
    const wanted = Math.round(Number(width.value));
    setWidth(Math.min(LARGEST, Math.max(1, wanted || 1)));
    width.value = model.get("Q")[0].length; // what was typed may have been out of range
  });
  for (const radio of scales) radio.addEventListener("change", () => put({ scale: radio.value }));
  tie.addEventListener("change", () => {
    tied = tie.checked;
    if (tied) put({ K: model.get("Q"), V: model.get("Q") });
    build();
  });
  reset.addEventListener("click", () => {
    const { tied: wasTied, ...first } = start;
    tied = wasTied;
    chosen = { name: "Q", row: 0, column: 0 };
    put(structuredClone(first));
    build();
  });

  const square = start.Q.length === start.K.length;
  root.append(
    tables,
    element(
      "div",
      { class: "ae-row ae-controls" },
      element("label", {}, numberLabel, number),
      element("label", {}, element("span", {}, "temperature ", temperatureText), temperature),
      scaleBox,
      element("label", {}, element("span", {}, "d_k "), width),
      ...(square ? [element("label", { class: "ae-tie" }, tie, " one vector a word: Q = K = V")] : []),
      reset,
    ),
    steps,
    status,
  );

  let shape = "";
  function build() {
    const names = tied ? ["Q"] : ["Q", "K", "V"];
    tables.replaceChildren(...names.map(inputTable));
    shape = shapeOf();
    update();
  }

  function shapeOf() {
    return JSON.stringify([tied, ...["Q", "K", "V"].map((name) => [model.get(name).length, model.get(name)[0].length])]);
  }

  function inputTable(name) {
    const rows = name === "Q" ? model.get("query_names") : model.get("key_names");
    const title = tied ? "Q = K = V" : { Q: "Q, the queries", K: "K, the keys", V: "V, the values" }[name];
    const table = element("table", {}, element("caption", {}, title));
    model.get(name).forEach((numbers, row) => {
      const line = element("tr", {}, element("th", { scope: "row" }, rows[row]));
      numbers.forEach((_, column) => line.append(element("td", {}, inputCell(name, rows[row], row, column))));
      table.append(line);
    });
    return table;
  }

  function inputCell(name, word, row, column) {
    const label = `${tied ? "vector" : name} of ${word}, number ${column + 1}`;
    const input = element("input", { type: "number", step: 0.1, "aria-label": label });
    Object.assign(input.dataset, { name, row, column });
    input.addEventListener("focus", () => {
      chosen = { name, row, column };
      update();
    });
    input.addEventListener("input", () => {
      const typed = input.valueAsNumber; // NaN while the field is empty or holds a lone minus sign
      if (Number.isFinite(typed)) setNumber({ name, row, column }, typed);
    });
    input.addEventListener("blur", () => {
      if (Number.isNaN(input.valueAsNumber)) input.value = model.get(name)[row][column]; // back to the last number
    });
    return input;
  }

  function stepTable(title, numbers, columns, shaded = false) {
    const table = element("table", { class: shaded ? "ae-weights" : "" }, element("caption", {}, title));
    const head = element("tr", {}, element("td"));
    for (const name of columns ?? numbers[0].map((_, i) => `${i + 1}`)) head.append(element("th", { scope: "col" }, name));
    table.append(head);
    numbers.forEach((row, query) => {
      const line = element("tr", {}, element("th", { scope: "row" }, model.get("query_names")[query]));
      for (const value of row) {
        const cell = element("td", {}, twoDigits(value));
        if (shaded) Object.assign(cell.style, shade(value));
        line.append(cell);
      }
      table.append(line);
    });
    return table;
  }

  function update() {
    if (shape !== shapeOf()) return build();
    const now = values();
    const result = explore(now);
    const keys = now.key_names;
    steps.replaceChildren(
      stepTable("1. scores Q Kᵀ", result.scores, keys),
      stepTable(`2. scaled: ÷ ${twoDigits(result.divisor)}`, result.scaled, keys),
      stepTable("3. weights: softmax", result.weights, keys, true),
      stepTable("4. output: weights × V", result.output),
    );
    if (status.textContent !== result.sentence) status.textContent = result.sentence; // said only when it changes
    for (const input of tables.querySelectorAll("input")) {
      const { name, row, column } = input.dataset;
      const value = now[name][row][column];
      const halfTyped = input === root.getRootNode().activeElement && Number.isNaN(input.valueAsNumber);
      if (!halfTyped && input.valueAsNumber !== value) input.value = value;
      const isChosen = name === chosen.name && Number(row) === chosen.row && Number(column) === chosen.column;
      input.classList.toggle("ae-chosen", isChosen);
      if (isChosen) {
        numberLabel.textContent = `drag: ${input.getAttribute("aria-label")}`;
        number.setAttribute("aria-label", input.getAttribute("aria-label"));
      }
    }
    number.value = now[chosen.name][chosen.row][chosen.column];
    temperature.value = now.temperature;
    temperatureText.textContent = twoDigits(now.temperature);
    if (root.getRootNode().activeElement !== width) width.value = now.Q[0].length;
    for (const radio of scales) radio.checked = radio.value === now.scale;
    tie.checked = tied;
  }

  build();
  return follow(model, ["Q", "K", "V", "scale", "temperature"], () => {
    tied = tied && snapshot().tied;
    update();
  });
}

export default { render };
