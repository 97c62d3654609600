"use strict";
// What is computed from a policy: bounds on the gaps, heat maps by step and state, who gains by deviating, episodes.
tacit.policy = function (policy) {
  if (policy.sentence) return tacit.el("p", { class: "nothing" }, policy.sentence);
  return tacit.el("div", { class: "policy" },
    tacit.el("p", { class: "note" }, [policy.which, policy.policy].filter(Boolean).join(" ")),
    policy.game ? tacit.oneShot(policy.game) : null,
    policy.market ? tacit.market(policy.market) : null,
    tacit.el("div", { class: "halves" },
      tacit.el("div", {}, tacit.bounds(policy.gaps), policy.proof ? tacit.proof(policy.proof) : null, tacit.heat(policy)),
      tacit.el("div", {}, policy.episodes.length ? tacit.episodes(policy) : null, tacit.deviations(policy))));
};

// A button that saves the proof of the gap, which `tacit verify` or verify.py alone checks.
tacit.proof = function (proof) {
  const button = tacit.el("button", { type: "button" }, "save the proof");
  button.addEventListener("click", () => {
    const link = tacit.el("a", { href: URL.createObjectURL(new Blob([JSON.stringify(proof)], { type: "application/json" })), download: "proof.json" });
    link.click();
  });
  return tacit.el("p", { class: "note" }, `Proven: ${proof.kind} gap at most ${Math.max(...proof.agents.map((agent) => agent.bound))}. `, button);
};

tacit.oneShot = (game) => tacit.el("section", {}, tacit.el("h4", {}, "The game"),
  tacit.matrix("numbers", tacit.el("caption", { class: "note" }, "rewards of agent 0 (rows) and of agent 1"), "", game.columns,
    game.rows.map((name, a) => [name, game.cells[a].map(([mine, theirs]) => tacit.el("td", {}, `${tacit.number(mine)}, ${tacit.number(theirs)}`))])));

// A market: the cycle that play ends in, what deviations gain, and prices and profits after two of them.
tacit.market = function (market) {
  const firms = market.cycle[0].map((_, i) => i);
  const chart = (path, what, levels) => {
    const plot = new tacit.Chart(`${path.title}: ${what === "prices" ? market.thing : "profit"}`, `market ${what} ${path.title}`, "period");
    const x = path[what].map((_, t) => t), ends = [0, x.length - 1];
    plot.show([...firms.map((i) => ({ label: `firm ${i}`, colour: i, x, y: path[what].map((row) => row[i]) })),
      ...Object.entries(levels).map(([label, y]) => ({ label, colour: 7, dash: [4, 4], faint: 0.7, x: ends, y: [y, y] }))],
      { label: what === "prices" ? market.thing : "profit" });
    return plot.root;
  };
  return tacit.el("section", {}, tacit.el("h4", {}, "The market"),
    tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "numbers" }, tacit.el("tbody", {}, market.facts.map(([what, number]) =>
      tacit.el("tr", {}, tacit.el("th", { scope: "row" }, what), tacit.el("td", {}, tacit.number(number))))))),
    tacit.el("p", { class: "note" }, `The cycle that play ends in, ${market.thing} by firm: `,
      market.cycle.map((row) => row.map((x) => tacit.number(x)).join(", ")).join("; "),
      `. Below, period 0 is before the deviation; dashes are the ${market.thing} of competition and of a cartel. `,
      firms.map((i) => [tacit.el("span", { class: "swatch", style: { background: tacit.colour(i) } }), ` firm ${i} `])),
    tacit.el("div", { class: "halves" }, market.paths.flatMap((path) => [chart(path, "prices", market.levels), chart(path, "profits", {})])));
};

tacit.kinds = {
  nash: "Nash: what an agent gains by playing something else while the others stay",
  cce: "cce: what an agent gains by ignoring the joint policy altogether",
  ce: "ce: what an agent gains by deviating after it has heard its recommendation",
};

tacit.bounds = function (gaps) {
  const most = Math.max(...gaps.upper, 1e-300);
  const rows = gaps.upper.map((upper, i) => {
    const lower = gaps.exact ? upper : gaps.lower ? gaps.lower[i] : null;
    const share = (x) => `${(100 * x) / most}%`;
    const bar = tacit.el("div", { class: "bar", "aria-hidden": "true" },
      tacit.el("span", { class: "bar-sure", style: { width: share(lower === null ? 0 : lower) } }),
      gaps.exact ? null : tacit.el("span", { class: "bar-open", style: { left: share(lower || 0), width: share(upper - (lower || 0)) } }));
    return tacit.el("tr", {}, tacit.el("th", { scope: "row" }, `agent ${i}`),
      tacit.el("td", {}, tacit.number(gaps.values[i], 6)),
      gaps.exact ? null : tacit.el("td", {}, lower === null ? "–" : tacit.number(lower)),
      tacit.el("td", { "data-value": upper }, tacit.number(upper)), tacit.el("td", { class: "bar-cell" }, bar));
  });
  const heads = ["", "value", ...(gaps.exact ? ["gap, exact"] : ["gap at least", "gap at most"]), ""];
  return tacit.el("section", {},
    tacit.el("h4", {}, "How far from an equilibrium"),
    tacit.el("p", { class: "note" }, tacit.kinds[gaps.kind] || gaps.kind, ". Computed anew from the game’s own tables."),
    tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "numbers" }, tacit.heads(heads), tacit.el("tbody", {}, rows))));
};

tacit.heat = function (policy) {
  const body = tacit.el("div", { class: "scroll tall" });
  const legend = tacit.el("div", { class: "legend", role: "group", "aria-label": "action" });
  const readout = tacit.el("p", { class: "readout", "aria-hidden": "true" }, "hover a cell to read it");
  let agent = 0, action = "likely";
  const agents = tacit.el("div", { class: "legend", role: "group", "aria-label": "agent" });
  const places = policy.states.flatMap((_, s) => policy.steps.map((_, k) => [s, k])).filter(([s, k]) => policy.reach[s][k] > 0);
  if (places.length <= 6) {
    return tacit.el("section", {}, tacit.el("h4", {}, "What is played"),
      policy.averaged ? tacit.el("p", { class: "note" }, "On average; the policy depends on more than step and state.") : null,
      tacit.fewPlaces(policy, places), policy.joint.map((one) => tacit.jointTable(policy, one)));
  }
  const draw = () => {
    const map = policy.maps[agent];
    tacit.fill(agents, policy.maps.length > 1 ? policy.maps.map((own, i) =>
      tacit.chip(`agent ${own.agent}`, i === agent, () => { agent = i; action = "likely"; draw(); })) : null);
    tacit.fill(legend, tacit.chip("most likely action", action === "likely", () => { action = "likely"; draw(); }),
      map.actions.map((name, a) => tacit.chip([tacit.el("span", { class: "swatch", style: { background: `var(--c${a % tacit.colours})` } }), name],
        action === a, () => { action = a; draw(); })));
    tacit.fill(body, tacit.heatTable(policy, map, action, readout));
  };
  draw();
  const notes = [];
  if (policy.averaged) notes.push("The policy depends on more than step and state; this is what it plays there on average.");
  if (policy.left_out > 0) notes.push(`The ${policy.states.length} most visited states are shown; ${policy.left_out} more are reached.`);
  if (policy.steps.length < policy.horizon) notes.push(`${policy.steps.length} of ${policy.horizon} steps are shown.`);
  return tacit.el("section", {}, tacit.el("h4", {}, "What is played, by step and state"),
    tacit.el("p", { class: "note" }, "Only what is reached. ", notes.join(" ")), agents, legend, body, readout);
};

tacit.chip = (label, on, call) => tacit.el("button", { type: "button", class: "chip", "aria-pressed": String(on), onclick: call }, label);

tacit.heatTable = function (policy, map, action, readout) {
  const shown = policy.steps.length <= 14;
  const cell = (probs, reach, s, k) => {
    if (probs === null) return tacit.el("td", { class: "heat none" }, tacit.el("span", { class: "unseen" }, "not reached"));
    const best = probs.indexOf(Math.max(...probs));
    const a = action === "likely" ? best : action;
    const words = `step ${policy.steps[k]}, ${policy.states[s]} (reached with ${tacit.number(reach, 3)}): `
      + map.actions.map((name, b) => [name, probs[b]]).filter(([, p]) => p >= 0.0005)
        .map(([name, p]) => `${name} ${tacit.number(p, 3)}`).join(", ");
    const strength = 6 + 68 * probs[a];
    const td = tacit.el("td", { class: "heat", title: words, style: { "--hue": `var(--c${a % tacit.colours})`, "--strength": `${strength.toFixed(1)}%` },
      "data-strong": String(probs[a] > 0.5) },
      tacit.el("span", { class: shown ? "" : "unseen" }, `${shown ? "" : map.actions[a] + " "}${probs[a].toFixed(2).replace(/^0/, "")}`));
    td.addEventListener("mouseenter", () => { readout.textContent = words; });
    return td;
  };
  const caption = `agent ${map.agent}: probability of ${action === "likely" ? "the most likely action" : map.actions[action]}`;
  return tacit.matrix("heatmap", tacit.el("caption", { class: "unseen" }, caption), "step", policy.steps,
    policy.states.map((name, s) => [name, map.cells[s].map((probs, k) => cell(probs, policy.reach[s][k], s, k))]));
};

tacit.heatCell = (p, hue) => tacit.el("td", { class: "heat wide", style: { "--hue": hue, "--strength": `${(6 + 68 * p).toFixed(1)}%` },
  "data-strong": String(p > 0.5), "data-value": p }, tacit.number(p, 3));

// Few places: each agent's whole distribution, an action in each column.
tacit.fewPlaces = (policy, places) => policy.maps.map((map) => tacit.matrix("heatmap", null, `agent ${map.agent}`, map.actions, places.map(([s, k]) =>
  [tacit.placeName(policy, policy.steps[k], policy.states[s]), map.cells[s][k].map((p, a) => tacit.heatCell(p, `var(--c${a % tacit.colours})`))])));

tacit.placeName = (policy, step, state) => (policy.horizon === 1 ? (/^\d+$/.test(state) ? "" : state) : `step ${step}, ${state}`);

// What agents play together: of two a matrix, of more the joint actions that are played.
tacit.jointTable = function (policy, joint) {
  const words = joint.listed ? (joint.left_out ? `the likeliest joint actions, ${joint.left_out} more are played` : "the joint actions that are played") : "agent 0 has the rows, agent 1 the columns";
  const caption = tacit.el("caption", { class: "note" }, ["together", tacit.placeName(policy, joint.step, joint.state)].filter(Boolean).join(", "), `: ${words}`);
  const hue = "var(--c0)";
  if (joint.rows) return tacit.matrix("heatmap", caption, "", joint.columns, joint.rows.map((name, a) => [name, joint.cells[a].map((p) => tacit.heatCell(p, hue))]));
  return tacit.matrix("heatmap", caption, "joint action", ["prob."], joint.listed.map((row) => [row.actions.join(", "), tacit.heatCell(row.prob, hue)]));
};

tacit.deviations = function (policy) {
  const rows = policy.deviations;
  if (rows === null) return null;
  const head = tacit.el("h4", {}, "Who gains by deviating, and where");
  if (!rows.length) return tacit.el("section", {}, head, tacit.el("p", { class: "note" }, "Nobody gains by deviating anywhere."));
  const names = ["agent", "step", "!state", policy.kind === "nash" ? "!instead of" : "!when recommended", "!play", "prob.", "gain", "share"];
  return tacit.el("section", {}, head,
    tacit.el("p", { class: "note" }, "Gain each time; share is gain times probability. An agent’s shares add up to its gap. The largest are shown."),
    tacit.el("div", { class: "scroll tall" }, tacit.el("table", { class: "numbers" },
      tacit.heads(names),
      tacit.el("tbody", {}, rows.map((row) => tacit.el("tr", {},
        tacit.el("td", {}, row.agent), tacit.el("td", {}, row.step), tacit.el("td", { class: "word" }, row.state),
        tacit.el("td", { class: "word" }, row.instead_of), tacit.el("td", { class: "word" }, row.play),
        tacit.el("td", {}, tacit.number(row.prob, 3)), tacit.el("td", {}, tacit.number(row.gain)),
        tacit.el("td", {}, tacit.number(row.share))))))));
};
