/* Stage-based V-learning for CCE in C, as fast as we can write it: the yardstick of benchmarks/learning.py.

   cc -O3 -march=native -shared -fPIC -DAGENTS=… -DACTIONS=… -DSTEPS=… -DSUCCESSORS=… stage_v.c -o stage_v.so -lm

   All sizes but the number of states are known to the compiler. What one visit touches lies together: the cells of all
   agents at (h, s), and the rewards and successors of a row. Uniform numbers are drawn ahead, as in tacit, and the work
   is the same: the same draws give the same values. The game is stationary, every row has SUCCESSORS successors. */

#include <math.h>
#include <stdint.h>

enum { N = AGENTS, A = ACTIONS, H = STEPS, W = SUCCESSORS };

typedef struct {
    double upper, lower, upper_sum, lower_sum;
    int64_t visits, length;
    double loss[A], weight[A], total, reference, eta; /* η·L, exp(reference − η·L), its sum */
} Cell;

typedef struct {
    double reward[N], cumulative[W];
    int32_t next[W];
} Row;

typedef struct {
    double iota, bonus, bound[N]; /* bonus: b·√n */
    int64_t states, starts;
    const double *start;        /* [starts] cumulative */
    const int64_t *start_state; /* [starts] */
    const Row *row;             /* [S][A^N] */
    Cell *cell;                 /* [H + 1][S][N] */
} Learner;

int64_t size_of_cell(void) { return sizeof(Cell); }
int64_t size_of_row(void) { return sizeof(Row); }

void stage_v(Learner *l, int64_t episodes, const double *world_u, const double *agent_u, double *returns) {
    int64_t J = 1;
    for (int i = 0; i < N; i++) J *= A;
    const int64_t S = l->states;
    const double scale = 1.0 / H;
    for (int64_t k = 0; k < episodes; k++) {
        int64_t first = 0;
        while (first < l->starts - 1 && world_u[k * H] >= l->start[first]) first++;
        int64_t s = l->start_state[first];
        double total[N] = {0};
        for (int i = 0; i < N; i++) l->bound[i] += l->cell[s * N + i].upper - l->cell[s * N + i].lower;
        for (int64_t h = 0; h < H; h++) {
            Cell *cell = l->cell + (h * S + s) * N;
            int64_t chosen[N], joint = 0;
            for (int i = 0; i < N; i++) {
                double left = agent_u[(i * episodes + k) * H + h] * cell[i].total;
                int64_t a = 0;
                for (int b = 0; b < A - 1; b++) a += (left -= cell[i].weight[b]) >= 0;
                chosen[i] = a;
                joint = joint * A + a;
            }
            const Row *row = l->row + s * J + joint;
            int64_t s_next = s;
            if (h + 1 < H) {
                const double u = world_u[k * H + h + 1];
                int w = 0;
                for (int b = 0; b < W - 1; b++) w += u >= row->cumulative[b];
                s_next = row->next[w];
            }
            const Cell *ahead = l->cell + ((h + 1) * S + s_next) * N;
            for (int i = 0; i < N; i++) {
                Cell *c = cell + i;
                const int64_t a = chosen[i];
                const double r = row->reward[i], above = r + ahead[i].upper;
                c->upper_sum += above;
                c->lower_sum += r + ahead[i].lower;
                const double prob = c->weight[a] / c->total;
                c->loss[a] += c->eta * ((H - h - above) * scale) / (prob + 0.5 * c->eta);
                const double grown = exp(c->reference - c->loss[a]);
                c->total += grown - c->weight[a];
                c->weight[a] = grown;
                if (c->total < 0.5) {
                    double least = c->loss[0], sum = 0;
                    for (int b = 1; b < A; b++) least = c->loss[b] < least ? c->loss[b] : least;
                    for (int b = 0; b < A; b++) sum += c->weight[b] = exp(least - c->loss[b]);
                    c->total = sum;
                    c->reference = least;
                }
                const int64_t n = ++c->visits;
                if (n == c->length) {
                    const double bonus = l->bonus / sqrt((double)n);
                    const double up = c->upper_sum / n + bonus, down = c->lower_sum / n - bonus;
                    c->upper = up < H - h ? up : H - h;
                    c->lower = down > 0 ? down : 0;
                    c->upper_sum = c->lower_sum = 0;
                    c->visits = 0;
                    c->length = n + n / H;
                    for (int b = 0; b < A; b++) c->loss[b] = 0, c->weight[b] = 1;
                    c->total = A;
                    c->reference = 0;
                    c->eta = sqrt(l->iota / (A * (double)c->length));
                }
                total[i] += r;
            }
            s = s_next;
        }
        for (int i = 0; i < N; i++) returns[k * N + i] = total[i];
    }
}

/* The bound that memory sets: visit random cells, each of which is known only when the one before has been read. */
int64_t chase(const int64_t *next, int64_t words, int64_t steps, int64_t place) {
    for (int64_t k = 0; k < steps; k++) place = next[place * words];
    return place;
}
