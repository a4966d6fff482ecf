// Tells a person that a cast waits, failed or ended: by the bell, the desktop, a webhook or a program. The process that drives
// the cast does it, once for each event. A notification that fails is reported once and changes nothing for the cast. Words of
// agents go along as data only: as a member of the JSON, and as one argument of the desktop's own program.
import { isTrusted } from '../../git/folder-trust.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import { checkFields } from '../../kernel/graph/issue.ts';
import { layerOf } from '../../kernel/graph/layers.ts';
import { NOTIFY, NOTIFY_EVENTS } from '../../kernel/graph/project-fields.ts';
import { isObject } from '../../kernel/json.ts';
import { collapse, truncate } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { sectionIn } from '../../workspace/sections.ts';
import { postJson } from '../connection.ts';
import type { Operation } from '../operations/table.ts';
import { socketName, socketNames, withSocketNames } from '../views/in-words.ts';
import type { Workspace } from '../workspace.ts';
import { NOT_FOUND, run } from './send.ts';

type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** What a webhook and a program get as JSON. */
type Notice = {
  readonly event: NotifyEvent;
  readonly cast: string;
  readonly loadout: string;
  readonly request: string;
  readonly status: string;
  readonly code: string | null;
  /** One line for people, with all that they need at first. */
  readonly text: string;
  readonly workspace: string;
  /** The command that says more, or carries on. */
  readonly next: string;
};

type NotifySettings = {
  readonly on: readonly NotifyEvent[];
  readonly bell: boolean;
  readonly desktop: boolean;
  readonly webhook: string | null;
  readonly command: readonly string[] | null;
  /** The file that says so. */
  readonly file: string;
  /** Whether a person trusts the file that says it, so that it may start programs and send data elsewhere. */
  readonly isTrusted: (way: 'webhook' | 'command') => boolean;
};

type Place = Pick<Workspace, 'dir' | 'configFile' | 'env' | 'program'>;

/**
 * The settings of all layers together; null where there are none that can be read. `check` names the mistakes of a configuration; a cast
 * goes on without what is wrong here.
 */
function notifySettings(place: Place): NotifySettings | null {
  const read = sectionIn(place, 'notify');
  if (!read.ok || !isObject(read.section)) return null;
  const { section, layers, merged } = read;
  const issues = [...checkFields(section, NOTIFY, { path: 'notify', code: 'INVALID_CONFIG', what: 'notify' })];
  if (issues.some(({ level }) => level === 'error')) return null;
  const { on = [...NOTIFY_EVENTS], bell, desktop, webhook = null, command = null } = section;
  const isOfProject = (member: string) => layerOf(layers, ['notify', member], merged)?.name === 'project';
  return {
    on: on as readonly NotifyEvent[],
    bell: bell === true,
    desktop: desktop === true,
    webhook: webhook as string | null,
    command: command as readonly string[] | null,
    file: layerOf(layers, ['notify'])?.file ?? place.configFile,
    isTrusted: (member) => !isOfProject(member) || isTrusted(place.dir, place.env),
  };
}

type Sink = 'bell' | 'desktop' | 'webhook' | 'command';
/** The result of one way to notify; `why` is null where it worked. */
type Sent = { readonly sink: Sink; readonly why: string | null };

/** Tells it in every way that is set up. Nothing is thrown. */
async function sendNotice(
  notice: Notice,
  settings: NotifySettings,
  { dir, env, program }: Place,
  ring: () => void,
): Promise<readonly Sent[]> {
  const { bell, desktop, webhook, command } = settings;
  const untrusted = (way: 'webhook' | 'command') =>
    settings.isTrusted(way) ? null : `the folder is not trusted; \`${program} trust\` lets it run`;
  const body = JSON.stringify(notice);
  const ways: [Sink, () => Promise<string | null>][] = [];
  if (bell) {
    ways.push([
      'bell',
      async () => {
        ring();
        return null;
      },
    ]);
  }
  if (desktop)
    ways.push(['desktop', async () => withFix('desktop', await run(desktopCommand(notice), '', { cwd: dir, env }))]);
  const trusted = (sink: 'webhook' | 'command', way: () => Promise<string | null>) => async () =>
    untrusted(sink) ?? withFix(sink, await way());
  if (webhook !== null) ways.push(['webhook', trusted('webhook', () => postJson(webhook, body))]);
  if (command !== null) ways.push(['command', trusted('command', () => run(command, `${body}\n`, { cwd: dir, env }))]);
  return Promise.all(
    ways.map(async ([sink, way]): Promise<Sent> => {
      const why = await way().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      return { sink, why };
    }),
  );
}

/** What to do where it failed, by the way that failed. */
const FIXES: Readonly<Record<Exclude<Sink, 'bell'>, string>> = {
  desktop: 'leave notify.desktop out where no desktop is',
  webhook: 'start what listens there, or correct notify.webhook',
  command: 'correct notify.command',
};
const DESKTOP_MISSING = 'install it (apt install libnotify-bin, or dnf install libnotify)';

function withFix(sink: Sink, why: string | null): string | null {
  if (why === null || sink === 'bell') return why;
  const isMissing = sink === 'desktop' && why.startsWith('notify-send ') && why.endsWith(NOT_FOUND);
  return `${why}; ${isMissing ? `${DESKTOP_MISSING}, or ` : ''}${FIXES[sink]}`;
}

const TEXT_CHARS_MAX = 300;

/** The words are arguments of the program, and no part of a script. */
export function desktopCommand(
  { text, request }: Pick<Notice, 'text' | 'request'>,
  platform = process.platform,
): string[] {
  const [title, body] = [plain(text, TEXT_CHARS_MAX), plain(request, 100)];
  if (platform === 'darwin') {
    const show = 'display notification (item 2 of argv) with title (item 1 of argv)';
    return ['osascript', '-e', 'on run argv', '-e', show, '-e', 'end run', '--', title, body];
  }
  return ['notify-send', '--app-name=baton', '--', title, body.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)];
}

function plain(text: string, max: number): string {
  return truncate(collapse(text.replace(/\p{Cc}/gu, ' ')), max);
}

type Facts = readonly Pick<Entry, 'fact'>[];

/** Of entries that were committed together: what a person wants to know, at most once. */
export function occasionIn(
  entries: Facts,
): (Pick<Notice, 'event' | 'status' | 'code'> & { why: string; turn: number | null }) | null {
  const facts = entries.map(({ fact }) => fact);
  const stop = facts.findLast(({ kind }) => STOPS.has(kind));
  if (stop?.kind === 'cast.waiting' || stop?.kind === 'cast.failed') {
    const event = stop.kind === 'cast.failed' ? 'failed' : 'waiting';
    return { event, status: event, code: stop.code, why: stop.reason, turn: null };
  }
  if (stop?.kind === 'cast.completed') return { event: 'ended', status: 'completed', code: null, why: '', turn: null };
  if (stop?.kind === 'cast.aborted')
    return { event: 'ended', status: 'aborted', code: 'ABORTED', why: stop.reason, turn: null };
  // The other items go on, so that the cast itself does not wait.
  const asks = facts.findLast(
    (fact) => fact.kind === 'turn.asked' || (fact.kind === 'turn.reported' && fact.outcome !== 'continue'),
  );
  if (asks?.kind === 'turn.asked')
    return {
      event: 'waiting',
      status: 'running',
      code: 'ANSWER_NEEDED',
      why: 'a step is yours to do',
      turn: asks.turn,
    };
  if (asks?.kind !== 'turn.reported') return null;
  const code = asks.outcome === 'approval' ? 'APPROVAL_NEEDED' : 'ANSWER_NEEDED';
  return { event: 'waiting', status: 'running', code, why: asks.note, turn: asks.turn };
}

const STOPS: ReadonlySet<string> = new Set(['cast.waiting', 'cast.failed', 'cast.completed', 'cast.aborted']);

type Told = { readonly cast: string; readonly loadout: string; readonly request: string; readonly rules: Rules };

function noticeOf(
  { cast, loadout, request, rules }: Told,
  { event, status, code, why }: NonNullable<ReturnType<typeof occasionIn>>,
  { dir, program }: Place,
  socket: string | null = null,
): Notice {
  const who = socket === null ? '' : `${socketName(rules, socket)}: `;
  const reason = why === '' ? '' : `: ${who}${withSocketNames(collapse(why), socketNames(rules))}`;
  const how = { waiting: 'waits for you', failed: 'failed', ended: status }[event];
  const text = truncate(
    `${loadout} ${how}${code === null || status === 'aborted' ? '' : ` (${code})`}${reason}`,
    TEXT_CHARS_MAX,
  );
  const next = `${program} ${event === 'ended' ? 'show' : 'why'} ${cast}`;
  return { event, cast, loadout, request: truncate(request, 1_000), status, code, text, workspace: dir, next };
}

type Notifier = {
  /** Learns what the cast is from entries that are no news. */
  learn(entries: Facts): void;
  saw(entries: Facts): void;
  /** All notifications are out, or have failed. */
  settled(): Promise<void>;
};

type Ways = { readonly say: (line: string) => void; readonly ring: () => void };

/** Looks at what is committed while a cast is driven. */
export function notifier(place: Place, { say, ring }: Ways): Notifier {
  const settings = notifySettings(place);
  const failed = new Set<Sink>();
  const sockets = new Map<number, string>();
  let cast: Told | null = null;
  let last: Promise<void> = Promise.resolve();
  const learn = (entries: Facts) => {
    for (const { fact } of entries) {
      if (fact.kind === 'cast.started') cast = fact;
      if (fact.kind === 'turn.started') sockets.set(fact.turn, fact.socket);
    }
  };
  const tell = async (notice: Notice, given: NotifySettings) => {
    for (const { sink, why } of await sendNotice(notice, given, place, ring)) {
      if (why === null || failed.has(sink)) continue;
      failed.add(sink);
      say(`No notification by notify.${sink} of ${given.file}: ${why}. \`${place.program} notify\` tries it.`);
    }
  };
  return {
    learn,
    saw(entries) {
      learn(entries);
      const occasion = settings && occasionIn(entries);
      if (!cast || !occasion || !settings.on.includes(occasion.event)) return;
      const socket = occasion.turn === null ? null : (sockets.get(occasion.turn) ?? null);
      const notice = noticeOf(cast, occasion, place, socket);
      last = last.then(() => tell(notice, settings)).catch(() => undefined);
    },
    settled: () => last,
  };
}

/** A notice that says nothing of a cast, to try the settings with. */
function sampleNotice({ dir, program }: Place): Notice {
  const words = { loadout: 'test', request: 'Try the notifications', status: 'waiting', code: null };
  const text = 'Baton tells you here when a cast waits, failed or ended.';
  return { event: 'waiting', cast: 'test', ...words, text, workspace: dir, next: `${program} status` };
}

const EXAMPLE = '"notify": {"bell": true, "desktop": true}';

export const tryNotify: Operation<'notify'> = async (workspace, _input, { onEvent }) => {
  const settings = notifySettings(workspace);
  if (!settings) {
    const { configFile, program } = workspace;
    const reason = `no notification is set up. Write ${EXAMPLE} to ${configFile}; if it has one, \`${program} check\` names its mistake`;
    return deny('BAD_USAGE', reason, {});
  }
  const sent = await sendNotice(sampleNotice(workspace), settings, workspace, () => onEvent({ kind: 'bell' }));
  const details = { file: settings.file, on: [...settings.on], sent: sent.map((each) => ({ ...each })) };
  const failed = sent.flatMap(({ sink, why }) => (why === null ? [] : [`notify.${sink}: ${why}`]));
  if (sent.length === 0)
    return deny('BAD_USAGE', `notify in ${settings.file} names no way to tell you; write ${EXAMPLE}`, details);
  if (failed.length > 0) return deny('NOT_ALLOWED_NOW', `${failed.join('; ')} (in ${settings.file})`, details);
  return allow(`notified by ${sent.map(({ sink }) => sink).join(', ')}`, details);
};
