"use strict";
// A directory of runs: a section for each game, with charts, a table of learners, and a look into policies.
// `source.details(name)` is a promise of what is computed from the policy of a run.
tacit.Results = class {
  constructor(main, source) {
    this.source = source;
    this.sections = new Map();
    this.kind = tacit.el("p", { class: "kind" }, source.kind);
    this.title = tacit.el("h1", {});
    this.sum = tacit.el("p", { class: "lead" });
    this.state = tacit.el("p", { class: "state", role: "status" });
    this.contents = tacit.el("nav", { class: "contents", "aria-label": "games" });
    this.problems = tacit.el("div", { class: "problems" });
    this.body = tacit.el("div", {});
    this.empty = tacit.el("p", { class: "nothing", hidden: true });
    this.foot = tacit.el("footer", {});
    tacit.put(main, [tacit.el("header", {}, this.kind, this.title, this.sum, this.state, this.contents), this.problems, this.empty, this.body, this.foot]);
  }

  show(found) {
    this.title.textContent = found.title;
    const runs = found.games.flatMap((game) => game.groups.flatMap((group) => group.runs));
    const count = (status) => runs.filter((run) => run.status === status).length;
    const parts = [tacit.plural(found.games.length, "game"), tacit.plural(runs.length, "run")];
    const running = count("running"), unfinished = count("unfinished");
    if (running) parts.push(`${running} running`);
    if (unfinished) parts.push(`${unfinished} unfinished`);
    if (found.unread) parts.push(`${found.unread} being read`);
    this.sum.textContent = parts.join(" · ");
    this.empty.hidden = runs.length > 0 || found.problems.length > 0;
    this.empty.textContent = "No runs are here yet. They appear as soon as they begin.";
    tacit.fill(this.problems, found.problems.length ? tacit.el("details", { open: found.problems.length < 4 },
      tacit.el("summary", {}, `${tacit.plural(found.problems.length, "problem")}`),
      tacit.el("ul", {}, found.problems.map((problem) => tacit.el("li", {}, problem)))) : null);
    this.foot.textContent = `tacit ${found.tacit}`;
    const names = new Set();
    found.games.forEach((game, k) => {
      names.add(game.name);
      let section = this.sections.get(game.name);
      if (!section) {
        section = new tacit.GameSection(game, this.source, k);
        this.sections.set(game.name, section);
      }
      if (this.body.children[k] !== section.root) this.body.insertBefore(section.root, this.body.children[k] || null);
      section.show(game);
    });
    for (const [name, section] of this.sections) if (!names.has(name)) { section.root.remove(); this.sections.delete(name); }
    const links = found.games.length > 1 ? found.games.map((game) => {
      const section = this.sections.get(game.name);
      return tacit.el("a", { href: `#${section.root.id}` }, game.name);
    }) : [];
    if (this.contents.childElementCount !== links.length) tacit.fill(this.contents, links);
  }
};

tacit.columnName = function (column) {
  const agent = /^(.*)_(\d+)$/.exec(column);
  if (agent) return /^(reward|gap)$/.test(agent[1]) ? `agent ${agent[2]}` : `${tacit.columnName(agent[1])}, agent ${agent[2]}`;
  return {
    gap: "largest", gap_average: "of “average”", gap_recent: "of “recent”", gap_last: "of “last”", l2_gap: "L² gap",
    average_value: "mean value of iterates", average_gap: "mean gap of iterates", average_l2_gap: "mean L² gap of iterates",
  }[column] || column;
};

let sectionCount = 0;

tacit.GameSection = class {
  constructor(game, source) {
    this.source = source;
    this.off = new Set();
    this.chosen = { reward: null, gap: null };
    this.mode = "sd";
    this.log = true;
    this.charts = { reward: new tacit.Chart("Reward while learning"), gap: new tacit.Chart("Gap to an equilibrium") };
    this.charts.gap.tools.append(tacit.choice("axes", { log: "logarithmic", linear: "linear" }, "log",
      (value) => { this.log = value === "log"; this.draw(); }));
    this.pickers = {};
    for (const part of ["reward", "gap"]) {
      this.pickers[part] = tacit.el("div", { class: "legend", role: "group", "aria-label": `what of the ${part}` });
      this.charts[part].controls.prepend(this.pickers[part]);
    }
    this.legend = tacit.el("div", { class: "legend", role: "group", "aria-label": "learners" });
    this.told = tacit.el("p", { class: "lead" });
    this.caption = tacit.el("p", { class: "note" });
    this.table = tacit.el("div", { class: "scroll" });
    this.policies = new tacit.Policies(source);
    this.settings = tacit.el("div", {});
    this.heading = tacit.el("h2", {});
    this.root = tacit.el("section", { class: "game", id: `game-${++sectionCount}` }, this.heading, this.told,
      tacit.el("div", { class: "toolbar" }, this.legend, tacit.choice("lines",
        { sd: "mean ± standard deviation", range: "mean, smallest to largest", mean: "mean alone", seeds: "every seed" }, "sd",
        (value) => { this.mode = value; this.draw(); })),
      tacit.el("div", { class: "charts" }, this.charts.reward.root, this.charts.gap.root), this.caption,
      this.table, this.policies.root, this.settings);
  }

  show(game) {
    this.game = game;
    this.heading.textContent = game.name;
    this.told.textContent = game.told;
    const columns = [...new Set(game.groups.flatMap((group) => group.columns))];
    const all = {
      reward: columns.filter((name) => /^(reward|value)_\d+$/.test(name)),
      gap: columns.filter((name) => /gap/.test(name)),
    };
    if (!all.reward.length) all.reward = columns.filter((name) => name === "reward" || name === "value");
    this.pick("reward", all.reward.slice(0, 16));
    this.pick("gap", all.gap.slice(0, 16));
    this.legendFor(game);
    this.draw();
    this.results(game);
    this.policies.show(game);
    this.settingsFor(game);
  }

  // Buttons that say which columns are drawn; the first is on.
  pick(part, columns) {
    if (!columns.length) return;
    if (this.chosen[part] === null) this.chosen[part] = new Set([columns[0]]);
    const key = columns.join(" ");
    if (this.pickers[part].dataset.key === key) return;
    this.pickers[part].dataset.key = key;
    tacit.fill(this.pickers[part], columns.length > 1 ? columns.map((name) => tacit.toggle(tacit.columnName(name), this.chosen[part].has(name), (on) => {
      if (on) this.chosen[part].add(name); else this.chosen[part].delete(name);
      this.draw();
    })) : null);
    this.columns = { ...this.columns, [part]: columns };
  }

  legendFor(game) {
    const key = JSON.stringify(game.groups.map((group) => [group.learner, group.seeds, group.colour, group.kinds]));
    if (this.legend.dataset.key === key) return;
    this.legend.dataset.key = key;
    tacit.fill(this.legend, game.groups.map((group) => tacit.toggle([
      tacit.el("span", { class: "swatch", style: { background: `var(--c${group.colour % tacit.colours})` } }),
      group.learner, tacit.el("span", { class: "count" }, ` ${tacit.plural(group.seeds, "seed")}${group.kinds.length ? `, ${group.kinds.join(" and ")}` : ""}`),
    ], !this.off.has(group.learner), (on) => {
      if (on) this.off.delete(group.learner); else this.off.add(group.learner);
      this.draw();
    })));
  }

  draw() {
    const groups = this.game.groups.filter((group) => !this.off.has(group.learner));
    const kinds = [...new Set(groups.map((group) => group.gap).filter(Boolean))];
    for (const part of ["reward", "gap"]) {
      const chosen = this.chosen[part] || new Set();
      const columns = ((this.columns || {})[part] || []).filter((name) => chosen.has(name));
      const lines = groups.flatMap((group) => columns.flatMap((name, k) => this.lines(group, name, tacit.dashes[(k + Math.floor(group.colour / tacit.colours)) % tacit.dashes.length], columns.length, part === "gap" && kinds.length > 1)));
      this.charts[part].show(lines, { log: part === "gap" && this.log, label: part === "gap" ? "gap" : "reward per episode" });
    }
    const band = { sd: "Bands: one standard deviation over seeds.", range: "Bands: smallest to largest seed.", mean: "", seeds: "Every seed is a line." }[this.mode];
    const several = groups.some((group) => group.seeds > 1);
    tacit.fill(this.caption, kinds.length ? `Gap: ${kinds.join("; ")}. ` : "", several ? `${band} ` : "", "Drag to zoom, double-click to go back.");
  }

  lines(group, column, dash, columns, kind) {
    const band = group.bands[column];
    if (!band) return [];
    const told = kind && group.gap ? `${group.learner} (${group.gap})` : group.learner;
    const name = columns > 1 ? `${told}, ${tacit.columnName(column)}` : told;
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

  results(game) {
    const mean = (xs) => (xs.length ? xs.reduce((a, b) => a + b, 0) / xs.length : null);
    const rows = game.groups.map((group) => {
      const done = group.runs.filter((run) => run.status === "finished");
      const rewards = done.map((run) => run.reward[0]);
      const gaps = done.filter((run) => run.gap).map((run) => run.gap);
      const largest = gaps.map((gap) => gap.largest);
      const shares = done.filter((run) => run.gap && run.uniform).map((run) => run.gap.largest / run.uniform);
      const sources = gaps.map((gap) => gap.source); // the weakest says how sure the mean is
      const sign = sources.includes("estimate") ? "≈" : sources.every((source) => source === "exact") ? "=" : "≤";
      const progress = group.runs.map((run) => run.done);
      const of = group.runs[0].of;
      const episodes = Math.min(...progress) === Math.max(...progress) ? tacit.thousands(String(progress[0]))
        : `${tacit.thousands(String(Math.min(...progress)))} to ${tacit.thousands(String(Math.max(...progress)))}`;
      const running = group.runs.some((run) => run.status !== "finished");
      const status = done.length === group.runs.length ? "finished" : `${done.length} of ${group.runs.length} finished`;
      const values = done.filter((run) => run.value).map((run) => run.value);
      return tacit.el("tr", {},
        tacit.el("th", { scope: "row" }, tacit.el("span", { class: "swatch", style: { background: `var(--c${group.colour % tacit.colours})` } }), group.learner),
        tacit.el("td", {}, episodes, running && of ? ` of ${tacit.thousands(String(of))}` : ""),
        tacit.el("td", { class: "word" }, status),
        tacit.el("td", {}, tacit.spread(rewards)),
        tacit.el("td", {}, values.length ? values[0].slice(0, 4).map((_, i) => tacit.number(mean(values.map((own) => own[i])))).join(", ")
          + (values[0].length > 4 ? ", …" : "") : "–"),
        tacit.el("td", {}, !gaps.length ? "–" : gaps.every((gap) => !gap.informative) ? "no information yet"
          : `${sign} ${tacit.number(mean(largest))}`,
          gaps.length ? tacit.el("span", { class: "count" }, ` ${gaps[0].kind}`) : null),
        tacit.el("td", {}, largest.length > 1 ? tacit.number(Math.max(...largest)) : "–"),
        tacit.el("td", {}, shares.length ? `${tacit.number(100 * mean(shares), 3)} %` : "–"));
    });
    const heads = ["learner", "episodes", "!runs", "reward, agent 0", "value of each agent", "gap, mean", "worst seed", "of uniform play’s"];
    tacit.fill(this.table, tacit.el("table", { class: "numbers" },
      tacit.heads(heads), tacit.el("tbody", {}, rows)));
  }

  settingsFor(game) {
    const key = JSON.stringify(game.groups.map((group) => [group.settings, group.runs.map((run) => [run.seed, run.status, run.done])]));
    if (this.settingsKey === key) return;
    this.settingsKey = key;
    const open = [...this.settings.querySelectorAll("details")].map((one) => one.open);
    tacit.fill(this.settings, game.groups.map((group, k) => {
      const notes = [...new Set(group.runs.flatMap((run) => [...(run.advice || []), ...(run.notes || [])]))];
      const where = [...new Set(group.runs.map((run) => run.where).filter(Boolean))];
      return tacit.el("details", { open: open[k] }, tacit.el("summary", {}, `${group.learner}: settings and runs`),
        tacit.el("div", { class: "columns" },
          tacit.el("table", { class: "settings" }, tacit.el("tbody", {}, group.settings.map(([name, value]) =>
            tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name), tacit.el("td", {}, value))))),
          tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "numbers" },
            tacit.heads(["seed", "episodes", "!status", "reward", "gap", "!policy", "seconds"]),
            tacit.el("tbody", {}, group.runs.slice(0, 200).map((run) => tacit.el("tr", {}, tacit.el("td", {}, run.seed),
              tacit.el("td", {}, tacit.thousands(String(run.done))),
              tacit.el("td", { class: "word" }, run.status === "finished" && run.ended !== "episodes" ? `ended by ${run.ended}` : run.status),
              tacit.el("td", {}, run.reward ? tacit.number(run.reward[0]) : "–"),
              tacit.el("td", {}, run.gap ? tacit.number(run.gap.largest) : "–"),
              tacit.el("td", { class: "word" }, run.chosen || "–"), tacit.el("td", {}, run.seconds === undefined ? "–" : tacit.number(run.seconds, 3)))))))),
        notes.length ? tacit.el("ul", { class: "notes" }, notes.map((note) => tacit.el("li", {}, note))) : null,
        where.length ? tacit.el("p", { class: "note" }, `Ran on ${where.slice(0, 3).join("; ")}${where.length > 3 ? " and others" : ""}.`) : null);
    }));
  }
};

tacit.dashes = [[], [6, 4], [2, 3], [9, 3, 2, 3]];

tacit.spread = function (xs) {
  if (!xs.length) return "–";
  const mean = xs.reduce((a, b) => a + b, 0) / xs.length;
  if (xs.length === 1) return tacit.number(mean);
  const sd = Math.sqrt(xs.reduce((a, x) => a + (x - mean) ** 2, 0) / (xs.length - 1));
  return `${tacit.number(mean)} ± ${tacit.number(sd, 2)}`;
};

// The policy of one finished run, chosen from a list; a report has the best of each learner.
tacit.Policies = class {
  constructor(source) {
    this.source = source;
    this.body = tacit.el("div", { "aria-live": "off" });
    this.picker = tacit.el("div", { class: "toolbar" });
    this.root = tacit.el("section", { class: "policies", hidden: true }, tacit.el("h3", {}, "The learned policy"), this.picker, this.body);
    this.shown = null;
  }

  show(game) {
    const words = {};
    for (const group of game.groups) for (const run of group.runs) {
      if (run.status === "finished" && this.source.has(run.name)) words[run.name] = `${group.learner}, seed ${run.seed}`;
    }
    const names = Object.keys(words);
    this.root.hidden = names.length === 0;
    const key = JSON.stringify(words);
    if (this.key === key || !names.length) return;
    this.key = key;
    const first = names.includes(this.shown) ? this.shown : this.best(game, names);
    tacit.fill(this.picker, names.length > 1 ? tacit.choice("of", words, first, (name) => this.open(name)) : tacit.el("p", { class: "note" }, words[first]));
    if (this.shown !== first) this.open(first);
  }

  best(game, names) {
    const runs = game.groups.flatMap((group) => group.runs).filter((run) => names.includes(run.name));
    runs.sort((a, b) => (a.gap ? a.gap.largest : Infinity) - (b.gap ? b.gap.largest : Infinity));
    return runs[0].name;
  }

  async open(name) {
    this.shown = name;
    const wait = setTimeout(() => tacit.fill(this.body, tacit.el("p", { class: "nothing" }, "computing …")), 150);
    let found;
    try {
      found = await this.source.details(name);
    } catch (error) {
      found = { sentence: "It could not be read; is the server still running?" };
    }
    clearTimeout(wait);
    if (this.shown === name) tacit.fill(this.body, tacit.policy(found));
  }
};
