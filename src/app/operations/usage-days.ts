// What agents used, by day, agent and model. The log is read once; what was counted is kept as long as the store is open.
import { setImmediate as pass } from 'node:timers/promises';
import type { Store } from '../../engine/store.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { usageIn } from '../cast-figures.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export type UsageRow = {
  /** In UTC. */
  readonly day: string;
  /** The materia. */
  readonly agent: string;
  readonly runner: string | null;
  readonly model: string | null;
  input: number;
  output: number;
  cost: number;
  attempts: number;
};

type Rules = Extract<Entry['fact'], { kind: 'cast.started' }>['rules'];

type Counted = {
  seq: number;
  readonly rows: Map<string, UsageRow>;
  readonly rules: Map<string, Rules>;
  /** By cast and turn, its socket. */
  readonly sockets: Map<string, string>;
  busy: Promise<void>;
};

const PAGE = 2_000;
const known = new WeakMap<object, Counted>();

export const run: Run<FieldsOf<'usage.days'>> = async (workspace, { since = '' }) => {
  const rows = workspace.hasLog() ? await usageOf(workspace.castStore()) : [];
  const within = rows.filter(({ day }) => day >= since);
  return allow(`${within.length} rows`, { rows: within.map((row): JsonObject => ({ ...row })) });
};

async function usageOf(store: Pick<Store, 'read'>): Promise<readonly UsageRow[]> {
  const counted = known.get(store) ?? {
    ...{ seq: 0, rows: new Map(), rules: new Map(), sockets: new Map() },
    busy: Promise.resolve(),
  };
  known.set(store, counted);
  // Two looks at once must not count an entry twice.
  const work = counted.busy.then(() => countOn(store, counted));
  counted.busy = work.catch(() => undefined);
  await work;
  return [...counted.rows.values()].toSorted((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : b.cost - a.cost));
}

async function countOn(store: Pick<Store, 'read'>, counted: Counted): Promise<void> {
  for (let isMore = true; isMore; ) {
    const page = await store.read({ after: counted.seq, limit: PAGE, texts: 'digest' });
    for (const entry of page) count(counted, entry);
    counted.seq = page.at(-1)?.seq ?? counted.seq;
    isMore = page.length === PAGE;
    if (isMore) await pass();
  }
}

function count({ rows, rules, sockets }: Counted, { at, fact }: Entry): void {
  if (fact.kind === 'cast.started') rules.set(fact.cast, fact.rules);
  if (fact.kind === 'turn.started') sockets.set(`${fact.cast} ${fact.turn}`, fact.socket);
  const usage = usageIn(fact);
  if (!usage || !('cast' in fact) || !('turn' in fact)) return;
  const cast = rules.get(String(fact.cast));
  const socket = sockets.get(`${String(fact.cast)} ${String(fact.turn)}`) ?? '';
  const agent = cast?.graph.sockets[socket]?.materia ?? socket;
  const materia = cast?.materia[agent];
  const told = 'agent' in fact && typeof fact.agent === 'object' ? fact.agent : undefined;
  const runner = told?.runner ?? (materia?.type === 'agent' ? materia.runner : null);
  const model = told?.model ?? (materia?.type === 'agent' ? (materia.model ?? null) : null);
  const day = at.slice(0, 10);
  const key = JSON.stringify([day, agent, runner, model]);
  const row = rows.get(key) ?? { day, agent, runner, model, input: 0, output: 0, cost: 0, attempts: 0 };
  row.input += usage.input;
  row.output += usage.output;
  row.cost += usage.cost;
  row.attempts += 1;
  rows.set(key, row);
}
