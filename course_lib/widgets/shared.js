// What the explorers in JavaScript share. It is put in front of each of them, into one script (`joined` in common.py), so
// that a page without a kernel needs no second file.

function softmax(row) {
  const largest = Math.max(...row);
  const exponentials = row.map((score) => Math.exp(score - largest));
  const total = exponentials.reduce((sum, number) => sum + number, 0);
  return exponentials.map((number) => number / total);
}

/** Write a number with two digits, half upwards; `toFixed` alone and Python round halves differently. */
export function twoDigits(number) {
  const rounded = Math.floor(number * 100 + 0.5) / 100;
  return (rounded === 0 ? 0 : rounded).toFixed(2);
}

/** Make an element; controls keep their keys from JupyterLab, which would move to another cell at an arrow key. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  if (["input", "button"].includes(tag)) made.setAttribute("data-lm-suppress-shortcuts", "true");
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A shade of blue for a weight, with the ink that reads on it: both opaque, for a light page and for a dark one. */
function shade(weight) {
  const stops = [[247, 251, 255], [107, 174, 214], [8, 48, 107]];
  const below = weight < 0.5 ? 0 : 1;
  const part = 2 * weight - below;
  const mixed = stops[below].map((from, i) => Math.round(from + (stops[below + 1][i] - from) * part));
  return { background: `rgb(${mixed.join(", ")})`, color: weight > 0.71 ? "#ffffff" : "#000000" };
}

/**
 * Call `update` when the model's values of these names change, and return what stops it. Several changes that come
 * together (three tied tables, say) are followed once, when all of them are there.
 */
function follow(model, names, update) {
  const watched = names.map((name) => `change:${name}`);
  let asked = false;
  function ask() {
    if (asked) return;
    asked = true;
    queueMicrotask(() => {
      asked = false;
      update();
    });
  }
  for (const event of watched) model.on(event, ask);
  return () => {
    for (const event of watched) model.off(event, ask);
  };
}
