"use strict";
// A directory of runs: a section for each game, with charts, a table of learners, and a look into policies.

// What the person has chosen survives a reload: it is kept with this page's entry in the history of the browser.
tacit.recall = (key, fallback) => (history.state && Object.hasOwn(history.state, key) ? history.state[key] : fallback);
tacit.remember = (key, choice) => history.replaceState({ ...history.state, [key]: choice }, "");

tacit.results = function (report) {
  const runs = report.games.flatMap((game) => game.groups.flatMap((group) => group.runs));
  const count = (status) => runs.filter((run) => run.status === status).length;
  const parts = [tacit.plural(report.games.length, "game"), tacit.plural(runs.length, "run")];
  for (const status of ["running", "unfinished"]) if (count(status)) parts.push(`${count(status)} ${status}`);
  const sections = report.games.map((game, k) => new tacit.GameSection(game, report.details, k));
  tacit.put(document.getElementById("main"), [
    tacit.el("header", {}, tacit.el("p", { class: "kind" }, "report"), tacit.el("h1", {}, report.title), tacit.el("p", { class: "lead" }, parts.join(" · ")),
      report.refresh ? tacit.reloading(report.refresh) : null,
      tacit.el("nav", { class: "contents", "aria-label": "games" }, sections.length > 1 ? sections.map((section) =>
        tacit.el("a", { href: `#${section.root.id}` }, section.game.name)) : null)),
    report.problems.length ? tacit.el("div", { class: "problems" }, tacit.el("details", { open: report.problems.length < 4 },
      tacit.el("summary", {}, tacit.plural(report.problems.length, "problem")),
      tacit.el("ul", {}, report.problems.map((problem) => tacit.el("li", {}, problem))))) : null,
    runs.length || report.problems.length ? null : tacit.el("p", { class: "nothing" }, "No runs are here yet. They appear as soon as they begin."),
    sections.map((section) => section.root),
    tacit.el("footer", {}, `tacit ${report.tacit}`),
  ]);
  for (const section of sections) section.draw();
};

// A page of runs that go on loads itself again, unless it is paused or somebody is reading it with mouse or keys.
tacit.reloading = function (seconds) {
  let touched = 0, paused = tacit.recall("paused", false);
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel"]) addEventListener(kind, () => { touched = performance.now(); }, { passive: true });
  setTimeout(function reload() {
    if (paused || document.hidden || (touched && performance.now() - touched < 2000)) { setTimeout(reload, 300); return; }
    tacit.remember("scroll", scrollY);
    location.reload();
  }, 1000 * seconds);
  const back = () => scrollTo({ top: tacit.recall("scroll", 0), behavior: "instant" });
  if (tacit.recall("scroll", 0)) { requestAnimationFrame(back); setTimeout(back, 120); }  // charts have their height by then
  return tacit.el("p", { class: "lead" }, tacit.toggle("updates while runs go on; click to pause", !paused, (on) => { paused = !on; tacit.remember("paused", paused); }));
};

tacit.columnName = function (column) {
  const agent = /^(.*)_(\d+)$/.exec(column);
  if (agent) return /^(reward|gap)$/.test(agent[1]) ? `agent ${agent[2]}` : `${tacit.columnName(agent[1])}, agent ${agent[2]}`;
  return {
    gap: "max over agents", gap_average: "of “average”", gap_recent: "of “recent”", gap_last: "of “last”", l2_gap: "L² gap",
    average_value: "mean value of iterates", average_gap: "mean gap of iterates", average_l2_gap: "mean L² gap of iterates",
  }[column] || column;
};

tacit.GameSection = class {
  constructor(game, details, k) {
    this.game = game;
    this.key = (name) => `${name} ${game.name}`;
    this.off = new Set(tacit.recall(this.key("off"), []));
    this.mode = tacit.recall(this.key("mode"), "sd");
    this.log = tacit.recall(this.key("log"), true);
    this.charts = { reward: new tacit.Chart("Reward while learning", this.key("reward"), game.unit), gap: new tacit.Chart("Gap to an equilibrium", this.key("gap"), game.unit) };
    this.charts.gap.tools.append(tacit.choice("axes", { log: "logarithmic", linear: "linear" }, this.log ? "log" : "linear",
      (value) => { this.log = value === "log"; this.change("log", this.log); }));
    const columns = [...new Set(game.groups.flatMap((group) => group.columns))];
    const rewards = columns.filter((name) => /^(reward|value)_\d+$/.test(name));
    this.columns = {
      reward: (rewards.length ? rewards : columns.filter((name) => name === "reward" || name === "value")).slice(0, 16),
      gap: columns.filter((name) => /gap/.test(name)).slice(0, 16),
    };
    this.chosen = {};
    for (const part of ["reward", "gap"]) this.picker(part, this.columns[part]);
    const several = game.groups.some((group) => group.seeds > 1);
    this.caption = tacit.el("p", { class: "note" });
    this.root = tacit.el("section", { class: "game", id: `game-${k}` }, tacit.el("h2", {}, game.name), tacit.el("p", { class: "lead" }, game.description),
      tacit.el("div", { class: "toolbar" }, this.legend(), !several ? null : tacit.choice("lines",
        { sd: "mean ± standard deviation", range: "mean, smallest to largest", mean: "mean alone", seeds: "every seed" }, this.mode,
        (value) => { this.mode = value; this.change("mode", value); })),
      tacit.el("div", { class: "charts" }, this.charts.reward.root, this.charts.gap.root), this.caption,
      this.results(), tacit.policies(game, details, this.key("policy")), this.settings());
  }

  change(name, choice) {
    tacit.remember(this.key(name), choice);
    this.draw();
  }

  // Buttons that say which columns are drawn; the first is on.
  picker(part, columns) {
    const chosen = this.chosen[part] = new Set(tacit.recall(this.key(`columns of ${part}`), columns.slice(0, 1)));
    this.charts[part].controls.prepend(tacit.el("div", { class: "legend", role: "group", "aria-label": `what of the ${part}` },
      columns.length > 1 ? columns.map((name) => tacit.toggle(tacit.columnName(name), chosen.has(name), (on) => {
        if (on) chosen.add(name); else chosen.delete(name);
        this.change(`columns of ${part}`, [...chosen]);
      })) : null));
  }

  legend() {
    return tacit.el("div", { class: "legend", role: "group", "aria-label": "learners" }, this.game.groups.map((group) => tacit.toggle([
      tacit.swatch(group.colour), group.learner,
      tacit.el("span", { class: "count" }, ` ${tacit.plural(group.seeds, "seed")}${group.kinds.length ? `, ${group.kinds.join(" and ")}` : ""}`),
    ], !this.off.has(group.learner), (on) => {
      if (on) this.off.delete(group.learner); else this.off.add(group.learner);
      this.change("off", [...this.off]);
    })));
  }

  draw() {
    const groups = this.game.groups.filter((group) => !this.off.has(group.learner));
    const kinds = [...new Set(groups.map((group) => group.gap).filter(Boolean))];
    for (const part of ["reward", "gap"]) {
      const columns = this.columns[part].filter((name) => this.chosen[part].has(name));
      const lines = groups.flatMap((group) => columns.flatMap((name, k) => this.lines(group, name, tacit.dashes[(k + Math.floor(group.colour / tacit.colours)) % tacit.dashes.length], columns.length, part === "gap" && kinds.length > 1)));
      this.charts[part].show(lines, { log: part === "gap" && this.log, label: part === "gap" ? "gap" : `reward per ${this.game.unit}` });
    }
    const band = { sd: "Bands: one standard deviation over seeds.", range: "Bands: smallest to largest seed.", mean: "", seeds: "Every seed is a line." }[this.mode];
    const several = groups.some((group) => group.seeds > 1);
    tacit.fill(this.caption, kinds.length ? `Gap: ${kinds.join("; ")}. ` : "", several ? `${band} ` : "", "Drag to zoom, double-click to go back.");
  }

  lines(group, column, dash, columns, kind) {
    const band = group.bands[column];
    if (!band) return [];
    const learner = kind && group.gap ? `${group.learner} (${group.gap})` : group.learner;
    const name = columns > 1 ? `${learner}, ${tacit.columnName(column)}` : learner;
    const look = { colour: group.colour, dash };
    if (this.mode === "seeds" && group.seeds > 1) {
      const faint = group.seeds > 30 ? 0.35 : group.seeds > 8 ? 0.5 : 0.8;
      return group.runs.filter((run) => run.curve && run.curve.y[column])
        .map((run) => ({ ...look, faint, label: `${name}, seed ${run.seed}`, x: run.curve.x, y: run.curve.y[column] }));
    }
    const line = { ...look, label: name, x: band.x, y: band.mean, n: band.n, sd: band.sd };
    if (group.seeds === 1 || !band.sd || this.mode === "mean") return [line];
    if (this.mode === "range") return [{ ...line, low: band.low, high: band.high }];
    const positive = column.includes("gap");
    line.low = band.mean.map((y, k) => (y === null ? null : positive ? Math.max(y - band.sd[k], band.low[k]) : y - band.sd[k]));
    line.high = band.mean.map((y, k) => (y === null ? null : y + band.sd[k]));
    return [line];
  }

  results() {
    const mean = (xs) => (xs.length ? xs.reduce((a, b) => a + b, 0) / xs.length : null);
    const rows = this.game.groups.map((group) => {
      const done = group.runs.filter((run) => run.status === "finished");
      const rewards = done.map((run) => run.reward[0]);
      const gaps = done.filter((run) => run.gap).map((run) => run.gap);
      const largest = gaps.map((gap) => gap.largest);
      const shares = done.filter((run) => run.gap && run.uniform).map((run) => run.gap.largest / run.uniform);
      const sources = gaps.map((gap) => gap.source); // the weakest says how sure the mean is
      const sign = sources.includes("estimate") ? "≈" : sources.every((source) => source === "exact") ? "" : "≤";
      const progress = group.runs.map((run) => run.done);
      const of = group.runs[0].of;
      const episodes = Math.min(...progress) === Math.max(...progress) ? tacit.thousands(String(progress[0]))
        : `${tacit.thousands(String(Math.min(...progress)))} to ${tacit.thousands(String(Math.max(...progress)))}`;
      const running = group.runs.some((run) => run.status !== "finished");
      const status = done.length === group.runs.length ? "finished" : `${done.length} of ${group.runs.length} finished`;
      const values = done.filter((run) => run.value).map((run) => run.value);
      return tacit.el("tr", {},
        tacit.el("th", { scope: "row" }, tacit.swatch(group.colour), group.learner),
        tacit.el("td", {}, episodes, running && of ? ` of ${tacit.thousands(String(of))}` : ""),
        tacit.el("td", { class: "word" }, status),
        tacit.el("td", {}, tacit.spread(rewards)),
        tacit.el("td", {}, values.length ? values[0].slice(0, 4).map((_, i) => tacit.number(mean(values.map((own) => own[i])))).join(", ")
          + (values[0].length > 4 ? ", …" : "") : "–"),
        tacit.el("td", {}, !gaps.length ? "–" : gaps.every((gap) => !gap.informative) ? "no information yet"
          : [sign, tacit.number(mean(largest))].filter(Boolean).join(" "),
          gaps.length ? tacit.el("span", { class: "count" }, ` ${gaps[0].kind}`) : null),
        tacit.el("td", {}, largest.length > 1 ? tacit.number(Math.max(...largest)) : "–"),
        tacit.el("td", {}, shares.length ? `${tacit.number(100 * mean(shares), 3)} %` : "–"));
    });
    const heads = ["learner", `${this.game.unit}s`, "!runs", "reward, agent 0", "value of each agent", "gap, mean", "worst seed", "of the uniform policy’s"];
    return tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "numbers" }, tacit.heads(heads), tacit.el("tbody", {}, rows)));
  }

  settings() {
    return this.game.groups.map((group) => {
      const notes = [...new Set(group.runs.flatMap((run) => [...(run.advice || []), ...(run.notes || [])]))];
      const where = [...new Set(group.runs.map((run) => run.where).filter(Boolean))];
      return tacit.kept(this.key(`settings of ${group.learner}`), `${group.learner}: settings and runs`,
        tacit.el("div", { class: "columns" },
          tacit.el("table", { class: "settings" }, tacit.el("tbody", {}, group.settings.map(([name, value]) =>
            tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name), tacit.el("td", {}, value))))),
          tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "numbers" },
            tacit.heads(["seed", `${this.game.unit}s`, "!status", "reward", "gap", "!policy", "seconds"]),
            tacit.el("tbody", {}, group.runs.slice(0, 200).map((run) => tacit.el("tr", {}, tacit.el("td", {}, run.seed),
              tacit.el("td", {}, tacit.thousands(String(run.done))),
              tacit.el("td", { class: "word" }, run.status === "finished" && run.ended !== "episodes" ? `ended by ${run.ended}` : run.status),
              tacit.el("td", {}, run.reward ? tacit.number(run.reward[0]) : "–"),
              tacit.el("td", {}, run.gap ? tacit.number(run.gap.largest) : "–"),
              tacit.el("td", { class: "word" }, run.chosen || "–"), tacit.el("td", {}, run.seconds === undefined ? "–" : tacit.number(run.seconds, 3)))))))),
        notes.length ? tacit.el("ul", { class: "notes" }, notes.map((note) => tacit.el("li", {}, note))) : null,
        where.length ? tacit.el("p", { class: "note" }, `Ran on ${where.slice(0, 3).join("; ")}${where.length > 3 ? " and others" : ""}.`) : null);
    });
  }
};

tacit.swatch = (colour) => tacit.el("span", { class: "swatch", style: { background: `var(--c${colour % tacit.colours})` } });

// Details that stay open, or closed, when the page is loaded again.
tacit.kept = function (key, summary, ...children) {
  const details = tacit.el("details", { open: tacit.recall(key, false) }, tacit.el("summary", {}, summary), ...children);
  details.addEventListener("toggle", () => tacit.remember(key, details.open));
  return details;
};

tacit.dashes = [[], [6, 4], [2, 3], [9, 3, 2, 3]];

tacit.spread = function (xs) {
  if (!xs.length) return "–";
  const mean = xs.reduce((a, b) => a + b, 0) / xs.length;
  if (xs.length === 1) return tacit.number(mean);
  const sd = Math.sqrt(xs.reduce((a, x) => a + (x - mean) ** 2, 0) / (xs.length - 1));
  return `${tacit.number(mean)} ± ${tacit.number(sd, 2)}`;
};

// The policy of one finished run, chosen from a list: the best of each learner.
tacit.policies = function (game, details, key) {
  const runs = game.groups.flatMap((group) => group.runs.map((run) => ({ ...run, words: `${group.learner}, seed ${run.seed}` }))).filter((run) => Object.hasOwn(details, run.name));
  if (!runs.length) return null;
  const gap = (run) => (run.gap ? run.gap.largest : Infinity);
  const first = runs.find((run) => run.name === tacit.recall(key, null)) || runs.reduce((best, run) => (gap(run) < gap(best) ? run : best));
  const body = tacit.el("div", {}, tacit.policy(details[first.name]));
  const choose = (name) => { tacit.remember(key, name); tacit.fill(body, tacit.policy(details[name])); };
  return tacit.el("section", { class: "policies" }, tacit.el("h3", {}, "The learned policy"),
    tacit.el("div", { class: "toolbar" }, runs.length > 1 ? tacit.choice("of", Object.fromEntries(runs.map((run) => [run.name, run.words])), first.name, choose)
      : tacit.el("p", { class: "note" }, first.words)), body);
};

tacit.results(JSON.parse(document.getElementById("document").textContent));
