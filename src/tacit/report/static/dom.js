"use strict";
// Elements from plain calls. Text goes in as text, never as markup: what files say is shown and nothing else.
const tacit = {};

tacit.el = function (name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [property, x] of Object.entries(value)) node.style.setProperty(property, x);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  tacit.put(node, children);
  return node;
};

tacit.put = function (parent, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return parent;
};

tacit.fill = function (parent, ...children) {
  parent.replaceChildren();
  return tacit.put(parent, children);
};

// A number for people: four significant digits, thin spaces between thousands, a true minus.
tacit.number = function (x, digits = 4) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e9) {
    const [mantissa, power] = x.toExponential(Math.max(0, digits - 2)).split("e");
    return `${Number(mantissa)}·10${tacit.superscript(Number(power))}`.replace(/^-/, "−");
  }
  const places = Math.max(0, Math.min(8, digits - 1 - Math.floor(Math.log10(size))));
  const shown = Number(x.toFixed(places));
  return tacit.thousands(String(Math.abs(shown))).replace(/^/, shown < 0 ? "−" : "");
};

tacit.superscript = (n) => String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));

tacit.thousands = function (text) {
  const [whole, rest] = text.split(".");
  const parted = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return rest === undefined ? parted : `${parted}.${rest}`;
};

// The head of a table of numbers; a head that begins with "!" stands above words.
tacit.heads = (names) => tacit.el("thead", {}, tacit.el("tr", {}, names.map((name) =>
  tacit.el("th", { scope: "col", class: name.startsWith("!") ? "word" : null }, name.replace(/^!/, "")))));

// A table with names on both sides; rows are [name, cells].
tacit.matrix = (kind, caption, corner, columns, rows) => tacit.el("div", { class: "scroll" }, tacit.el("table", { class: kind }, caption,
  tacit.el("thead", {}, tacit.el("tr", {}, corner ? tacit.el("th", { scope: "col" }, corner) : tacit.el("td", {}), columns.map((name) => tacit.el("th", { scope: "col" }, name)))),
  tacit.el("tbody", {}, rows.map(([name, cells]) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name), cells)))));

// A button that is on or off.
tacit.toggle = function (label, pressed, change, attributes) {
  const button = tacit.el("button", { type: "button", class: "chip", "aria-pressed": String(pressed), ...attributes }, label);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    change(on);
  });
  return button;
};

// A choice among a few words.
tacit.choice = function (label, words, chosen, change) {
  const list = tacit.el("select", {}, Object.entries(words).map(([value, word]) =>
    tacit.el("option", { value, selected: value === chosen }, word)));
  list.addEventListener("change", () => change(list.value));
  return tacit.el("label", { class: "choice" }, tacit.el("span", {}, label), list);
};

tacit.plural = (count, thing) => `${tacit.thousands(String(count))} ${thing}${count === 1 ? "" : "s"}`;

tacit.colours = 14;
tacit.colour = function (k) {
  const style = getComputedStyle(document.documentElement);
  return style.getPropertyValue(`--c${((k % tacit.colours) + tacit.colours) % tacit.colours}`).trim();
};
tacit.ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Calls back when the colours of the system turn from light to dark or back.
tacit.onscheme = function (call) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", call);
};
