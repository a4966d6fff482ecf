// Why a cast is where it is: what it waits for or failed on, since when, what the code means, and the commands that carry it
// on. The caller has read log, driver and registry; nothing is read here. The words for a status are loaded when a cast has
// it, because a person asks about one cast and wants to know at once.
import { reasonNow } from '../../../kernel/cast/asked.ts';
import { type CastStatus, isOver } from '../../../kernel/cast/state.ts';
import { countItems, itemsText } from '../../../kernel/cast/summary.ts';
import type { Code } from '../../../kernel/codes.ts';
import type { WorkState } from '../../../kernel/retention.ts';
import { notRunOf } from '../reported.ts';
import { resultOf } from '../result.ts';
import {
  type Explanation,
  inShort,
  moment,
  namedIn,
  type Situation,
  sentence,
  turnName,
  unknownUses,
  type Way,
  type Why,
} from './situation.ts';

export type { Situation, Way, Why } from './situation.ts';

export async function whyOf(situation: Situation): Promise<Why> {
  const { cast, driver, now } = situation;
  const since = sinceWhen(situation);
  const explained = joined(joined(await TELL[cast.status](situation), unknownUses(situation)), notRun(situation));
  const locks = await holdings(situation);
  const explanation = {
    ...explained,
    sentences: [...explained.sentences, ...locks.sentences],
    commands: [...explained.commands, ...locks.commands],
  };
  const means = await meaningOf(explanation.code);
  const how = isOver(cast.status) ? 'at' : 'since';
  const first = `Cast ${cast.id} ${statusWords(situation)} ${how} ${moment(since, now)}.`;
  return {
    cast: cast.id,
    status: cast.status,
    code: explanation.code,
    means,
    since: new Date(since).toISOString(),
    driver: driver ? { pid: driver.pid, host: driver.host } : null,
    sentences: [
      first,
      ...counted(situation),
      ...explanation.sentences,
      ...(means === null ? [] : [`${explanation.code} means: ${means}.`]),
    ],
    commands: unique(explanation.commands),
    result: resultOf({ ...situation.view, cast }),
  };
}

function counted({ view }: Situation): readonly string[] {
  const items = countItems(view.items);
  return items ? [sentence(itemsText(items))] : [];
}

async function meaningOf(code: string | null): Promise<string | null> {
  if (code === null) return null;
  const { CODES } = await import('../../../kernel/codes.ts');
  return Object.hasOwn(CODES, code) ? CODES[code as Code].means : null;
}

/** The first part comes first, and its code counts. */
function joined(first: Explanation, second: Explanation): Explanation {
  return {
    code: first.code ?? second.code,
    sentences: [...first.sentences, ...second.sentences],
    commands: [...second.commands, ...first.commands],
  };
}

const TELL: Readonly<Record<CastStatus, (situation: Situation) => Promise<Explanation> | Explanation>> = {
  running: async (situation) => (await import('./open.ts')).explainRunning(situation),
  waiting: async (situation) => (await import('./open.ts')).explainWaiting(situation),
  failed: async (situation) => (await import('./failed.ts')).explainFailed(situation),
  paused,
  aborted,
  completed,
};

function statusWords({ cast, driver, now }: Situation): string {
  switch (cast.status) {
    case 'running':
      return driver ? 'has been running' : 'was cut off while it ran, and has been open';
    case 'waiting':
      return `has been waiting for a person (${reasonNow(cast.id, cast, now).code})`;
    case 'failed':
      return `failed (${cast.code})`;
    default:
      return cast.status === 'paused' ? 'has been paused' : cast.status === 'aborted' ? 'was aborted' : cast.status;
  }
}

function sinceWhen({ cast, view }: Situation): number {
  const since = view.since.get(cast.status);
  return since ? Date.parse(since.at) : cast.clock.startedAt;
}

function paused({ cast, baton, now }: Situation): Explanation {
  const resume = { does: 'carry it on', command: `${baton} resume ${cast.id}` };
  const why = cast.reason === '' ? [] : [sentence(namedIn(cast, cast.reason))];
  // What it was waiting for when it was stopped, it waits for again when it goes on.
  const held = Object.values(cast.turns).flatMap((turn) => (turn.held === null ? [] : [{ turn, ...turn.held }]));
  const postponed = held.map(({ turn, code, reason, until }) => {
    const when = until === null ? '' : ` until ${moment(until, now)}`;
    return `Before that, ${turnName(cast, turn)} was postponed${when} (${code}): ${sentence(namedIn(cast, reason))}`;
  });
  const rest = 'Its agents were stopped; what was accepted is kept.';
  return { code: null, sentences: [...why, ...postponed, rest], commands: [resume] };
}

/** What a cast keeps from others while nothing of it runs, and how a person releases it. */
async function holdings({ cast, ledger, baton }: Situation): Promise<Explanation> {
  const nothing = { code: null, sentences: [], commands: [] };
  if (!ledger || cast.status === 'running') return nothing;
  const { freeing } = await import('../../../kernel/ledger/fact.ts');
  const { spokenPaths } = await import('../../../kernel/ledger/path.ts');
  const { heldLocks } = await import('../../../kernel/ledger/wire.ts');
  const tasks = new Map<string, string[]>();
  for (const { task, path } of heldLocks(ledger, cast.id)) tasks.set(task, [...(tasks.get(task) ?? []), path]);
  return {
    ...nothing,
    sentences: [...tasks].map(
      ([task, paths]) => `${task} is half done and keeps ${spokenPaths(paths)} locked until it goes on.`,
    ),
    commands: [...tasks.keys()].map((task) => ({
      does: `release the locks of ${task}`,
      command: `${baton}${freeing(cast.id, task).slice('baton'.length)}`,
    })),
  };
}

/** What the agents of a cast that is over asked to run, and what did not run. */
function notRun({ cast, view }: Situation): Explanation {
  const left = isOver(cast.status) ? notRunOf(view.commands) : [];
  const sentences = left.map(({ approval, command, outcome }) => `${approval} is ${outcome}: ${inShort(command, 80)}.`);
  return { code: null, sentences, commands: [] };
}

function aborted({ cast, view, baton }: Situation): Explanation {
  const by = view.since.get('aborted')?.by;
  const who = by === undefined ? [] : [`${by} stopped it${cast.reason === '' ? '' : `: ${sentence(cast.reason)}`}`];
  const recast = { does: 'carry it on from there', command: `${baton} recast ${cast.id}` };
  return { code: 'ABORTED', sentences: who.map(sentence), commands: [recast] };
}

async function completed({ cast, baton, view, work = 'ready' }: Situation): Promise<Explanation> {
  const { consolidate } = await import('../../../kernel/report/consolidation.ts');
  const summary = consolidate(cast)?.summary ?? '';
  const hasWorktree = cast.root !== undefined && work !== 'none';
  const ways = hasWorktree && view.hasChanged ? WAYS_OF_WORK[work] : [];
  const unchanged = hasWorktree && !view.hasChanged ? ['It changed no file.'] : [];
  return {
    code: null,
    sentences: [
      'There is nothing left to do.',
      ...(view.hasChanged ? WORDS_OF_WORK[work] : unchanged),
      ...summary.split('\n').filter((line) => line !== ''),
    ],
    commands: [...ways, ['look at it', 'show'] as const].map(([does, verb]) => ({
      does,
      command: `${baton} ${verb} ${cast.id}`,
    })),
  };
}

const DIFF = ['see what it changed', 'diff'] as const;
const WAYS_OF_WORK: Readonly<Record<WorkState, readonly (readonly [does: string, verb: string])[]>> = {
  none: [],
  ready: [DIFF, ['merge its work into the current branch', 'merge']],
  merged: [DIFF, ['take its work back', 'undo']],
  undone: [],
};
const WORDS_OF_WORK: Readonly<Record<WorkState, readonly string[]>> = {
  none: [],
  ready: [],
  merged: ['Its work is merged.'],
  undone: ['Its work was taken back.'],
};

function unique(ways: readonly Way[]): readonly Way[] {
  return ways.filter((way, index) => index === ways.findIndex(({ command }) => command === way.command));
}
