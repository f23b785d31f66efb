// The position explorer: choose a position, a step and a pair of numbers; see its row, its clocks and who is like it.
// Computed here, so that it lives on a page without a kernel; position_explorer.py is its twin in NumPy. It follows
// shared.js in one script.

// --- the steps -----------------------------------------------------------------------------------------------------

/** Compute the encodings, the clock hands at p and p + k, and the dot products: the same as the twin's `explore`. */
export function explore({ n, d_model, p, k, pair }) {
  const turns = Array.from({ length: d_model / 2 }, (_, i) => 1 / 10000 ** ((2 * i) / d_model)); // radians a step
  const P = Array.from({ length: n }, (_, place) => turns.flatMap((turn) => [Math.sin(place * turn), Math.cos(place * turn)]));
  const speeds = turns.map((turn) => (turn * 180) / Math.PI);
  const hands = speeds.map((speed) => (p * speed) % 360);
  const later = speeds.map((speed) => ((p + k) * speed) % 360);
  const products = P.map((row) => row.reduce((sum, number, i) => sum + number * P[p][i], 0));
  const sentence =
    `Pair ${pair} turns ${twoDigits(speeds[pair])}° a step: ${degrees(hands[pair])}° at position ${p}, ` +
    `${degrees(later[pair])}° at position ${p + k}. ` +
    `PE(${p}) · PE(${p + k}) = ${twoDigits(products[p + k])}; at most ${d_model / 2}.`;
  return { P, hands, later, products, sentence };
}

/** Round to a whole degree below 360, half upwards. */
function degrees(angle) {
  return Math.floor(angle + 0.5) % 360;
}

// --- the page ------------------------------------------------------------------------------------------------------

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const CELL = { width: 15, height: 9, left: 34, top: 18 };
const CLOCK = { size: 74, radius: 26 };
const CHART = { width: 420, height: 150, left: 34, bottom: 36, top: 8, right: 8 };

function render({ model, el }) {
  const root = element("div", { class: "attention-explorer position-explorer" });
  const start = { p: model.get("p"), k: model.get("k"), pair: model.get("pair") };
  const [n, d_model] = [model.get("n"), model.get("d_model")];
  const pairs = d_model / 2;
  const { P } = explore({ n, d_model, ...start });

  function put(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  }

  // The controls. The step reaches from the first position to the last, so its ends move with the position.
  const sliders = {};
  const texts = {};
  const controls = element("div", { class: "ae-row ae-controls" });
  const names = { p: "position p", k: "step k", pair: "pair of numbers" };
  for (const [name, label] of Object.entries(names)) {
    sliders[name] = element("input", { type: "range", step: 1, "aria-label": label });
    texts[name] = element("span");
    controls.append(element("label", {}, texts[name], sliders[name]));
  }
  Object.assign(sliders.p, { min: 0, max: n - 1 });
  Object.assign(sliders.pair, { min: 0, max: pairs - 1 });
  sliders.p.addEventListener("input", () => {
    const p = Number(sliders.p.value);
    put({ k: Math.min(n - 1 - p, Math.max(0 - p, model.get("k"))), p }); // p + k stays on the page (0 - p is never −0)
  });
  sliders.k.addEventListener("input", () => put({ k: Number(sliders.k.value) }));
  sliders.pair.addEventListener("input", () => put({ pair: Number(sliders.pair.value) }));
  const reset = element("button", { type: "button" }, "Start again");
  reset.addEventListener("click", () => put({ ...start }));
  controls.append(reset);

  // The table of shades: a row for each position, a column for each number.
  const size = { width: CELL.left + d_model * CELL.width + 4, height: CELL.top + n * CELL.height + 4 };
  const table = svg("svg", { width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "img" });
  P.forEach((row, place) => {
    row.forEach((number, column) => {
      const corner = { x: CELL.left + column * CELL.width, y: CELL.top + place * CELL.height };
      table.append(svg("rect", { ...corner, width: CELL.width + 0.3, height: CELL.height + 0.3, fill: shade((number + 1) / 2).background }));
    });
    if (place % 8 === 0) table.append(text(CELL.left - 5, CELL.top + (place + 0.9) * CELL.height, place, "end"));
  });
  for (let column = 0; column < d_model; column += 4) table.append(text(CELL.left + (column + 0.5) * CELL.width, 13, column, "middle"));
  const column = svg("rect", { class: "pe-chosen", "data-part": "pair", y: CELL.top, width: 2 * CELL.width, height: n * CELL.height });
  const rows = ["here", "there"].map((which) =>
    svg("rect", { class: `pe-${which}`, x: CELL.left - 1, width: d_model * CELL.width + 2, height: CELL.height, fill: "none", "stroke-width": 2.5 }),
  );
  column.setAttribute("stroke-dasharray", "2 3");
  table.append(column, ...rows);

  // The clocks: a face for each pair, with a hand for each of the two positions.
  const perRow = 4;
  const faces = Array.from({ length: pairs }, (_, i) => {
    const [x, y] = [((i % perRow) + 0.5) * CLOCK.size, (Math.floor(i / perRow) + 0.5) * (CLOCK.size + 16)];
    const parts = {
      face: svg("circle", { cx: x, cy: y, r: CLOCK.radius, class: "pe-faint" }),
      there: svg("line", { class: "pe-there", "stroke-width": 3, x1: x, y1: y }),
      here: svg("line", { class: "pe-here", "stroke-width": 3, x1: x, y1: y }),
      name: text(x, y + CLOCK.radius + 15, `pair ${i}`, "middle"),
    };
    return { x, y, ...parts };
  });
  const tall = Math.ceil(pairs / perRow) * (CLOCK.size + 16) + 8;
  const clocks = svg("svg", { width: perRow * CLOCK.size, height: tall, viewBox: `0 0 ${perRow * CLOCK.size} ${tall}`, role: "img" });
  for (const { face, there, here, name } of faces) clocks.append(face, there, here, name);

  // The curve of the dot products with every position.
  const chart = svg("svg", { width: CHART.width, height: CHART.height, viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "img" });
  const across = (place) => CHART.left + (place / (n - 1)) * (CHART.width - CHART.left - CHART.right);
  const lowest = -pairs / 4;
  const up = (product) => CHART.top + ((pairs - product) / (pairs - lowest)) * (CHART.height - CHART.top - CHART.bottom);
  const curve = svg("polyline", { class: "pe-line", "stroke-width": 1.5 });
  const dots = {
    here: svg("circle", { r: 6, class: "pe-fill-here" }),
    there: svg("rect", { width: 11, height: 11, class: "pe-fill-there" }),
  };
  chart.append(svg("line", { class: "pe-faint", x1: across(0), x2: across(n - 1), y1: up(0), y2: up(0) }));
  for (const product of [0, pairs]) chart.append(text(CHART.left - 6, up(product) + 4, product, "end"));
  for (let place = 0; place < n; place += 8) chart.append(text(across(place), CHART.height - 18, place, "middle"));
  chart.append(text((across(0) + across(n - 1)) / 2, CHART.height - 4, "position", "middle"), curve, dots.here, dots.there);

  function text(x, y, words, anchor) {
    return svg("text", { x, y, "text-anchor": anchor }, `${words}`);
  }

  function block(title, picture) {
    return element("div", { class: "pe-block" }, element("p", { class: "pe-title" }, title), picture);
  }

  const keyTexts = { here: element("span"), there: element("span") };
  const key = element("div", { class: "pe-key" });
  for (const which of ["here", "there"]) {
    const sample = svg("svg", { width: 26, height: 10, "aria-hidden": "true" }, svg("line", { class: `pe-${which}`, "stroke-width": 3, x1: 1, x2: 25, y1: 5, y2: 5 }));
    key.append(element("span", {}, sample, " ", keyTexts[which]));
  }
  const status = element("p", { class: "ae-sentence", role: "status", "aria-live": "polite" });
  const right = element("div", { class: "pe-block" }, block("a clock for each pair", clocks), block("dot product of PE(p) with every position", chart));
  root.append(controls, key, element("div", { class: "ae-row" }, block("the table: a row a position", table), right), status);
  el.append(root);

  function update() {
    const now = Object.fromEntries(["n", "d_model", "p", "k", "pair"].map((name) => [name, model.get(name)]));
    const other = now.p + now.k;
    const result = explore(now);
    Object.assign(sliders.k, { min: -now.p, max: n - 1 - now.p });
    for (const name of Object.keys(sliders)) sliders[name].value = now[name];
    texts.p.textContent = `position p = ${now.p}`;
    texts.k.textContent = `step k = ${now.k}`;
    texts.pair.textContent = `pair ${now.pair}: numbers ${2 * now.pair} and ${2 * now.pair + 1}`;
    keyTexts.here.textContent = `p = ${now.p}`;
    keyTexts.there.textContent = `p + k = ${other}`;
    rows[0].setAttribute("y", CELL.top + now.p * CELL.height);
    rows[1].setAttribute("y", CELL.top + other * CELL.height);
    column.setAttribute("x", CELL.left + 2 * now.pair * CELL.width);
    faces.forEach((face, i) => {
      point(face, face.here, result.hands[i]);
      point(face, face.there, result.later[i]);
      face.face.setAttribute("class", i === now.pair ? "pe-chosen" : "pe-faint");
    });
    curve.setAttribute("points", result.products.map((product, place) => `${across(place)},${up(product)}`).join(" "));
    dots.here.setAttribute("cx", across(now.p));
    dots.here.setAttribute("cy", up(result.products[now.p]));
    dots.there.setAttribute("x", across(other) - 5.5);
    dots.there.setAttribute("y", up(result.products[other]) - 5.5);
    table.setAttribute("aria-label", `Shades of ${n} positions with ${d_model} numbers each; rows ${now.p} and ${other} are framed.`);
    const read = result.hands.map((hand, i) => `pair ${i} ${degrees(hand)}° and ${degrees(result.later[i])}°`);
    clocks.setAttribute("aria-label", `Clock hands at ${now.p} and at ${other}: ${read.join(", ")}.`);
    chart.setAttribute("aria-label", `PE(${now.p}) · PE(q) is ${pairs} at q = ${now.p} and ${twoDigits(result.products[other])} at q = ${other}.`);
    if (status.textContent !== result.sentence) status.textContent = result.sentence; // said only when it changes
  }

  function point({ x, y }, hand, angle) {
    const turned = (angle * Math.PI) / 180;
    hand.setAttribute("x2", x + 0.88 * CLOCK.radius * Math.sin(turned)); // a clock: from twelve, clockwise
    hand.setAttribute("y2", y - 0.88 * CLOCK.radius * Math.cos(turned));
  }

  update();
  return follow(model, ["p", "k", "pair"], update);
}

export default { render };
