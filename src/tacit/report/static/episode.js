"use strict";
// Episodes of a policy, step by step.
tacit.episodes = function (policy) {
  let which = 0, step = 0, timer = null;
  const all = policy.episodes;
  const view = tacit.el("div", { class: "stage" });
  const table = tacit.el("div", { class: "scroll steps" });
  const slider = tacit.el("input", { type: "range", min: 0, value: 0, "aria-label": "step" });
  const spoken = tacit.el("p", { class: "unseen", "aria-live": "polite" });
  const go = (to) => {
    step = Math.max(0, Math.min(all[which].steps.length, to));
    if (step === all[which].steps.length) stop();
    draw();
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "play"; play.setAttribute("aria-pressed", "false"); };
  const play = tacit.el("button", { type: "button", "aria-pressed": "false", onclick: () => {
    if (timer) { stop(); return; }
    if (step === all[which].steps.length) step = 0;
    play.textContent = "pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => go(step + 1), 900);
    draw();
  } }, "play");
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  const choose = tacit.choice("episode", Object.fromEntries(all.map((_, e) => [String(e), String(e + 1)])), "0",
    (value) => { stop(); which = Number(value); step = 0; build(); });
  const button = (word, to) => tacit.el("button", { type: "button", onclick: () => { stop(); go(to()); } }, word);
  const sum = (i, upto) => all[which].steps.slice(0, upto).reduce((total, one) => total + one.rewards[i], 0);

  const draw = () => {
    const one = all[which], over = step === one.steps.length, at = over ? one.end : one.steps[step];
    slider.value = step;
    slider.max = one.steps.length;
    const agents = one.returns.map((total, i) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, `agent ${i}`),
      tacit.el("td", { class: "word" }, over ? "–" : at.actions[i]),
      tacit.el("td", {}, over ? "–" : tacit.number(at.rewards[i])),
      tacit.el("td", {}, tacit.number(sum(i, over ? step : step + 1), 6))));
    tacit.fill(view,
      at.picture ? tacit.el("img", { src: at.picture, alt: `picture of ${at.state}` }) : null,
      tacit.el("div", { class: "now" },
        tacit.el("p", { class: "where" }, over ? "the end, in " : `step ${step}, in `, tacit.el("strong", {}, at.state)),
        tacit.el("table", { class: "numbers" }, tacit.heads(["", "!action", "reward", "return so far"]), tacit.el("tbody", {}, agents))));
    spoken.textContent = over ? `the end, in ${at.state}` : `step ${step}, ${at.state}: ${at.actions.join(", ")}`;
    for (const row of table.querySelectorAll("tbody tr")) row.setAttribute("aria-current", String(Number(row.dataset.step) === step));
  };
  const build = () => {
    const one = all[which];
    const heads = ["step", "!state", ...one.returns.map((_, i) => `!agent ${i}`), ...one.returns.map((_, i) => `reward ${i}`)];
    tacit.fill(table, tacit.el("table", { class: "numbers" },
      tacit.heads(heads),
      tacit.el("tbody", {}, one.steps.map((at, h) => tacit.el("tr", { "data-step": h, onclick: () => { stop(); go(h); } },
        tacit.el("td", {}, h), tacit.el("td", { class: "word" }, at.state),
        at.actions.map((name) => tacit.el("td", { class: "word" }, name)), at.rewards.map((r) => tacit.el("td", {}, tacit.number(r))))))));
    draw();
  };
  build();
  return tacit.el("section", { class: "episode" }, tacit.el("h4", {}, "An episode, step by step"),
    all[0].cut ? tacit.el("p", { class: "note" }, `The first ${all[0].steps.length} steps are shown.`) : null,
    tacit.el("div", { class: "controls" }, choose, button("first", () => 0), button("back", () => step - 1), play,
      button("forward", () => step + 1), slider),
    view, spoken, tacit.el("details", {}, tacit.el("summary", {}, "all steps"), table));
};
