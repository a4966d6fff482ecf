// The log as people read it: each entry as one plain sentence. Everything a fact holds is in `baton log --json`; a
// sentence says what a reader wants to know, so that the story can be followed without anything else.

import { type SocketNames, socketNames, withSocketNames } from '../app/views/in-words.ts';
import type { Words } from '../kernel/approval/request.ts';
import type { CastFact, Touched } from '../kernel/cast/fact.ts';
import type { Item, Usage } from '../kernel/cast/state.ts';
import type { Entry, Fact } from '../kernel/fact.ts';
import type { Rules } from '../kernel/graph/config.ts';
import { conditionWords, isShownChanges } from '../kernel/graph/route.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { shownRefusal } from '../kernel/report/status.ts';
import { counted } from '../kernel/text.ts';
import { oneLine } from './terminal-text.ts';

const WORDS_MAX = 220;

/**
 * Tells entries in their order; what was said before is remembered, so that a turn can be called by its name. `names` are those
 * of casts that began before the first entry.
 */
export function storyteller(names: Readonly<Record<string, SocketNames>> = {}): (entry: Entry) => string {
  const casts = new Map(Object.entries(names).map(([cast, its]) => [cast, { ...nobody(), names: its }]));
  return ({ fact }) => {
    const known = 'cast' in fact && fact.cast !== undefined ? knownOf(casts, fact.cast) : nobody();
    learn(known, fact);
    return oneLine(withSocketNames(sentence(fact, known), known.names), WORDS_MAX);
  };
}

type Known = {
  /** By what rules the cast runs and where; null where its beginning was not told. */
  cast: { readonly rules: Rules; readonly root?: string } | null;
  names: SocketNames;
  readonly turns: Map<number, { socket: string; item: Item | null }>;
};

const nobody = (): Known => ({ cast: null, names: {}, turns: new Map() });

function knownOf(casts: Map<string, Known>, id: string): Known {
  const found = casts.get(id) ?? nobody();
  casts.set(id, found);
  return found;
}

function learn(known: Known, fact: Fact): void {
  if (fact.kind === 'cast.started') {
    known.cast = fact;
    known.names = socketNames(fact.rules);
  }
  if (fact.kind === 'turn.started') known.turns.set(fact.turn, { socket: fact.socket, item: fact.item });
}

function sentence(fact: Fact, known: Known): string {
  const kind = fact.kind.slice(0, fact.kind.indexOf('.'));
  return (TOLD_BY[kind] ?? plain)(fact, known) ?? plain(fact);
}

type Teller = (fact: Fact, known: Known) => string | null;

const TOLD_BY: Readonly<Record<string, Teller>> = {
  cast: castTold,
  turn: turnTold,
  attempt: attemptTold,
  task: ledgerTold,
  worklog: ledgerTold,
  deltas: ledgerTold,
  ledger: ledgerTold,
  approval: approvalTold,
  context: knowledgeTold,
  memory: knowledgeTold,
  evidence: knowledgeTold,
  edge: wayTold,
  exit: wayTold,
  rework: wayTold,
  cursor: wayTold,
  lanes: wayTold,
  items: wayTold,
  report: wayTold,
  registry: trustTold,
  quarantine: trustTold,
  quest: questTold,
  event: eventTold,
  sink: eventTold,
  wait: waitTold,
};

function castTold(fact: Fact): string | null {
  switch (fact.kind) {
    case 'cast.started':
      return `cast ${fact.cast} of ${fact.loadout} begins: ${fact.request}`;
    case 'cast.completed':
      return `cast ${fact.cast} is completed`;
    case 'cast.failed':
      return `cast ${fact.cast} failed: ${fact.reason}`;
    case 'cast.waiting':
      return `cast ${fact.cast} waits for a person: ${fact.reason}`;
    case 'cast.aborted':
    case 'cast.paused':
    case 'cast.resumed':
      return `cast ${fact.cast} is ${fact.kind.slice(5)}: ${fact.reason}`;
    case 'cast.recovered': {
      const judged = fact.tasks.map(({ task, judged, lastHeartbeatAt }) => {
        const when = new Date(lastHeartbeatAt).toISOString();
        return `${task} ${judged === 'alive' ? 'is alive' : 'has timed out'}, last heard of at ${when}`;
      });
      const { pid, host } = fact.driver;
      const found = judged.length === 0 ? 'no task was in progress' : judged.join('; ');
      return `cast ${fact.cast} is taken over, because process ${pid} on ${host} is gone: ${found}`;
    }
    case 'cast.recast':
      return `cast ${fact.cast} goes on from where it stood`;
    case 'cast.said': {
      const whom = fact.item === null ? `cast ${fact.cast}` : `the agents of ${fact.item} in cast ${fact.cast}`;
      return `a person says to ${whom}${fact.interrupts ? ', at once' : ''}: ${fact.text}`;
    }
    default:
      return null;
  }
}

function waitTold(fact: Fact, known: Known): string | null {
  switch (fact.kind) {
    case 'wait.begun':
      return `${where(known, fact.turn)} waits until ${fact.words}, at the latest ${new Date(fact.until).toISOString()}`;
    case 'wait.seen':
      return `${where(known, fact.turn)} goes on waiting: ${fact.found}`;
    case 'wait.ended': {
      const how = fact.met === null ? 'waits again' : fact.met ? 'has waited enough' : 'waited in vain';
      return `${where(known, fact.turn)} ${how}: ${fact.reason}`;
    }
    default:
      return null;
  }
}

function eventTold(fact: Fact, known: Known): string | null {
  switch (fact.kind) {
    case 'event.emitted':
      return `${where(known, fact.turn)} emits ${fact.type} (${fact.severity})${reasonText(fact.message)}`;
    case 'sink.stalled':
      return `${fact.waiting} events or more wait for the sink ${fact.sink}: ${fact.reason}`;
    case 'sink.recovered':
      return `the sink ${fact.sink} takes events again`;
    case 'sink.skipped':
      return `the sink ${fact.sink} leaves out the event of entry ${fact.event}${reasonText(fact.reason)}`;
    default:
      return null;
  }
}

function questTold(fact: Fact): string | null {
  switch (fact.kind) {
    case 'quest.added': {
      const from = fact.schedule === undefined ? '' : ` by ${fact.schedule}`;
      const after = fact.after.length === 0 ? '' : `, after ${fact.after.join(' and ')}`;
      return `${fact.quest} is added${from} (${fact.priority}${after}): ${fact.title}`;
    }
    case 'quest.moved':
      return `${fact.quest} moves ${fact.before === null ? 'to the end' : `before ${fact.before}`} (${fact.priority})`;
    case 'quest.started':
      return `${fact.quest} is done by cast ${fact.castId}${fact.attempt > 1 ? ` (attempt ${fact.attempt})` : ''}`;
    case 'quest.resumed':
      return `${fact.quest} goes on with cast ${fact.castId}`;
    case 'quest.ended':
      return fact.status === 'succeeded' ? `${fact.quest} succeeded` : `${fact.quest} failed: ${fact.reason}`;
    case 'quest.requeued':
      return `${fact.quest} is pending again${reasonText(fact.reason)}`;
    case 'quest.removed':
      return `${fact.quest} is removed${reasonText(fact.reason)}`;
    case 'quest.scheduled':
      return `${fact.schedule} adds a quest at ${fact.cron} (${fact.zone}), first at ${new Date(fact.dueAt).toISOString()}: ${fact.title}`;
    case 'quest.rang':
      return `${fact.schedule} was due${fact.open === undefined ? '' : `, and ${fact.open} is still open`}; next at ${new Date(fact.next).toISOString()}`;
    case 'quest.stopped':
      return `the queue is stopped${reasonText(fact.reason)}`;
    default:
      return null;
  }
}

function turnTold(fact: Fact, known: Known): string | null {
  switch (fact.kind) {
    case 'turn.started':
      return `${where(known, fact.turn)} is next`;
    case 'turn.accepted': {
      const items = isObject(fact.handoff.payload) ? fact.handoff.payload.workItems : undefined;
      const made = Array.isArray(items) ? `, with ${counted(items.length, 'item')}` : '';
      const how = fact.handoff.satisfied === false ? 'is accepted and not satisfied' : 'is accepted';
      const cut = fact.truncated ? ', its output cut at the limit' : '';
      return `${where(known, fact.turn)} ${how}${cut}${made}${touchedFiles(known, fact)}${reasonText(fact.context)}${used(fact.usage)}`;
    }
    case 'turn.reported': {
      const how = { continue: 'goes on', ask: 'asks a person', approval: 'asks for permission' }[fact.outcome];
      const what = fact.approval === undefined ? '' : ` (${fact.approval})`;
      return `${where(known, fact.turn)} ${how}${what}${touchedFiles(known, fact)}: ${fact.note}`;
    }
    case 'turn.answered':
      return `${where(known, fact.turn)} gets: ${fact.text}`;
    case 'turn.blocked':
      return `${where(known, fact.turn)} is blocked${touchedFiles(known, fact)}: ${fact.reason}`;
    case 'turn.held':
    case 'turn.unknown':
      return `${where(known, fact.turn)} is ${fact.kind.slice(5)}: ${fact.reason}`;
    case 'turn.asked':
      return `${where(known, fact.turn)} is a person's turn`;
    case 'turn.decided':
      return `${where(known, fact.turn)}: a person decides to ${fact.choice}${reasonText(fact.reason)}`;
    case 'turn.merged':
      return `${where(known, fact.turn)} is merged${fact.commit === null ? ', with nothing to merge' : ` as ${fact.commit.slice(0, 12)}`}`;
    case 'turn.freed':
    case 'turn.reopened':
    case 'turn.dropped':
      return `${where(known, fact.turn)} is ${fact.kind.slice(5)}`;
    default:
      return null;
  }
}

function attemptTold(fact: Fact, known: Known): string | null {
  switch (fact.kind) {
    case 'attempt.started': {
      const { attestation, envelope, fence, session } = fact;
      const who = attestation ? `, attested as ${attestation.agent} ${attestation.promptHash.slice(0, 12)}` : '';
      const from = envelope ? `, handoff ${envelope.handoff_id}` : '';
      const under = fence === undefined ? '' : `, fence ${fence}`;
      const resumed = session ? ', in the conversation of its earlier turn' : '';
      return `${where(known, fact.turn)} is dispatched (attempt ${fact.attempt})${who}${from}${under}${resumed}`;
    }
    case 'attempt.answered':
      return `${where(known, fact.turn)} has answered; what it did is looked at`;
    case 'attempt.refused':
      if (fact.loop) return `${where(known, fact.turn)} goes on with its loop: ${shownRefusal(fact).reason}`;
      return `${where(known, fact.turn)} is refused${fact.repair ? ', to be repaired' : ''}${touchedFiles(known, fact)}: ${fact.verdict.reason}`;
    case 'attempt.failed':
      return `${where(known, fact.turn)} failed${fact.again && !fact.isUnknown ? ', to be tried again' : ''}: ${fact.reason}`;
    case 'attempt.lost':
      return `${where(known, fact.turn)} was cut off: ${fact.reason}`;
    case 'attempt.interrupted':
      return `${where(known, fact.turn)} was interrupted by a person and goes on${used(fact.usage)}`;
    case 'attempt.spent':
      return `${where(known, fact.turn)} had no end${used(fact.usage)}`;
    default:
      return null;
  }
}

function ledgerTold(fact: Fact): string | null {
  switch (fact.kind) {
    case 'task.created':
      return `${fact.task} (${fact.spec.title}) is created for ${fact.owner}: ${fact.reason}`;
    case 'task.claimed':
      return `${fact.task} is claimed by ${fact.owner} under fence ${fact.fence}: ${fact.locks.map(({ path }) => (path === '.' ? 'everything' : path)).join(', ') || 'no paths'}`;
    case 'task.moved':
      return `${fact.task} moves from ${fact.from} to ${fact.to}: ${fact.reason}`;
    case 'task.refused':
      return `${fact.task === '' ? 'the ledger' : fact.task}: ${fact.asked} is refused: ${fact.reason}`;
    case 'worklog.added':
      return `${fact.task}: ${fact.by} notes: ${String(fact.entry.note ?? fact.entry.summary ?? fact.entry.status ?? '')}`;
    case 'deltas.applied':
      return `${counted(fact.deltas.length, 'delta')} of the ledger are applied`;
    case 'ledger.linked': {
      const links = Object.entries(fact.links).map(([link, target]) => `${link} leads to ${target}`);
      return links.length === 0 ? `${fact.root} has no known links` : `in ${fact.root} ${links.join(', ')}`;
    }
    case 'ledger.held':
    case 'ledger.unheld':
      return `${fact.by} ${fact.kind === 'ledger.held' ? 'holds' : 'releases'} the workspace: ${fact.reason}`;
    default:
      return null;
  }
}

/** A person was faster than the report, and its turn learns of it only now. */
function wasDecided({ relayed }: { readonly relayed?: true }): string {
  return relayed ? 'was decided already, and the turn learns it now:' : 'is';
}

function approvalTold(fact: Fact): string | null {
  switch (fact.kind) {
    case 'approval.requested': {
      const commands = fact.sealed.commands.map(({ display }) => display).join(' ; ');
      return `${fact.id} asks to allow: ${commands}`;
    }
    case 'approval.approved':
      return `${fact.id} ${wasDecided(fact)} approved by ${fact.by} until ${new Date(fact.until).toISOString()}${reasonText(fact.reason)}`;
    case 'approval.rejected':
      return `${fact.id} ${wasDecided(fact)} rejected by ${fact.by}${reasonText(fact.reason)}`;
    case 'approval.expired':
      return `${fact.id}: its ${fact.what} has expired`;
    case 'approval.withdrawn':
      return `${fact.id}: its ${fact.what} is withdrawn${reasonText(fact.reason)}`;
    case 'approval.linked':
      return `${fact.id} is what turn ${fact.turn} waits for${fact.words ? reasonText(wordsOf(fact.words)) : ''}`;
    case 'approval.used':
      return `${fact.id} is used for its command ${fact.index + 1} by ${fact.requester}`;
    case 'approval.finished':
      return `${fact.id}: command ${fact.index + 1} ended with ${fact.exit ?? 'no exit code'}`;
    case 'approval.unknown':
      return `${fact.id}: the end of command ${fact.index + 1} is unknown`;
    case 'approval.refused':
      return `${fact.id} is refused: ${fact.reason}`;
    default:
      return null;
  }
}

function wordsOf(words: Words): string {
  return Object.entries(words)
    .map(([name, text]) => `${name} ${text}`)
    .join(', ');
}

function knowledgeTold(fact: Fact): string | null {
  switch (fact.kind) {
    case 'context.written':
      return `${fact.author} writes version ${fact.version} of ${fact.section}: ${JSON.stringify(fact.payload)}`;
    case 'context.rejected':
      return `${fact.agent ?? 'somebody'} may not write ${fact.section}: ${fact.reason}`;
    case 'context.reverted':
      return `${fact.author} takes ${fact.section} back to version ${fact.to}${reasonText(fact.reason)}`;
    case 'evidence.deposited': {
      const { id, agent, type, ac_id, brief_id, text, artifact_path } = fact;
      const what = artifact_path ?? text ?? '';
      return `${agent} deposits evidence:${id} (${type}) for ${ac_id} of brief ${brief_id}: ${what}`;
    }
    case 'memory.suggested': {
      const { description, body } = fact.note;
      return `${fact.agent} suggests to remember ${fact.id}: ${description ?? body}`;
    }
    case 'memory.accepted':
      return `${fact.id} is remembered${fact.section === null ? '' : ` in ${fact.section}`}`;
    case 'memory.dropped':
      return `${fact.id} is dropped${reasonText(fact.reason)}`;
    default:
      return null;
  }
}

function wayTold(fact: Fact, { names }: Known): string | null {
  const name = (socket: string) => names[socket]?.name ?? socket;
  switch (fact.kind) {
    case 'edge.taken':
      return `${name(fact.from)} hands on to ${name(fact.to)} (${conditionWords(fact.when)})`;
    case 'exit.taken':
      return `${name(fact.from)} leaves ${fact.loop ?? 'the graph'} for ${name(fact.to)}`;
    case 'rework.noted': {
      const { note } = fact;
      return `${name(note.target)} has to correct${note.itemLabel === null ? '' : ` ${note.itemLabel}`}: ${note.reason}`;
    }
    case 'rework.cleared':
      return `what ${name(fact.from)} sent back is corrected`;
    case 'cursor.advanced':
      return fact.exhausted ? 'the list is done' : 'the next item of the list is up';
    case 'cursor.reset':
      return `the items of ${fact.loop} begin from the first`;
    case 'lanes.opened':
      return `the items of ${fact.loop} go side by side from ${name(fact.entry)}`;
    case 'items.planned':
      return `${counted(fact.tasks.length, 'task')}: ${fact.tasks.join(', ')}`;
    case 'report.noted': {
      const { agent, agentId, status, keyOutputs } = fact.note;
      const { warnings = [] } = fact;
      const not = warnings.length === 0 ? '' : ` (not taken as it was: ${warnings.join('; ')})`;
      return `${agent} (${agentId}) reported ${status}${not}${reasonText(keyOutputs.join('; '))}`;
    }
    default:
      return null;
  }
}

function trustTold(fact: Fact): string | null {
  switch (fact.kind) {
    case 'registry.loaded': {
      const agents = Object.keys(fact.registry.agents).length;
      if (fact.registry.digest === '')
        return 'there is a registry, and it cannot be used; no agent starts until it can';
      return `the registry ${fact.registry.digest.slice(0, 12)} with ${counted(agents, 'agent')} is in force${reasonText(fact.reason)}`;
    }
    case 'access.refused':
      return `${fact.who} was turned away${fact.times > 1 ? ` ${fact.times} times` : ''} (${fact.code}): ${fact.reason}`;
    case 'quarantine.opened':
      return `${fact.key} is blocked: ${fact.reason}`;
    case 'quarantine.released':
      return `${fact.key} is released (${fact.outcome})${reasonText(fact.reason)}`;
    default:
      return null;
  }
}

/** A fact without a sentence of its own: its members, without the long ones. */
function plain(fact: Fact): string {
  const { kind: _kind, ...rest } = fact;
  const members = Object.entries(rest as JsonObject)
    .filter(([key]) => !TOLD_ELSEWHERE.includes(key))
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return members.join(', ');
}

const TOLD_ELSEWHERE = ['cast', 'rules', 'script', 'code', 'envelope'];

function where({ turns, names }: Known, turn: number): string {
  const found = turns.get(turn);
  if (!found) return `turn ${turn}`;
  const name = names[found.socket]?.name ?? found.socket;
  return found.item ? `${name} · ${found.item.key} ${found.item.label}` : name;
}

/** The files that changed meanwhile, where it is not known who changed them. */
function touchedFiles({ cast, turns }: Known, { turn, touched }: { turn: number; touched?: Touched }): string {
  const files = cast && isShownChanges(cast, turns.get(turn)?.socket ?? '', touched);
  return files ? ` (${files})` : '';
}

function reasonText(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `: ${text}`;
}

function used({ input, output }: Usage): string {
  return input + output > 0 ? ` (${input + output} tokens)` : '';
}

/** The code of a refusal comes before everything that may be cut off. */
export function codeIn(fact: Fact | CastFact): string | null {
  if (fact.kind === 'attempt.refused') return shownRefusal(fact).code;
  return 'code' in fact && fact.code ? fact.code : null;
}
