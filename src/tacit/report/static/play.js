"use strict";
// A person plays one agent: buttons for actions, or their numbers on the keyboard.
{
  const game = new tacit.Game(JSON.parse(document.getElementById("document").textContent));
  const el = tacit.el, number = tacit.number;
  const agents = el("div", { class: "legend", role: "group", "aria-label": "your place" });
  const where = el("h2", { class: "where" }), image = el("img", { hidden: true, alt: "" });
  const buttons = el("div", { class: "actions", role: "group", "aria-label": "your action" });
  const news = el("p", { class: "news", role: "status", "aria-live": "polite" });
  const payoffs = el("div", { class: "scroll" }), score = el("dl", { class: "score" });
  const result = el("section", { class: "result", hidden: true, tabindex: "-1" });
  const past = el("div", { class: "scroll" });
  tacit.put(document.getElementById("main"), [
    el("header", {}, el("p", { class: "kind" }, "play"), el("h1", {}, game.title), el("p", { class: "lead" }, game.about), agents),
    el("div", { class: "board" },
      el("section", { class: "card", "aria-label": "the game" }, where, image, buttons, news, result),
      el("section", { class: "card side", "aria-label": "the score" }, el("h3", {}, "Score"), score, payoffs)),
    el("section", {}, el("h3", {}, "This episode"), past),
    el("footer", {}, "Number keys choose an action, Enter plays again."),
  ]);
  let player = null, names = null, hears = false;

  const sit = (agent) => {
    player = new tacit.Player(game, agent);
    names = game.actions[agent];
    hears = player.judge.hears;
    tacit.fill(agents, Object.keys(game.judged).length > 1 ? game.actions.map((_, i) =>
      el("button", { type: "button", class: "chip", "aria-pressed": String(i === agent), onclick: () => sit(i) }, `agent ${i}`)) : null);
    tacit.fill(buttons, names.map((name, a) => el("button", { type: "button", class: "action", onclick: () => act(a), "aria-keyshortcuts": a < 10 ? String(a) : null },
      a < 10 ? el("kbd", { "aria-hidden": "true" }, a) : null, name)));
    show();
  };
  const act = (a) => {
    if (player.over || a >= names.length) return;
    player.act(a);
    show();
    if (player.over) result.querySelector("button").focus();
  };
  const again = () => {
    player.begin();
    show();
    buttons.querySelector("button").focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[0-9]$/.test(event.key)) return;
    act(Number(event.key));
    event.preventDefault();
  });

  const cost = (x) => (x < 5e-10 ? "0" : number(x));
  const verdict = (turn) => {
    if (turn.recommended === null) return turn.regret < 5e-10 ? " As good as the best response." : ` ${names[turn.best]} would have been better by ${number(turn.regret)} on average.`;
    const given = ` Given the recommendation ${names[turn.recommended]}`;
    return turn.regret < 5e-10 ? `${given}, no action has a higher expected payoff.` : `${given}, ${names[turn.best]} would have been better by ${number(turn.regret)} on average.`;
  };
  const show = () => {
    const { over, turns, agent, tally, judge } = player, state = game.states[player.state];
    where.textContent = over ? "The episode is over" :
      [game.horizon > 1 ? `Step ${player.h} of 0 to ${game.horizon - 1}` : `Round ${player.episode}`, game.states.length > 1 ? `, ${state}` : "",
        player.recommended === null ? "" : `. You are recommended: ${names[player.recommended]}`].join("");
    const address = game.pictures && game.pictures[player.state];
    image.hidden = !address;
    if (address) { image.src = address; image.alt = `picture of ${state}`; }
    buttons.hidden = over;
    const last = turns[turns.length - 1];
    const others = last ? last.actions.map((a, i) => (i === agent ? null : `agent ${i} ${game.actions[i][a]}`)).filter(Boolean).slice(0, 6).join(", ") : "";
    news.textContent = last ? `You played ${names[last.actions[agent]]}${others ? `, ${others}` : ""}: you get ${number(last.reward)}.${verdict(last)}`
      : `You are agent ${agent}. Choose an action.`;
    const mean = (total) => (tally.episodes ? total / tally.episodes : null);
    tacit.fill(score, [
      ["this episode", number(player.sum("reward"))],
      ["episodes", String(tally.episodes)],
      ["your mean", number(mean(tally.total))],
      ["the policy in your place", number(judge.value)],
      [hears ? "the best response that sees recommendations" : "the best response", number(judge.best)],
      ["your regret per episode", tally.episodes ? cost(mean(tally.regret)) : "–"],
    ].map(([name, words]) => el("div", {}, el("dt", {}, name), el("dd", {}, words))));
    drawPast(turns, agent);
    drawPayoffs();
    drawResult();
  };

  const word = (content) => el("td", { class: "word" }, content);
  const drawPast = (turns, agent) => {
    const others = game.actions.map((_, i) => i).slice(0, 6).filter((i) => i !== agent);
    tacit.fill(past, !turns.length ? el("p", { class: "note" }, "nothing was played yet") : el("table", { class: "numbers" },
      tacit.heads(["step", "!state", "!you", ...others.map((i) => `!agent ${i}`), "you get", hears ? "!recommended" : null, "!best response", "regret"].filter(Boolean)),
      el("tbody", {}, turns.slice(-200).reverse().map((turn) => el("tr", {}, el("td", {}, turn.h), word(game.states[turn.state]), word(names[turn.actions[agent]]),
        others.map((i) => word(game.actions[i][turn.actions[i]])), el("td", {}, number(turn.reward)), hears ? word(names[turn.recommended]) : null,
        word(names[turn.best]), el("td", {}, cost(turn.regret)))))));
  };

  const drawPayoffs = () => {
    const table = player.payoffs();
    if (!table) { tacit.fill(payoffs); return; }
    const all = table.cells.flat();
    if (all.length > 1 && all.every(([mine, theirs]) => mine === all[0][0] && theirs === all[0][1])) {
      tacit.fill(payoffs, el("h3", {}, "Rewards"), el("p", { class: "note" }, `Here every choice pays ${number(all[0][0])}.`));
      return;
    }
    const current = (a, b) => (table.played && table.played[0] === a && table.played[1] === b ? "true" : null);
    tacit.fill(payoffs, el("h3", {}, player.over ? "Rewards of the last step" : "Rewards of this step"), tacit.matrix("numbers payoffs",
      el("caption", { class: "note" }, table.shared ? "you choose the row; both get the same" : `you choose the row; your reward, and that of agent ${1 - player.agent}`),
      "", table.columns, table.rows.map((name, a) => [name, table.cells[a].map(([mine, theirs], b) =>
        el("td", { "aria-current": current(a, b) }, number(mine), table.shared ? null : el("span", { class: "count" }, `, ${number(theirs)}`)))])));
  };

  const drawResult = () => {
    result.hidden = !player.over;
    if (!player.over) { tacit.fill(result); return; }
    const end = player.result();
    const rows = [["you", end.earned], ["the best response, on average", end.best], ["the policy, on average", player.judge.value]];
    const sizes = rows.map(([, x]) => x), low = Math.min(0, ...sizes), span = Math.max(0, ...sizes) - low || 1;
    tacit.fill(result,
      el("p", { class: "verdict" }, `You got ${number(end.earned)}.`,
        end.regret < 5e-10 ? " Every choice was a best response." : ` Better choices would have earned ${number(end.regret)} more on average; luck was worth ${number(end.luck)}.`),
      el("table", { class: "numbers bars" }, el("tbody", {}, rows.map(([name, x]) => el("tr", {}, el("th", { scope: "row" }, name),
        el("td", {}, number(x)), el("td", { class: "bar-cell" }, el("div", { class: "bar", "aria-hidden": "true" },
          el("span", { class: "bar-sure", style: { left: `${100 * (Math.min(0, x) - low) / span}%`, width: `${100 * Math.abs(x) / span}%` } }))))))),
      el("button", { type: "button", class: "action again", onclick: again }, "play again"));
  };
  tacit.now = () => player;
  sit(game.agent);
}
