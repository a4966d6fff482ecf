// Calls an operation that may drive a cast: live progress on stderr, Ctrl-C pauses cleanly, the result
// on stdout: the object for scripts, the closing lines for people.
import type { OperationEvent } from '../app/operation.ts';
import type { OperationName } from '../app/operations/table.ts';
import type { Given } from '../app/perform.ts';
import { Refused } from '../app/refused.ts';
import type { CastView } from '../app/views/shown-cast.ts';
import type { CastStatus } from '../kernel/cast/state.ts';
import { isString, type JsonObject } from '../kernel/json.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import { again, type Call, EXIT_CODE, note, out, outJson, ring } from './command.ts';
import { paintFor, type ShownLine } from './paint.ts';
import { type ProgressDisplay, progressFor } from './progress.ts';
import { closingLines, itemLines, notRunLines, reportLines, resultLines } from './result-lines.ts';
import { ended } from './show-operation.ts';

export async function drive(call: Call, name: OperationName, given: Given): Promise<number> {
  return showDriven(call, await driven(call, name, given), given);
}

type Driven = {
  readonly verdict: Verdict;
  /** Where the work of the cast lies, for people. */
  readonly left: readonly string[];
  /** Whether this process drove the cast. */
  readonly isDriven: boolean;
};

/** For an operation that drives one cast after the other: what it tells in between, and Ctrl-C ends it there, too. */
type Staying = { readonly onValue: (value: JsonObject) => readonly ShownLine[] };

export async function driven(call: Call, name: OperationName, given: Given, staying?: Staying): Promise<Driven> {
  const stop = new AbortController();
  let progress: ProgressDisplay | null = null;
  let left: readonly string[] = [];
  let isDriven = false;
  let unlisten = (): void => undefined;
  const say = (line: string) => (progress ? progress.say(line) : note(line));
  const interrupted = (signal: NodeJS.Signals) => {
    if (progress) say(pausing(call));
    stop.abort(REASONS[signal] ?? `stopped by ${signal}`);
  };
  const onEvent = (event: OperationEvent): void => {
    switch (event.kind) {
      case 'note':
        say(event.text);
        break;
      case 'driving':
        isDriven = true;
        // A person who has seen the id may interrupt, so listening for that comes first.
        if (!staying) unlisten = onInterrupt(interrupted);
        progress = progressFor(call, event.cast, event.says);
        progress.learn(event.past);
        break;
      case 'change':
        progress?.take(event.entries);
        break;
      case 'live':
        progress?.hear(event.turn, event.event);
        break;
      case 'bell':
        ring();
        break;
      case 'value':
        for (const line of staying?.onValue(event.value as JsonObject) ?? []) say(String(line));
        break;
      case 'driven':
        if (!staying) unlisten();
        progress?.stop();
        progress = null;
        break;
      case 'left':
        left = event.says;
        break;
    }
  };
  if (staying) unlisten = onInterrupt(interrupted);
  const verdict = await ended(call, name, given, { signal: stop.signal, onEvent });
  unlisten();
  return { verdict, left, isDriven };
}

export function showDriven(call: Call, { verdict, left, isDriven }: Driven, given: Given): number {
  const { details } = verdict;
  const isDetached = given.detach === true;
  if (!isString(details.cast) || !isString(details.status)) return showVerdict(call, verdict);
  const { stands: _stands, refused, isWoken, ...rest } = details;
  const view = rest as unknown as CastView;
  if (isDriven) return showEnd(call, view, left, isWoken ? (refused as unknown as Denied) : null);
  if (isDetached) note(`cast ${view.cast}`);
  if (call.json) outJson(view);
  else if (isDetached) out(whereNow(call, view, verdict));
  if (!verdict.allow) return EXIT_CODE.denied;
  return isDetached && view.status === 'running' ? EXIT_CODE.ok : exitForStatus(view.status);
}

function whereNow(call: Call, { cast, status }: CastView, { reason }: Verdict): string {
  if (status !== 'running') return reason;
  return `Cast ${cast} runs in the background. Follow it with: ${again(call)} watch ${cast}`;
}

/** The verdict of what another process carries on. */
function showVerdict(call: Call, verdict: Verdict): number {
  if (!verdict.allow) throw new Refused(verdict);
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT_CODE.ok;
}

function pausing(call: Call): string {
  const later = `\`${again(call)} resume\` carries on either way.`;
  return `Pausing: stopping the running agents. Press Ctrl-C again to leave at once; ${later}`;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const REASONS: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGINT: 'interrupted from the keyboard',
  SIGHUP: 'its terminal was closed',
};

/** The first signal ends the work cleanly; a second one ends the process at once, which loses nothing either. */
function onInterrupt(heard: (signal: NodeJS.Signals) => void): () => void {
  const stop = () => {
    for (const each of SIGNALS) process.off(each, handle);
  };
  const handle = (signal: NodeJS.Signals) => {
    stop();
    heard(signal);
  };
  for (const each of SIGNALS) process.on(each, handle);
  return stop;
}

export function exitForStatus(status: CastStatus): number {
  switch (status) {
    case 'completed':
    case 'running':
      return EXIT_CODE.ok;
    case 'waiting':
      return EXIT_CODE.waiting;
    default:
      return EXIT_CODE.denied;
  }
}

/**
 * `more` comes after the closing lines: what the cast left and where. A command that was refused although the cast went on
 * says so to scripts as well, and is no success wherever the cast has come to.
 */
export function showEnd(
  call: Call,
  view: CastView,
  more: readonly string[] = [],
  refused: Denied | null = null,
): number {
  if (call.json) outJson(refused ? { ...view, refused } : view);
  else for (const line of endLines(call, view, more)) out(line);
  return refused ? EXIT_CODE.denied : exitForStatus(view.status);
}

/** The results come first, then how the cast ended and the ways on. */
function endLines(call: Call, view: CastView, more: readonly string[]): readonly ShownLine[] {
  const baton = again(call);
  const [results, items] = [resultLines(view, baton), itemLines(view.tasks)];
  const gap = results.length + items.length > 0 ? [''] : [];
  return [
    // In a terminal the lines of the steps are right above.
    ...(results.length > 0 && process.stdout.isTTY ? [''] : []),
    ...results,
    ...(results.length > 0 && items.length > 0 ? [''] : []),
    ...reportLines(view, baton),
    ...items,
    ...notRunLines(view),
    ...gap,
    ...closingLines(view, baton, paintFor(process.stdout, call.env)),
    ...more,
  ];
}
