"use strict";
// What is computed from a policy: bounds on the gaps, heat maps by step and state, who gains by deviating, episodes.
tacit.policy = function (found) {
  if (found.sentence) return tacit.el("p", { class: "nothing" }, found.sentence);
  return tacit.el("div", { class: "policy" },
    tacit.el("p", { class: "note" }, [found.which, found.policy].filter(Boolean).join(" ")),
    found.game ? tacit.oneShot(found.game) : null,
    tacit.el("div", { class: "halves" },
      tacit.el("div", {}, tacit.bounds(found.gaps), tacit.heat(found)),
      tacit.el("div", {}, found.episodes.length ? tacit.episodes(found) : null, tacit.deviations(found))));
};

tacit.oneShot = (game) => tacit.el("section", {}, tacit.el("h4", {}, "The game"),
  tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "numbers" },
    tacit.el("caption", { class: "note" }, "rewards of agent 0, who chooses the row, and of agent 1"),
    tacit.el("thead", {}, tacit.el("tr", {}, tacit.el("td", {}), game.columns.map((name) => tacit.el("th", { scope: "col" }, name)))),
    tacit.el("tbody", {}, game.rows.map((name, a) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name),
      game.cells[a].map(([own, other]) => tacit.el("td", {}, `${tacit.number(own)}, ${tacit.number(other)}`))))))),
  game.equilibria.length ? tacit.el("p", { class: "note" }, "Nash equilibria:") : null,
  game.equilibria.length ? tacit.el("ul", {}, game.equilibria.map((one) => tacit.el("li", {}, one))) : null);

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
    tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "numbers" },
      tacit.el("thead", {}, tacit.el("tr", {}, heads.map((head) => tacit.el("th", { scope: "col" }, head)))),
      tacit.el("tbody", {}, rows))));
};

tacit.heat = function (found) {
  const body = tacit.el("div", { class: "scroll tall" });
  const legend = tacit.el("div", { class: "legend", role: "group", "aria-label": "action" });
  const readout = tacit.el("p", { class: "readout", "aria-hidden": "true" }, "hover a cell to read it");
  let agent = 0, action = "likely";
  const agents = tacit.el("div", { class: "legend", role: "group", "aria-label": "agent" });
  const places = found.states.flatMap((_, s) => found.steps.map((_, k) => [s, k])).filter(([s, k]) => found.reach[s][k] > 0);
  if (places.length <= 6) {
    return tacit.el("section", {}, tacit.el("h4", {}, "What is played"),
      found.averaged ? tacit.el("p", { class: "note" }, "On average; the policy depends on more than step and state.") : null,
      tacit.fewPlaces(found, places), found.joint.map((one) => tacit.jointTable(found, one)));
  }
  const draw = () => {
    const map = found.maps[agent];
    tacit.fill(agents, found.maps.length > 1 ? found.maps.map((own, i) =>
      tacit.pick(`agent ${own.agent}`, i === agent, () => { agent = i; action = "likely"; draw(); })) : null);
    tacit.fill(legend, tacit.pick("most likely action", action === "likely", () => { action = "likely"; draw(); }),
      map.actions.map((name, a) => tacit.pick([tacit.el("span", { class: "swatch", style: { background: `var(--c${a % tacit.colours})` } }), name],
        action === a, () => { action = a; draw(); })));
    tacit.fill(body, tacit.heatTable(found, map, action, readout));
  };
  draw();
  const notes = [];
  if (found.averaged) notes.push("The policy depends on more than step and state; this is what it plays there on average.");
  if (found.left_out > 0) notes.push(`The ${found.states.length} most visited states are shown; ${found.left_out} more are reached.`);
  if (found.steps.length < found.horizon) notes.push(`${found.steps.length} of ${found.horizon} steps are shown.`);
  return tacit.el("section", {}, tacit.el("h4", {}, "What is played, by step and state"),
    tacit.el("p", { class: "note" }, "Only what is reached. ", notes.join(" ")), agents, legend, body, readout);
};

tacit.pick = (label, on, call) => tacit.el("button", { type: "button", class: "chip", "aria-pressed": String(on), onclick: call }, label);

tacit.heatTable = function (found, map, action, readout) {
  const shown = found.steps.length <= 14;
  const cell = (probs, reach, s, k) => {
    if (probs === null) return tacit.el("td", { class: "heat none" }, tacit.el("span", { class: "unseen" }, "not reached"));
    const best = probs.indexOf(Math.max(...probs));
    const a = action === "likely" ? best : action;
    const told = `step ${found.steps[k]}, ${found.states[s]} (reached with ${tacit.number(reach, 3)}): `
      + map.actions.map((name, b) => [name, probs[b]]).filter(([, p]) => p >= 0.0005)
        .map(([name, p]) => `${name} ${tacit.number(p, 3)}`).join(", ");
    const strength = 6 + 68 * probs[a];
    const made = tacit.el("td", { class: "heat", title: told, style: { "--hue": `var(--c${a % tacit.colours})`, "--strength": `${strength.toFixed(1)}%` },
      "data-strong": String(probs[a] > 0.5) },
      tacit.el("span", { class: shown ? "" : "unseen" }, `${shown ? "" : map.actions[a] + " "}${probs[a].toFixed(2).replace(/^0/, "")}`));
    made.addEventListener("mouseenter", () => { readout.textContent = told; });
    return made;
  };
  return tacit.el("table", { class: "heatmap" },
    tacit.el("caption", { class: "unseen" }, `agent ${map.agent}: probability of ${action === "likely" ? "the most likely action" : map.actions[action]}`),
    tacit.el("thead", {}, tacit.el("tr", {}, tacit.el("th", { scope: "col" }, "step"),
      found.steps.map((h) => tacit.el("th", { scope: "col" }, h)))),
    tacit.el("tbody", {}, found.states.map((name, s) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name),
      map.cells[s].map((probs, k) => cell(probs, found.reach[s][k], s, k))))));
};

tacit.heatCell = (p, hue) => tacit.el("td", { class: "heat wide", style: { "--hue": hue, "--strength": `${(6 + 68 * p).toFixed(1)}%` },
  "data-strong": String(p > 0.5), "data-value": p }, tacit.number(p, 3));

// Few places: each agent's whole distribution, an action in each column.
tacit.fewPlaces = (found, places) => found.maps.map((map) => tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "heatmap" },
  tacit.el("thead", {}, tacit.el("tr", {}, tacit.el("th", { scope: "col" }, `agent ${map.agent}`), map.actions.map((name) => tacit.el("th", { scope: "col" }, name)))),
  tacit.el("tbody", {}, places.map(([s, k]) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, tacit.placeName(found, found.steps[k], found.states[s])),
    map.cells[s][k].map((p, a) => tacit.heatCell(p, `var(--c${a % tacit.colours})`))))))));

tacit.placeName = (found, step, state) => (found.horizon === 1 ? (/^\d+$/.test(state) ? "" : state) : `step ${step}, ${state}`);

// What agents play together: of two a matrix, of more the joint actions that are played.
tacit.jointTable = (found, one) => one.listed ? tacit.jointList(found, one) : tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "heatmap" },
  tacit.el("caption", { class: "note" }, ["together", tacit.placeName(found, one.step, one.state)].filter(Boolean).join(", "), ": agent 0 has the rows, agent 1 the columns"),
  tacit.el("thead", {}, tacit.el("tr", {}, tacit.el("td", {}), one.columns.map((name) => tacit.el("th", { scope: "col" }, name)))),
  tacit.el("tbody", {}, one.rows.map((name, a) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name),
    one.cells[a].map((p) => tacit.heatCell(p, "var(--c0)")))))));

tacit.jointList = (found, one) => tacit.el("div", { class: "scroll" }, tacit.el("table", { class: "heatmap" },
  tacit.el("caption", { class: "note" }, ["together", tacit.placeName(found, one.step, one.state)].filter(Boolean).join(", "),
    one.left_out ? `: the likeliest joint actions, ${one.left_out} more are played` : ": the joint actions that are played"),
  tacit.el("thead", {}, tacit.el("tr", {}, found.maps.map((map) => tacit.el("th", { scope: "col" }, `agent ${map.agent}`)), tacit.el("th", { scope: "col" }, "chance"))),
  tacit.el("tbody", {}, one.listed.map((row) => tacit.el("tr", {}, row.actions.map((name) => tacit.el("td", { class: "word" }, name)), tacit.heatCell(row.chance, "var(--c0)"))))));

tacit.deviations = function (found) {
  const rows = found.deviations;
  const head = tacit.el("h4", {}, "Who gains by deviating, and where");
  if (!rows.length) return tacit.el("section", {}, head, tacit.el("p", { class: "note" }, "Nobody gains by deviating anywhere."));
  const names = ["agent", "step", "!state", found.kind === "nash" ? "!instead of" : "!when told", "!play", "chance", "gain", "share"];
  return tacit.el("section", {}, head,
    tacit.el("p", { class: "note" }, "Gain each time; share is gain times chance. An agent’s shares add up to its gap. The largest are shown."),
    tacit.el("div", { class: "scroll tall" }, tacit.el("table", { class: "numbers" },
      tacit.heads(names),
      tacit.el("tbody", {}, rows.map((row) => tacit.el("tr", {},
        tacit.el("td", {}, row.agent), tacit.el("td", {}, row.step), tacit.el("td", { class: "word" }, row.state),
        tacit.el("td", { class: "word" }, row.instead_of), tacit.el("td", { class: "word" }, row.play),
        tacit.el("td", {}, tacit.number(row.chance, 3)), tacit.el("td", {}, tacit.number(row.gain)),
        tacit.el("td", {}, tacit.number(row.share))))))));
};
