"use strict";
// A chart of lines with bands over episodes, drawn by uPlot: drag to zoom, double-click to go back, hover or arrow keys
// to read numbers. A line is {label, colour, dash, faint, x, y, low, high, n}; its numbers are shown as they are.
tacit.Chart = class {
  // `key` names the zoom that is remembered; `over` is what the lines are over.
  constructor(title, key, over = "episode") {
    this.memory = key;
    this.over = over;
    this.zoom = tacit.recall(key, null);
    this.lines = [];
    this.log = false;
    this.plotHost = tacit.el("div", { class: "plot", tabindex: "0", role: "group" });
    this.tip = tacit.el("div", { class: "tip", hidden: true });
    this.spoken = tacit.el("div", { class: "unseen", "aria-live": "polite" });
    this.heading = tacit.el("h3", {}, title);
    this.reset = tacit.el("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.unzoom() }, "reset zoom");
    this.tools = tacit.el("div", { class: "tools" }, this.reset);
    this.nothing = tacit.el("p", { class: "nothing" }, "nothing was measured yet");
    this.controls = tacit.el("div", { class: "controls" });
    this.root = tacit.el("figure", { class: "chart" },
      tacit.el("figcaption", {}, this.heading, this.tools), this.controls,
      tacit.el("div", { class: "plotbox" }, this.plotHost, this.tip), this.nothing, this.spoken);
    this.plotHost.addEventListener("keydown", (event) => this.key(event));
    this.plotHost.addEventListener("blur", () => this.leave());
    this.at = -1;
    new ResizeObserver(() => this.fit()).observe(this.plotHost);
    tacit.onscheme(() => this.draw());
  }

  // Show some lines; `log` makes both axes logarithmic, with zeros at the lower edge.
  show(lines, { log = false, label = "" } = {}) {
    this.lines = lines.filter((line) => line.y.some((y) => y !== null));
    this.log = log;
    this.label = label;
    this.draw();
  }

  draw() {
    const empty = this.lines.length === 0;
    this.nothing.hidden = !empty;
    this.plotHost.hidden = empty;
    if (empty) { this.drop(); return; }
    this.plotHost.setAttribute("aria-label",
      `${this.heading.textContent}: ${tacit.plural(this.lines.length, "line")}; arrow keys read the numbers`);
    const data = this.data(), zoom = this.zoom;
    this.drop();
    this.plot = new uPlot(this.options(), data, this.plotHost);
    if (zoom) this.plot.setScale("x", zoom);
  }

  drop() {
    if (this.plot) this.plot.destroy();
    this.plot = null;
  }

  // One axis for all lines: every episode that any of them has.
  data() {
    const all = new Set();
    for (const line of this.lines) for (const x of line.x) all.add(x);
    const xs = Float64Array.from(all).sort();
    const index = new Map();
    xs.forEach((x, k) => index.set(x, k));
    let least = Infinity, most = 0, zero = false;
    for (const line of this.lines) for (const y of line.y) most = Math.max(most, y || 0);
    const rounding = 1e-11 * most;  // below it, logarithmic axes show 0
    for (const line of this.lines) for (const y of line.y) {
      if (y === null) continue;
      if (y > rounding) least = Math.min(least, y); else zero = true;
    }
    this.floor = !this.log ? null : least === Infinity ? 1e-3 : zero ? 10 ** (Math.floor(Math.log10(least)) - 1) : null;
    this.lowest = least;
    const place = (line, values, lift) => {
      const out = new Array(xs.length).fill(null);
      line.x.forEach((x, k) => {
        let y = values[k];
        if (y !== null && this.log && !(y > rounding)) y = lift;
        out[index.get(x)] = y;
      });
      return out;
    };
    const columns = [xs];
    for (const line of this.lines) {
      const edge = this.floor === null ? this.lowest : this.floor;
      columns.push(place(line, line.y, edge));
      if (line.low) {
        // a band must not reach below what any seed has: on logarithmic axes it would end nowhere
        columns.push(place(line, line.low, edge), place(line, line.high, edge));
      }
    }
    return columns;
  }

  options() {
    const ink = tacit.ink("--ink-2"), grid = tacit.ink("--grid");
    const font = "12px " + (tacit.ink("--sans") || "sans-serif");
    const series = [{}], bands = [];
    for (const line of this.lines) {
      const colour = tacit.colour(line.colour);
      series.push({
        label: line.label, stroke: line.faint ? tacit.fade(colour, line.faint) : colour, width: line.faint ? 1 : 1.75,
        dash: line.dash, spanGaps: true, points: { show: line.x.length < 3 && !line.faint },
      });
      if (line.low) {
        const hidden = { stroke: "transparent", width: 0, spanGaps: true, points: { show: false } };
        series.push(hidden, { ...hidden });
        bands.push({ series: [series.length - 1, series.length - 2], fill: tacit.fade(colour, 0.16) });
      }
    }
    const box = this.plotHost.getBoundingClientRect();
    const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, labelFont: font };
    const many = this.lines.length > 12;
    return {
      width: Math.max(200, Math.round(box.width)), height: this.height(box.width),
      legend: { show: false }, series, bands,
      padding: [8, 12, 0, 0],
      cursor: {
        x: true, y: false, drag: { x: true, y: false, dist: 6 },
        points: many ? { show: false } : { size: 7 },
      },
      scales: {
        x: { time: false, distr: this.log ? 3 : 1, range: (u, low, high) => (low === high ? [low * 0.9, high * 1.1] : [low, high]) },
        y: { distr: this.log ? 3 : 1, range: this.log ? (u, low, high) => this.logRange(low, high) : undefined },
      },
      axes: [
        { ...axis, ...this.sparse(axis, "x"), size: 30, label: this.over, labelSize: 18, labelGap: 0,
          values: (u, ticks) => ticks.map((t) => tacit.tick(t, this.log)) },
        { ...axis, ...this.sparse(axis, "y"), size: 52, label: this.label, labelSize: 20,
          values: (u, ticks) => ticks.map((t) => (this.floor !== null && t === this.floor ? "0" : tacit.tick(t, this.log))) },
      ],
      hooks: {
        setCursor: [(u) => this.hover(u)],
        setScale: [(u, key) => {
          if (key !== "x" || !u.data[0].length) return;
          const xs = u.data[0], { min, max } = u.scales.x;
          this.zoom = min > xs[0] || max < xs[xs.length - 1] ? { min, max } : null;
          this.reset.hidden = !this.zoom;
          tacit.remember(this.memory, this.zoom);
        }],
      },
    };
  }

  // On logarithmic axes at most four lines and labels stand at powers of ten; within few also at twice and five times.
  sparse(axis, key) {
    if (!this.log) return {};
    const filter = (u, ticks) => {
      const { min, max } = u.scales[key];
      const wide = max / min > 300;
      const round = ticks.map((t) => (tacit.round(t, wide ? [1] : [1, 2, 5]) ? t : null));
      const inside = round.filter((t) => t !== null && t >= min && t <= max);
      const stride = Math.ceil(inside.length / (this.floor === null || key === "x" ? 4 : 3)), last = inside.length - 1;
      const shown = inside.filter((t, k) => (last - k) % stride === 0 || (key === "y" && t === this.floor));
      return inside.length > 1 ? round.map((t) => (shown.includes(t) ? t : null)) : ticks;
    };
    return { filter, grid: { ...axis.grid, filter }, ticks: { ...axis.ticks, filter } };
  }

  logRange(low, high) {
    const from = this.floor !== null ? this.floor : Math.max(low > 0 ? low : this.lowest, 1e-300);
    const top = high > 0 ? high : 1;
    const bottom = Math.min(from, top);
    if (this.floor !== null) return [this.floor, 10 ** Math.ceil(Math.log10(top * 1.05))];
    if (top / bottom > 30) return [10 ** Math.floor(Math.log10(bottom)), 10 ** Math.ceil(Math.log10(top))];
    return [bottom / 1.3, top * 1.3];
  }

  height(width) { return width < 420 ? 240 : 290; }

  fit() {
    if (!this.plot) return;
    const width = Math.round(this.plotHost.getBoundingClientRect().width);
    if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.height(width) });
  }

  unzoom() {
    if (!this.plot) return;
    const xs = this.plot.data[0];
    this.plot.setScale("x", { min: xs[0], max: xs[xs.length - 1] });
  }

  hover(u) {
    const { left, top, idx } = u.cursor;
    if (left < 0 || idx === null || idx === undefined) { this.tip.hidden = true; return; }
    this.at = idx;
    this.tell(u.data[0][idx], left, top, u);
  }

  // What every line has at an episode, or at the nearest that it has: the nearest lines first.
  readings(x, y) {
    const readings = [];
    for (const line of this.lines) {
      const k = tacit.nearest(line.x, x);
      if (k < 0 || line.y[k] === null) continue;
      readings.push({ line, k, x: line.x[k], y: line.y[k] });
    }
    if (y !== null && readings.length > 10) {
      const away = (one) => Math.abs(this.plot.valToPos(this.log ? Math.max(one.y, this.floor || 1e-300) : one.y, "y") - y);
      readings.sort((a, b) => away(a) - away(b));
    }
    return readings.slice(0, 10);
  }

  tell(x, left, top, u) {
    const rows = this.readings(x, top);
    tacit.fill(this.tip,
      tacit.el("div", { class: "tip-head" }, `${this.over} ${tacit.thousands(String(x))}`),
      rows.map((one) => this.reading(one, x)),
      this.lines.length > rows.length ? tacit.el("div", { class: "tip-more" }, `and ${this.lines.length - rows.length} more lines`) : null);
    this.tip.hidden = false;
    const over = u.over.getBoundingClientRect(), box = this.plotHost.parentElement.getBoundingClientRect();
    const width = this.tip.offsetWidth, at = left + over.left - box.left;
    const place = at + 14 + width > box.width ? Math.max(0, at - 14 - width) : at + 14;
    this.tip.style.left = `${place}px`;
    this.tip.style.top = `${Math.max(0, Math.min(top, over.height - 40) + over.top - box.top - 10)}px`;
    return rows;
  }

  reading(one, x) {
    const { line, k } = one;
    const several = line.n ? line.n[k] > 1 : false;
    const value = several ? tacit.number(one.y, 6) : String(one.y);
    const spread = several && line.sd ? ` ± ${tacit.number(line.sd[k], 3)}` : "";
    return tacit.el("div", { class: "tip-row", "data-value": one.y, "data-episode": one.x, "data-line": line.label },
      tacit.el("span", { class: "swatch", style: { background: tacit.colour(line.colour) } }),
      tacit.el("span", { class: "tip-name" }, line.label),
      tacit.el("span", { class: "tip-value" }, value, spread,
        several ? `, n = ${line.n[k]}` : "", one.x !== x ? ` at ${tacit.thousands(String(one.x))}` : ""));
  }

  key(event) {
    if (!this.plot) return;
    const xs = this.plot.data[0], last = xs.length - 1;
    const jump = event.shiftKey ? Math.max(1, Math.round(last / 10)) : 1;
    const to = { ArrowRight: this.at + jump, ArrowLeft: this.at < 0 ? last : this.at - jump, Home: 0, End: last }[event.key];
    if (event.key === "Escape") { this.leave(); return; }
    if (to === undefined) return;
    event.preventDefault();
    this.at = Math.min(last, Math.max(0, to));
    const left = this.plot.valToPos(xs[this.at], "x");
    this.plot.setCursor({ left, top: this.plot.over.clientHeight / 3 });
    const rows = this.readings(xs[this.at], null);
    this.spoken.textContent = `${this.over} ${xs[this.at]}: ${rows.map((one) => `${one.line.label} ${tacit.number(one.y)}`).join(", ")}`;
  }

  leave() {
    this.at = -1;
    this.tip.hidden = true;
    if (this.plot) this.plot.setCursor({ left: -10, top: -10 });
  }
};

tacit.nearest = function (xs, x) {
  if (!xs.length) return -1;
  let low = 0, high = xs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1; else high = middle;
  }
  return low > 0 && x - xs[low - 1] <= xs[low] - x ? low - 1 : low;
};

tacit.tick = function (t, log) {
  if (t === null || t === undefined) return "";
  if (t === 0) return "0";
  const size = Math.abs(t);
  if (log && (size < 1e-3 || size >= 1e6)) {
    const power = Math.floor(Math.log10(size) + 1e-9), lead = Number((size / 10 ** power).toPrecision(2));
    return `${lead === 1 ? "" : `${lead}·`}10${tacit.superscript(power)}`;
  }
  if (size >= 1e6) return `${Number((t / 1e6).toPrecision(4))}M`.replace("-", "−");
  if (size >= 1e3) return `${Number((t / 1e3).toPrecision(4))}k`.replace("-", "−");
  if (size < 1e-3) return t.toExponential(0).replace("-", "−");
  return String(Number(t.toPrecision(6))).replace("-", "−");
};

// Whether a number is a power of ten times one of some leading digits.
tacit.round = function (t, digits) {
  const power = Math.floor(Math.log10(Math.abs(t)) + 1e-9), lead = Math.abs(t) / 10 ** power;
  return digits.some((digit) => Math.abs(lead - digit) < 1e-6);
};

tacit.fade = function (colour, alpha) {
  const parts = /^#(..)(..)(..)$/.exec(colour);
  if (!parts) return colour;
  return `rgba(${parts.slice(1).map((x) => parseInt(x, 16)).join(",")},${alpha})`;
};
