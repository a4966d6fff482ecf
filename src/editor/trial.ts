// A trial: a cast of the draft in memory, in which a person answers for every step. The rules are those of a real cast; there is no
// program, no file and no clock. A trial is its answers: played again they lead to the same state, so a step back is one answer less.
import { dialects } from '../dialects/index.ts';
import { packetOf } from '../kernel/cast/packet.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import { decide } from '../kernel/decide.ts';
import type { Fact } from '../kernel/fact.ts';
import { check, issuesOf } from '../kernel/graph/check.ts';
import type { Issue } from '../kernel/graph/config.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import { contractOf } from '../kernel/graph/route.ts';
import type { Input, Request } from '../kernel/input.ts';
import { isObject, type Json, type JsonObject, objectAt } from '../kernel/json.ts';
import { pending } from '../kernel/pending.ts';
import { emptyState } from '../kernel/state.ts';
import { type EditorDocument, filledIn, inNames, nameOf, without } from './document.ts';
import type { DoneStep, OpenStep, Trial, TrialAnswer, TrialItem, TrialScript } from './trial-script.ts';

type TrialStart =
  | { readonly ok: true; readonly trial: Trial }
  | { readonly ok: false; readonly issues: readonly Issue[] };

export const TRIAL_ANSWERS_MAX = 500;
const CAST = 'trial';

/** Plays the answers one after the other. Those for which there is no step any more are left out. `toEnd` goes on with usual ones. */
export function playTrial(document: EditorDocument, script: TrialScript, toEnd = false): TrialStart {
  const config = staged(filledIn(document));
  const issues = issuesOf(check(config), document.name, config).filter(({ level }) => level === 'error');
  if (issues.length > 0) return { ok: false, issues };
  const stage = new Stage(document, config);
  stage.start(script.request);
  const answers: TrialAnswer[] = [];
  for (const answer of script.answers.slice(0, TRIAL_ANSWERS_MAX)) if (stage.answer(answer)) answers.push(answer);
  while (toEnd && answers.length < TRIAL_ANSWERS_MAX) {
    const [next] = stage.open();
    const answer = next && { socket: next.socket, text: next.usual };
    if (!answer || !stage.answer(answer)) break;
    answers.push(answer);
  }
  return { ok: true, trial: stage.trial({ request: script.request, answers }) };
}

/** What the agent of a socket would read at its first turn, after usual answers before it; null where no way leads there. */
export function briefOf(document: EditorDocument, socket: string, request = 'the request of the cast'): string | null {
  const config = staged(filledIn(document));
  if (issuesOf(check(config), document.name, config).some(({ level }) => level === 'error')) return null;
  const stage = new Stage(document, config);
  stage.start(request);
  for (let steps = 0; steps < BRIEF_STEPS_MAX; steps++) {
    const open = stage.open();
    const there = open.find((step) => step.socket === socket);
    if (there) return there.brief;
    const [next] = open;
    if (!next || !stage.answer({ socket: next.socket, text: next.usual })) return null;
  }
  return null;
}

const BRIEF_STEPS_MAX = 60;

/** Without what needs a machine: no attestation, no checks of files, and no person talks in between. */
function staged(config: JsonObject): JsonObject {
  const materia = Object.entries(objectAt(config, 'materia')).map(([id, written]): [string, Json] => [
    id,
    isObject(written) ? without(written, 'identity', 'sandbox', 'multiTurn') : written,
  ]);
  return { ...without(config, 'checkers', 'surfaces'), worktree: false, materia: Object.fromEntries(materia) };
}

class Stage {
  readonly #state = emptyState();
  readonly #facts: Fact[] = [];
  readonly #done: DoneStep[] = [];
  readonly #path: string[] = [];
  readonly #document: EditorDocument;
  readonly #config: JsonObject;
  #now = Date.parse('2026-01-01T00:00:00.000Z');

  constructor(document: EditorDocument, config: JsonObject) {
    this.#document = document;
    this.#config = config;
  }

  get #cast(): Cast | undefined {
    return this.#state.casts[CAST];
  }

  start(request: string): void {
    const { name } = this.#document;
    const rules = resolve(this.#config, name);
    this.#submit({ kind: 'cast.start', cast: CAST, request, loadout: name, rules, script: {} });
    this.#prepare();
  }

  /** False where no step waits for it. */
  answer({ socket, text }: TrialAnswer): boolean {
    const cast = this.#cast;
    const owed = cast ? this.#dispatched(cast).find(([turn]) => turn.socket === socket) : undefined;
    if (!cast || !owed) return false;
    const [turn, attempt] = owed;
    const { item, brief } = this.#shown(cast, turn, attempt);
    const before = this.#facts.length;
    const common = { cast: CAST, turn: turn.id, attempt };
    this.#submit(
      text === null
        ? { kind: 'attempt.failed', ...common, fault: 'crash', reason: 'a person let it fail' }
        : { kind: 'attempt.output', ...common, output: text },
    );
    this.#prepare();
    const news = this.#facts.slice(before);
    const refused = news.some(({ kind }) => kind === 'attempt.refused');
    const accepted = news.some(({ kind }) => kind === 'turn.accepted');
    this.#done.push({
      ...{ socket, name: this.#name(socket), item, brief, answer: text ?? '' },
      outcome: accepted ? 'accepted' : refused ? 'refused' : 'failed',
      says: news.flatMap((fact) => this.#sentence(fact)),
      data: this.#cast?.data ?? {},
    });
    return true;
  }

  open(): readonly OpenStep[] {
    const cast = this.#cast;
    if (!cast) return [];
    return this.#dispatched(cast).map(([turn, attempt]) => {
      const shown = this.#shown(cast, turn, attempt);
      return {
        ...{ socket: turn.socket, name: this.#name(turn.socket), attempt },
        ...shown,
        refusal: turn.refusal ? this.#words('', turn.refusal.verdict.reason) : null,
        usual: usualAnswer(cast, turn.socket),
      };
    });
  }

  trial(script: TrialScript): Trial {
    const cast = this.#cast;
    return {
      script,
      done: this.#done,
      open: this.open(),
      data: cast?.data ?? {},
      path: this.#path,
      status: cast?.status ?? 'failed',
      code: cast?.code ?? null,
      reason: cast?.reason ? this.#words('', cast.reason) : '',
    };
  }

  #name(socket: string): string {
    return nameOf(this.#document, socket);
  }

  /** A reason as a sentence with one full stop, in the names of steps. */
  #words(before: string, reason: string): string {
    return `${before}${inNames(this.#document, reason).replace(/\.+$/, '')}.`;
  }

  #shown(cast: Cast, turn: Turn, attempt: number): Pick<OpenStep, 'item' | 'brief' | 'isUtility'> {
    const { brief, utility } = packetOf(cast, turn);
    const started = this.#facts.findLast(
      (fact) => fact.kind === 'attempt.started' && fact.turn === turn.id && fact.attempt === attempt,
    );
    const written = started?.kind === 'attempt.started' ? started.brief : brief;
    const input = utility === null ? written : JSON.stringify(utility, null, 2);
    return {
      item: itemOf(turn),
      brief: input,
      isUtility: cast.rules.materia[materiaId(cast, turn)]?.type === 'utility',
    };
  }

  /** Turns whose attempt was handed out. */
  #dispatched(cast: Cast): readonly (readonly [Turn, number])[] {
    return pending(cast).flatMap((effect) => {
      const turn = effect.kind === 'dispatch' ? cast.turns[effect.turn] : undefined;
      return turn && effect.kind === 'dispatch' ? [[turn, effect.attempt] as const] : [];
    });
  }

  /** Does what a machine does without being asked: folders are made ready, and work is merged. */
  #prepare(): void {
    for (let steps = 0; steps < PREPARED_MAX; steps++) {
      const cast = this.#cast;
      const effect = cast && pending(cast).find(({ kind }) => kind !== 'timer' && kind !== 'dispatch');
      if (!effect || effect.kind === 'timer' || effect.kind === 'dispatch') return;
      const { kind, turn, attempt } = effect;
      const common = { cast: CAST, turn, attempt };
      if (kind === 'prepare') this.#submit({ kind: 'turn.prepared', ...common });
      else if (kind === 'merge') this.#submit({ kind: 'turn.merged', ...common, merge: { ok: true, commit: null } });
      else if (kind === 'park') this.#submit({ kind: 'turn.parked', ...common, kept: null });
      else return;
    }
  }

  #submit(request: Request): void {
    this.#now += 1;
    const { facts } = decide(dialects, this.#state, { ...request, at: this.#now, by: 'trial' } as Input);
    this.#facts.push(...facts);
    for (const fact of facts) if (fact.kind === 'turn.started') this.#path.push(fact.socket);
  }

  #sentence(fact: Fact): readonly string[] {
    switch (fact.kind) {
      case 'attempt.refused':
        return [
          this.#words('Refused: ', fact.verdict.reason),
          ...(fact.repair ? ['It may repair its answer once.'] : []),
        ];
      case 'attempt.failed':
        return [this.#words('The attempt failed: ', fact.reason)];
      case 'edge.taken':
        return [fact.to === 'end' ? 'It leads to the end.' : `It leads to ${this.#name(fact.to)}.`];
      case 'exit.taken':
        return [
          fact.to === 'end'
            ? 'No item is left, and the loop has no exit for this answer.'
            : `No item is left. The loop is left to ${this.#name(fact.to)}.`,
        ];
      case 'cast.completed':
        return ['The cast is complete.'];
      case 'cast.failed':
        return [this.#words('The cast fails: ', fact.reason)];
      case 'cast.waiting':
        return [this.#words('The cast waits for a person: ', fact.reason)];
      default:
        return [];
    }
  }
}

const PREPARED_MAX = 1_000;

function materiaId(cast: Cast, turn: Turn): string {
  return cast.rules.graph.sockets[turn.socket]?.materia ?? '';
}

function itemOf({ item }: Turn): TrialItem | null {
  return item === null ? null : { number: item.index + 1, title: item.label };
}

/** The smallest answer that the contract of a socket accepts and that leads on. */
function usualAnswer(cast: Pick<Cast, 'rules'>, socket: string): string {
  const { graph } = cast.rules;
  const { parse, materia } = graph.sockets[socket] ?? {};
  if (parse !== 'json') return `${materia ?? socket} is done.`;
  const { requires, assign } = contractOf(cast.rules, socket);
  const fields = [...requires, ...Object.values(assign).flatMap((source) => /^\$\.([^.]+)$/.exec(source)?.[1] ?? [])];
  const answer: Record<string, Json> = {};
  for (const field of fields) answer[field] = usualValue(field);
  return JSON.stringify(answer, null, 2);
}

function usualValue(field: string): Json {
  if (field === 'satisfied') return true;
  if (field === 'workItems')
    return [1, 2].map((n) => ({ title: `Item ${n}`, context: `What there is to know about item ${n}.` }));
  return `the ${field}`;
}
