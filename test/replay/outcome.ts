// What a log comes to: where each of its casts stands, what it holds and where it went; what the workspace knows, trusts and
// has to decide about; and what is read from the log itself because it changes nothing.
import { foldAll } from '../../src/app/views/cast-view.ts';
import { shownCast } from '../../src/app/views/shown-cast.ts';
import { apply } from '../../src/kernel/apply.ts';
import { type Approval, isUnsettled } from '../../src/kernel/approval/state.ts';
import type { Entry, Fact } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import type { Knowledge } from '../../src/kernel/knowledge/state.ts';
import type { Quests } from '../../src/kernel/quest/state.ts';
import { emptyState } from '../../src/kernel/state.ts';
import type { Trust } from '../../src/kernel/trust/state.ts';

/** Parts that a log has nothing of are left out. */
export type Outcome = {
  readonly casts: Readonly<Record<string, CastOutcome>>;
  readonly kinds: readonly string[];
  /** The tasks by run and id. */
  readonly tasks?: Lines;
  readonly approvals?: Lines;
  readonly sections?: Readonly<Record<string, JsonObject>>;
  readonly suggestions?: Lines;
  readonly memory?: Lines;
  readonly dropped?: readonly string[];
  readonly registry?: string;
  readonly quarantine?: Lines;
  readonly cleared?: readonly string[];
  /** The quests and schedules by id. */
  readonly quests?: Lines;
  readonly noted?: readonly string[];
};
export type CastOutcome = {
  readonly status: string;
  readonly code: string | null;
  readonly data: Json;
  readonly path: readonly string[];
  readonly usage: Json;
  readonly accepted: number;
  /** The last word of each agent that reports with a status. */
  readonly reports?: readonly string[];
};
type Lines = Readonly<Record<string, string>>;

export function outcomeOf(entries: readonly Entry[]): Outcome {
  const state = emptyState();
  for (const entry of entries) apply(state, entry);
  const casts = Object.values(state.casts).map((cast): [string, CastOutcome] => {
    const own = entries.filter(({ fact }) => 'cast' in fact && fact.cast === cast.id);
    const { status, code, data, path, usage, accepted } = shownCast(foldAll(own), { seq: 0, hash: '' }, false);
    const steps = path.map(({ socket, visit, item }) => [socket, visit, item ?? ''].join(' ').trim());
    const reports = cast.reports.map((note) => `${note.agent} ${note.status} ${note.keyOutputs.join('; ')}`.trim());
    return [cast.id, { status, code, data, path: steps, usage: { ...usage }, accepted, ...given({ reports }) }];
  });
  const tasks = Object.values(state.ledger.tasks).map(({ run, id, status, owner }) => [
    `${run}/${id}`,
    `${status} ${owner}`,
  ]);
  const approvals = Object.values(state.approvals).map((approval) => [approval.id, standingOf(approval)]);
  return {
    casts: Object.fromEntries(casts),
    kinds: [...new Set(entries.map(({ fact }) => fact.kind))].sort(),
    ...given({ tasks: Object.fromEntries(tasks), approvals: Object.fromEntries(approvals) }),
    ...knowledgeOf(state.knowledge),
    ...trustOf(state.trust),
    ...given({ quests: Object.fromEntries(questLines(state.quests)) }),
    ...given({ noted: entries.flatMap(({ fact }) => notedBy(fact) ?? []) }),
  };
}

function standingOf(approval: Approval): string {
  const { grant, from, sealed } = approval;
  const standing = isUnsettled(approval) ? 'unsettled' : grant ? `granted by ${grant.by}` : 'waiting';
  return [standing, sealed.operation, from ? `${from.cast}/${from.turn}` : ''].join(' ').trim();
}

function questLines({ all, schedules, order, stops }: Quests): [string, string][] {
  const quests = Object.values(all).map((quest): [string, string] => {
    const { id, status, priority, attempts, cast } = quest;
    return [id, [status, priority, attempts, cast ?? '', order.indexOf(id)].join(' ')];
  });
  return [
    ...quests,
    ...Object.values(schedules).map(({ id, dueAt, last }): [string, string] => [id, `${dueAt} ${last} ${stops}`]),
  ];
}

function knowledgeOf({ sections, open, memory, dropped }: Knowledge): Partial<Outcome> {
  const held = Object.entries(sections).map(([name, { value, version, by }]) => [name, { value, version, by }]);
  return given({
    sections: Object.fromEntries(held),
    suggestions: Object.fromEntries(Object.values(open).map(({ id, agent, body }) => [id, `${agent}: ${body}`])),
    memory: Object.fromEntries(Object.values(memory).map(({ id, section, body }) => [id, `${section}: ${body}`])),
    dropped,
  });
}

function trustOf({ registry, quarantine, cleared }: Trust): Partial<Outcome> {
  const blocked = Object.values(quarantine).map(({ key, code, times }) => [key, `${code} ${times}`]);
  return {
    ...(registry ? { registry: `${registry.version} ${registry.digest}` } : {}),
    ...given({ quarantine: Object.fromEntries(blocked), cleared: Object.keys(cleared) }),
  };
}

/** What is there to be read and changes no state, in short. */
function notedBy(fact: Fact): string | null {
  switch (fact.kind) {
    case 'access.refused':
      return [fact.who, fact.code, fact.times, fact.what ?? '', fact.ended ?? ''].join(' ').trim();
    case 'approval.refused':
      return `${fact.id} ${fact.code} ${fact.differences.map(({ part }) => part).join()}`.trim();
    case 'blob.erased':
      return `${fact.digest} ${fact.from.join()}`;
    case 'cast.recovered':
      return `${fact.cast} ${fact.tasks.map(({ task, judged }) => `${task} ${judged}`).join()}`;
    case 'context.rejected':
      return `${fact.section} ${fact.code} ${fact.path ?? ''}`.trim();
    case 'evidence.deposited':
      return `${fact.id} ${fact.ac_id} ${fact.text ?? fact.artifact_path}`;
    case 'sink.stalled':
      return `${fact.sink} ${fact.waiting} ${fact.after}`;
    case 'sink.recovered':
      return `${fact.sink} ${fact.after}`;
    case 'sink.skipped':
      return `${fact.sink} ${fact.event}`;
    case 'handoff.judged':
      return `${fact.handoff} ${fact.code} ${fact.duplicateOf ?? ''}`.trim();
    default:
      return null;
  }
}

/** Only what holds something. */
function given<T extends Readonly<Record<string, object>>>(parts: T): Partial<T> {
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)) as Partial<T>;
}

/**
 * The kinds of facts that did nothing to the state wherever they occur, as those do that the program does not know; of all
 * kinds, or of the one that is asked about.
 */
export function silentKinds(entries: readonly Entry[], asked?: string): string[] {
  const state = emptyState();
  const [silent, heard] = [new Set<string>(), new Set<string>()];
  // The running time of a driver is counted whatever the fact is, so it is left out.
  for (const { ranMs: _ranMs, ...entry } of entries) {
    const { kind } = entry.fact;
    // A state is large, and is looked at only while nothing was seen of the kind.
    const isOpen = !heard.has(kind) && (asked === undefined || asked === kind);
    const before = isOpen ? JSON.stringify(state) : null;
    apply(state, entry);
    if (before === null) continue;
    if (before === JSON.stringify(state)) silent.add(kind);
    else heard.add(kind);
  }
  return [...silent].filter((kind) => !heard.has(kind)).sort();
}
