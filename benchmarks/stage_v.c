/* Stage-based V-learning for CCE as one would write it by hand in C: one loop, one exponential per agent and step.

   cc -O3 -march=native -shared -fPIC stage_v.c -o stage_v.so -lm
   With -DSIZES=1 and -DAGENTS=… -DACTIONS=… -DSTEPS=… -DSTATES=… all sizes are known to the compiler; otherwise only AGENTS.

   The game is stationary: cumulative[S*J][S], reward[AGENTS][S*J]. Uniform numbers are drawn ahead, as in tacit. */

#include <math.h>
#include <stdint.h>

#ifndef AGENTS
#define AGENTS 2
#endif

typedef struct {
    int64_t actions, steps, states;
    double iota, bonus;          /* bonus: b·√n */
    double *eta_loss, *weight;   /* [AGENTS][H*S][A]  η·L and exp(reference − η·L) */
    double *total, *reference, *eta, *upper_sum, *lower_sum; /* [AGENTS][H*S] */
    double *upper, *lower;       /* [AGENTS][H+1][S] */
    int64_t *visits, *length;    /* [AGENTS][H*S] */
    double *bound;               /* [AGENTS] */
    const double *cumulative, *reward, *start;
} Learner;

static inline int64_t pick(const double *cumulative, int64_t n, double u) {
    int64_t k = 0;
    while (k < n - 1 && u >= cumulative[k]) k++;
    return k;
}

void stage_v(Learner *l, int64_t episodes, const double *world_u, const double *agent_u, double *returns) {
#ifdef SIZES
    enum { A = ACTIONS, H = STEPS, S = STATES };
#else
    const int64_t A = l->actions, H = l->steps, S = l->states;
#endif
    const int64_t C = H * S;
    int64_t J = 1;
    for (int i = 0; i < AGENTS; i++) J *= A;
    const double scale = 1.0 / H;
    for (int64_t k = 0; k < episodes; k++) {
        int64_t s = pick(l->start, S, world_u[k * H]);
        for (int64_t h = 0; h < H; h++) {
            const int64_t c = h * S + s;
            int64_t chosen[AGENTS], joint = 0;
            for (int i = 0; i < AGENTS; i++) {
                const double *w = l->weight + (i * C + c) * A;
                double left = agent_u[(i * episodes + k) * H + h] * l->total[i * C + c];
                int64_t a = 0;
                while (a < A - 1 && (left -= w[a]) >= 0) a++;
                chosen[i] = a;
                joint = joint * A + a;
            }
            const int64_t row = s * J + joint;
            const int64_t s_next = h + 1 < H ? pick(l->cumulative + row * S, S, world_u[k * H + h + 1]) : s;
            for (int i = 0; i < AGENTS; i++) {
                const int64_t cell = i * C + c, a = chosen[i];
                double *upper = l->upper + i * (H + 1) * S, *lower = l->lower + i * (H + 1) * S;
                double *loss = l->eta_loss + cell * A, *w = l->weight + cell * A;
                if (h == 0) l->bound[i] += upper[s] - lower[s];
                const double r = l->reward[i * S * J + row];
                const double ahead = r + upper[(h + 1) * S + s_next];
                l->upper_sum[cell] += ahead;
                l->lower_sum[cell] += r + lower[(h + 1) * S + s_next];
                const double eta = l->eta[cell], prob = w[a] / l->total[cell];
                loss[a] += eta * (H - h - ahead) * scale / (prob + 0.5 * eta);
                const double grown = exp(l->reference[cell] - loss[a]);
                l->total[cell] += grown - w[a];
                w[a] = grown;
                if (l->total[cell] < 0.5) {
                    double least = loss[0], total = 0;
                    for (int64_t b = 1; b < A; b++) least = loss[b] < least ? loss[b] : least;
                    for (int64_t b = 0; b < A; b++) total += w[b] = exp(least - loss[b]);
                    l->total[cell] = total;
                    l->reference[cell] = least;
                }
                const int64_t n = ++l->visits[cell];
                if (n == l->length[cell]) {
                    const double bonus = l->bonus / sqrt((double)n);
                    const double up = l->upper_sum[cell] / n + bonus, down = l->lower_sum[cell] / n - bonus;
                    upper[h * S + s] = up < H - h ? up : H - h;
                    lower[h * S + s] = down > 0 ? down : 0;
                    l->upper_sum[cell] = l->lower_sum[cell] = 0;
                    l->visits[cell] = 0;
                    l->length[cell] = n + n / H;
                    for (int64_t b = 0; b < A; b++) loss[b] = 0, w[b] = 1;
                    l->total[cell] = A;
                    l->reference[cell] = 0;
                    l->eta[cell] = sqrt(l->iota / (A * (double)l->length[cell]));
                }
                returns[k * AGENTS + i] += r;
            }
            s = s_next;
        }
    }
}
