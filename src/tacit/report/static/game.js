"use strict";
// A game from its tables, and a person in the place of one agent: what `tacit.report.play` is in Python.
tacit.decode = (content, Kind) => new Kind(Uint8Array.from(atob(content), (c) => c.charCodeAt(0)).buffer);

// The first k from `first` on with u < cumulative[k]; the last one where rounding leaves none.
tacit.pick = function (cumulative, first, end, u) {
  let k = first;
  while (k < end - 1 && !(u < cumulative[k])) k += 1;
  return k;
};

tacit.Game = class {
  constructor(tables) {
    Object.assign(this, tables);
    const { transitions, rewards, policy, judges } = tables;
    this.counts = tables.actions.map((names) => names.length);
    this.joint = this.counts.reduce((product, count) => product * count, 1);
    this.first = tacit.decode(transitions.first, Int32Array);
    this.next = tacit.decode(transitions.state, Int32Array);
    this.cumulative = tacit.decode(transitions.cumulative, Float64Array);
    this.pay = Object.fromEntries(Object.entries(rewards.tables).map(([i, table]) => [i, tacit.decode(table, Float64Array)]));
    this.probs = policy.probs.map((table) => tacit.decode(table, Float64Array));
    this.judged = Object.fromEntries(Object.entries(judges).map(([i, judge]) => [i, { ...judge, q: tacit.decode(judge.q, Float64Array) }]));
  }

  place(steps, h, s) { return (steps > 1 ? h : 0) * this.states.length + s; }

  row(steps, h, s, actions) {
    return this.place(steps, h, s) * this.joint + actions.reduce((index, a, i) => index * this.counts[i] + a, 0);
  }

  begin(u) { return this.start.state[tacit.pick(this.start.cumulative, 0, this.start.state.length, u)]; }

  step(h, s, actions, u) {
    const row = this.row(this.transitions.steps, h, s, actions);
    return this.next[tacit.pick(this.cumulative, this.first[row], this.first[row + 1], u)];
  }

  reward(i, h, s, actions) { return this.pay[i][this.row(this.rewards.steps, h, s, actions)]; }

  // What all agents play: each draws with its own number, or all draw one joint action with the last.
  draw(h, s, numbers) {
    const place = this.place(this.policy.steps, h, s);
    const choose = (probs, count, u) => {
      let rest = u, chosen = 0;
      for (let a = 0; a < count; a += 1) {
        const prob = probs[place * count + a];
        if (prob > 0) { chosen = a; if (rest < prob) break; }
        rest -= prob;
      }
      return chosen;
    };
    if (this.policy.product) return this.counts.map((count, i) => choose(this.probs[i], count, numbers[i]));
    let index = choose(this.probs[0], this.joint, numbers[this.agents]);
    return this.counts.map((_, i) => {
      const inner = this.counts.slice(i + 1).reduce((product, count) => product * count, 1), a = Math.floor(index / inner);
      index %= inner;
      return a;
    });
  }
};

tacit.Player = class {
  constructor(game, agent) {
    this.game = game;
    this.agent = agent;
    this.judge = game.judged[agent];
    this.episode = 0;
    this.tally = { episodes: 0, total: 0, regret: 0 };
    this.begin();
  }

  begin() {
    this.episode += 1;
    this.luck = [];
    this.h = 0;
    this.state = this.first = this.game.begin(Math.random());
    this.turns = [];
    this.listen();
  }

  // The numbers of a step, which are the same for whoever plays it again: one for each agent, one for all, the world's.
  numbers(h) {
    while (this.luck.length <= h) this.luck.push(Array.from({ length: this.game.agents + 2 }, () => Math.random()));
    return this.luck[h];
  }

  listen() {
    this.recommended = this.judge.hears && !this.over ? this.game.draw(this.h, this.state, this.numbers(this.h))[this.agent] : null;
  }

  get over() { return this.h >= this.game.horizon || this.state === this.game.end; }

  // Values of the player's actions at a step and state, given the recommendation where there is one.
  values(h, s, recommended) {
    const A = this.game.counts[this.agent], place = h * this.game.states.length + s;
    const from = (recommended === null ? place : place * A + recommended) * A;
    return this.judge.q.subarray(from, from + A);
  }

  act(a) {
    const { h, state: s, recommended, game } = this, numbers = this.numbers(h);
    const actions = game.draw(h, s, numbers);
    actions[this.agent] = a;
    const q = this.values(h, s, recommended), best = q.indexOf(Math.max(...q));
    const turn = { h, state: s, actions, reward: game.reward(this.agent, h, s, actions), best, recommended, regret: q[best] - q[a] };
    this.turns.push(turn);
    this.state = game.step(h, s, actions, numbers[game.agents + 1]);
    this.h = h + 1;
    this.listen();
    if (this.over) {
      this.tally.episodes += 1;
      this.tally.total += this.sum("reward");
      this.tally.regret += this.sum("regret");
    }
    return turn;
  }

  sum(name) { return this.turns.reduce((total, turn) => total + turn[name], 0); }

  // How an episode that is over went.
  result() {
    const best = this.judge.first[this.first], earned = this.sum("reward"), regret = this.sum("regret");
    return { earned, regret, best, luck: earned - (best - regret) };
  }

  // Rewards of a step of two agents: own actions by the other's, own reward and the other's.
  payoffs() {
    const { game, agent } = this, last = this.over ? this.turns[this.turns.length - 1] : null;
    if (game.agents !== 2 || Math.max(...game.counts) > 8) return null;
    const h = last ? last.h : this.h, s = last ? last.state : this.state, other = 1 - agent;
    const both = (a, b) => (agent === 0 ? [a, b] : [b, a]);
    const cells = game.actions[agent].map((_, a) => game.actions[other].map((__, b) => [game.reward(agent, h, s, both(a, b)), game.reward(other, h, s, both(a, b))]));
    return { rows: game.actions[agent], columns: game.actions[other], cells, played: last && [last.actions[agent], last.actions[other]],
      shared: cells.flat().every(([mine, theirs]) => mine === theirs) };
  }
};
