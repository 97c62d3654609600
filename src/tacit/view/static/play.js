"use strict";
// A person plays one agent: buttons for actions, or their numbers on the keyboard.
{
  const main = document.getElementById("main");
  const ask = async (path, sent) => {
    const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent) });
    const found = await answer.json().catch(() => ({ error: "the server does not answer" }));
    if (!answer.ok) throw new Error(found.error || "the server does not answer");
    return found;
  };
  const title = tacit.el("h1", {}), lead = tacit.el("p", { class: "lead" }), seats = tacit.el("div", { class: "legend", role: "group", "aria-label": "your place" });
  const where = tacit.el("h2", { class: "where" }), image = tacit.el("img", { hidden: true, alt: "" });
  const buttons = tacit.el("div", { class: "actions", role: "group", "aria-label": "your action" });
  const news = tacit.el("p", { class: "news", role: "status", "aria-live": "polite" });
  const trouble = tacit.el("p", { class: "state", role: "alert" });
  const payoffs = tacit.el("div", { class: "scroll" }), score = tacit.el("dl", { class: "score" });
  const result = tacit.el("section", { class: "result", hidden: true, tabindex: "-1" });
  const past = tacit.el("div", { class: "scroll" });
  tacit.put(main, [
    tacit.el("header", {}, tacit.el("p", { class: "kind" }, "play"), title, lead, seats),
    trouble,
    tacit.el("div", { class: "board" },
      tacit.el("section", { class: "card", "aria-label": "the game" }, where, image, buttons, news, result),
      tacit.el("section", { class: "card side", "aria-label": "the score" }, tacit.el("h3", {}, "Score"), score, payoffs)),
    tacit.el("section", {}, tacit.el("h3", {}, "This episode"), past),
    tacit.el("footer", {}, "Number keys choose an action, Enter plays again."),
  ]);
  let now = null, busy = false, made = "";

  const send = async (path, sent) => {
    if (busy) return;
    busy = true;
    try {
      const found = await ask(path, sent);
      trouble.textContent = "";
      busy = false;
      show(found);
    } catch (error) {
      trouble.textContent = error.message;
      busy = false;
    }
  };
  const act = (action) => { if (now && !now.over && action < now.actions.length) send("act", { player: now.player, episode: now.episode, step: now.step, action }); };
  const again = () => send("begin", { player: now.player });
  const sit = (agent) => send("sit", { agent });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !now) return;
    if (/^[0-9]$/.test(event.key)) { act(Number(event.key)); event.preventDefault(); }
  });

  const cost = (x) => (x === null ? "–" : x < 5e-10 ? "0" : tacit.number(x));
  const show = (found) => {
    const before = now;
    now = found;
    title.textContent = found.game;
    lead.textContent = found.about;
    tacit.fill(seats, found.agents > 1 && found.agents <= 8 ? Array.from({ length: found.agents }, (_, i) =>
      tacit.pickOne(`agent ${i}`, i === found.agent, () => { if (i !== now.agent) sit(i); })) : null);
    where.textContent = found.over ? "The episode is over" :
      [found.horizon > 1 ? `Step ${found.step} of 0 to ${found.horizon - 1}` : `Round ${found.episode}`, found.states > 1 ? `, ${found.state}` : "",
        found.told === null ? "" : `. The signal tells you: ${found.told}`].join("");
    image.hidden = !found.picture;
    if (found.picture) { image.src = found.picture; image.alt = `picture of ${found.state}`; }
    drawButtons(found);
    drawPayoffs(found);
    const last = found.turns[found.turns.length - 1];
    const others = last ? last.actions.map((name, i) => (i === found.agent ? null : `agent ${i} ${name}`)).filter(Boolean).slice(0, 6).join(", ") : "";
    const advice = (turn) => (turn.told !== null
      ? (turn.told_regret < 5e-10 ? ` Told ${turn.told}, nothing is better.` : ` Told ${turn.told}, ${turn.told_best} would have been better by ${tacit.number(turn.told_regret)} on average.`)
      : turn.regret === null ? "" : turn.regret < 5e-10 ? " As good as the best response." : ` ${turn.best} would have been better by ${tacit.number(turn.regret)} on average.`);
    news.textContent = last ? `You played ${last.actions[found.agent]}${others ? `, ${others}` : ""}: you get ${tacit.number(last.reward)}.` + advice(last)
      : `You are agent ${found.agent}. Choose an action.`;
    const many = found.tally.episodes, signal = found.judge.told_best !== null;
    tacit.fill(score, [
      ["this episode", tacit.number(found.earned)],
      ["episodes", String(many)],
      ["your mean", many ? tacit.number(found.tally.mean) : "–"],
      ["the policy in your place", tacit.number(found.judge.value)],
      [`${found.judge.exact ? "the best response" : "the best response, at most"}${signal ? " that ignores the signal" : ""}`, tacit.number(found.judge.best)],
      ...(signal ? [["the best response that sees it", tacit.number(found.judge.told_best)]] : []),
      [signal ? "your regret against one that ignores it" : "your regret per episode", !many ? "–" : signal ? tacit.number(found.tally.regret) : cost(found.tally.regret)],
      ...(signal ? [["your regret against one that sees it", many ? cost(found.tally.told_regret) : "–"]] : []),
    ].map(([name, value]) => tacit.el("div", {}, tacit.el("dt", {}, name), tacit.el("dd", {}, value))));
    tacit.fill(past, found.turns.length ? tacit.el("table", { class: "numbers" },
      tacit.heads(["step", "!state", "!you", ...Array.from({ length: Math.min(found.agents, 6) }, (_, i) => i).filter((i) => i !== found.agent)
        .map((i) => `!agent ${i}`), "you get", ...(signal ? ["!told", "!best response that sees it", "regret against it"] : ["!best response", "regret"])]),
      tacit.el("tbody", {}, [...found.turns].reverse().map((turn) => tacit.el("tr", {}, tacit.el("td", {}, turn.step), tacit.el("td", { class: "word" }, turn.state),
        tacit.el("td", { class: "word" }, turn.actions[found.agent]),
        turn.actions.slice(0, 6).map((name, i) => (i === found.agent ? null : tacit.el("td", { class: "word" }, name))),
        tacit.el("td", {}, tacit.number(turn.reward)), signal ? tacit.el("td", { class: "word" }, turn.told) : null,
        tacit.el("td", { class: "word" }, (signal ? turn.told_best : turn.best) || "–"), tacit.el("td", {}, cost(signal ? turn.told_regret : turn.regret))))))
      : tacit.el("p", { class: "note" }, "nothing was played yet"));
    drawResult(found);
    if (found.over && !(before && before.over && before.episode === found.episode)) result.querySelector("button").focus();
    else if (before && before.over && !found.over) buttons.querySelector("button").focus();
  };

  const drawButtons = (found) => {
    const key = JSON.stringify([found.actions]);
    if (key !== made) {
      made = key;
      tacit.fill(buttons, found.actions.map((name, a) => tacit.el("button", { type: "button", class: "action", onclick: () => act(a), "aria-keyshortcuts": a < 10 ? String(a) : null },
        a < 10 ? tacit.el("kbd", { "aria-hidden": "true" }, a) : null, name)));
    }
    buttons.hidden = found.over;
  };

  const drawPayoffs = (found) => {
    const table = found.payoffs;
    if (!table) { tacit.fill(payoffs); return; }
    const other = 1 - found.agent, all = table.cells.flat();
    if (all.length > 1 && all.every(([mine, theirs]) => mine === all[0][0] && theirs === all[0][1])) {
      tacit.fill(payoffs, tacit.el("h3", {}, "Rewards"), tacit.el("p", { class: "note" }, `Here every choice pays ${tacit.number(all[0][0])}.`));
      return;
    }
    tacit.fill(payoffs, tacit.el("h3", {}, found.over ? "Rewards of the last step" : "Rewards of this step"), tacit.el("table", { class: "numbers payoffs" },
      tacit.el("caption", { class: "note" }, table.shared ? "you choose the row; both get the same" : `you choose the row; your reward, and that of agent ${other}`),
      tacit.el("thead", {}, tacit.el("tr", {}, tacit.el("td", {}), table.columns.map((name) => tacit.el("th", { scope: "col" }, name)))),
      tacit.el("tbody", {}, table.rows.map((name, a) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name),
        table.cells[a].map(([mine, theirs], b) => tacit.el("td", { "aria-current": table.played && table.played[0] === a && table.played[1] === b ? "true" : null }, tacit.number(mine), table.shared ? null : tacit.el("span", { class: "count" }, `, ${tacit.number(theirs)}`))))))));
  };

  const drawResult = (found) => {
    result.hidden = !found.over;
    if (!found.over) { tacit.fill(result); return; }
    const one = found.result;
    const rows = [["you", one.earned]];
    const which = one.told_regret === null ? "the best response" : "the best response that ignores the signal";
    if (one.same_luck !== null) rows.push([`${which}, with the same luck`, one.same_luck]);
    if (one.best !== null) rows.push([`${which}, on average`, one.best]);
    else if (found.judge.best !== null) rows.push(["any strategy, on average, at most", found.judge.best]);
    if (found.judge.value !== null) rows.push(["the policy, on average", found.judge.value]);
    const sizes = rows.map(([, x]) => x), low = Math.min(0, ...sizes), high = Math.max(0, ...sizes), span = high - low || 1;
    tacit.fill(result,
      tacit.el("p", { class: "verdict" }, `You got ${tacit.number(one.earned)}.`, one.regret === null ? "" : one.told_regret !== null
        ? ` On average your regret is ${tacit.number(one.regret)} against the best response that ignores the signal, and ${cost(one.told_regret)} against the one that sees it.`
        : one.regret < 5e-10 ? " Every choice was a best response." : ` Better choices would have been worth ${tacit.number(one.regret)} more on average; luck was worth ${tacit.number(one.luck)}.`),
      tacit.el("table", { class: "numbers bars" }, tacit.el("tbody", {}, rows.map(([name, x]) => tacit.el("tr", {}, tacit.el("th", { scope: "row" }, name),
        tacit.el("td", {}, tacit.number(x)), tacit.el("td", { class: "bar-cell" }, tacit.el("div", { class: "bar", "aria-hidden": "true" },
          tacit.el("span", { class: "bar-sure", style: { left: `${100 * (Math.min(0, x) - low) / span}%`, width: `${100 * Math.abs(x) / span}%` } }))))))),
      tacit.el("button", { type: "button", class: "action again", onclick: again }, "play again"));
  };
  tacit.pickOne = (label, on, call) => tacit.el("button", { type: "button", class: "chip", "aria-pressed": String(on), onclick: call }, label);
  send("sit", {});
}
