// The end of a cast for people: how it ended, a table of what it came to, and the next command.
import { costText, durationText, wholeNumber } from '../app/views/figures.ts';
import type { CastView } from '../app/views/shown-cast.ts';
import { withSocketNames } from '../app/views/socket-names.ts';
import { itemsText } from '../kernel/cast/summary.ts';
import { counted } from '../kernel/text.ts';
import { type Paint, Ready, type ShownLine, statusColour } from './paint.ts';
import { oneLine, safe } from './safe-text.ts';
import { wrap } from './text-width.ts';

const LABEL_WIDTH = 8;
const FILES_SHOWN = 6;

/** `baton` is how the program is called. */
export function closingLines(view: CastView, baton: string, paint: Paint): readonly ShownLine[] {
  return [
    new Ready(headOf(view, paint)),
    ...reasonOf(view),
    ...tableLines(view, paint),
    ...nextLines(view, baton, paint),
  ];
}

function headOf({ cast, status, code }: CastView, paint: Paint): string {
  const words: Readonly<Record<CastView['status'], string>> = {
    completed: 'completed',
    running: 'is running',
    waiting: 'is waiting for a person',
    paused: 'is paused',
    failed: 'failed',
    aborted: 'was aborted',
  };
  const why = code === null || status === 'aborted' ? '' : ` (${safe(code)})`;
  return `${paint.bold(`Cast ${safe(cast)}`)} ${statusColour(status, { ...paint, bold: (text) => text }).replace(status, words[status])}${why}`;
}

function reasonOf({ status, reason, sockets }: CastView): readonly string[] {
  return status === 'completed' || status === 'running' || reason === ''
    ? []
    : [`  ${withSocketNames(reason, sockets)}`];
}

/** Items, time, tokens, cost, files and checks, as far as there are any. */
export function tableLines(view: CastView, paint: Paint): readonly ShownLine[] {
  const { items, usage, elapsedMs, result, path, accepted } = view;
  const { files, checks } = result;
  return [
    ...(items ? [row('items', itemsText(items).replace(/ items? done/, ' done'), paint)] : []),
    row(
      'time',
      `${durationText(elapsedMs)} for ${counted(path.length, 'step')}, ${counted(accepted, 'handoff')} accepted`,
      paint,
    ),
    ...(usage.tokens > 0 ? [row('tokens', wholeNumber(usage.tokens), paint)] : []),
    ...costRows(view, paint),
    ...(files ? [row('files', filesLine(files), paint)] : []),
    ...(checks ? [row('checks', checksText(checks, paint), paint)] : []),
  ];
}

function costRows({ usage }: CastView, paint: Paint): readonly ShownLine[] {
  const { cost, unpricedTokens = 0 } = usage;
  if (cost === 0 && unpricedTokens === 0) return [];
  if (cost === 0) return [row('cost', 'unknown: its agents named no price', paint)];
  const how = usage.estimated ? ', worked out from a table of prices' : '';
  const rest = unpricedTokens > 0 ? `, without ${wholeNumber(unpricedTokens)} tokens of unknown price` : '';
  return [row('cost', `${costText(usage)}${how}${rest}`, paint)];
}

function filesLine({ count, first }: NonNullable<CastView['result']['files']>): string {
  if (count === 0) return 'none changed';
  const shown = first.slice(0, FILES_SHOWN).map((path) => oneLine(path, 60));
  const more = count > shown.length ? ` and ${count - shown.length} more` : '';
  return `${count} changed: ${shown.join(', ')}${more}`;
}

function checksText({ passed, failed }: NonNullable<CastView['result']['checks']>, paint: Paint): string {
  const good = passed > 0 ? [`${passed} passed`] : [];
  const bad = failed.length > 0 ? [paint.bad(`failed: ${failed.map((name) => oneLine(name, 40)).join(', ')}`)] : [];
  return [...good, ...bad].join(', ');
}

function nextLines({ cast, status, code }: CastView, baton: string, paint: Paint): readonly ShownLine[] {
  const ways = wayOn(cast, status, code);
  return ways.map(([command, why], index) => {
    const what = why === '' ? '' : `  ${paint.dim(why)}`;
    return new Ready(`${labelled(index === 0 ? 'next' : '', paint)}${safe(`${baton} ${command}`)}${what}`);
  });
}

type Way = readonly [command: string, why: string];

function wayOn(cast: string, status: CastView['status'], code: string | null): readonly Way[] {
  switch (status) {
    case 'completed':
      return [[`show ${cast}`, '']];
    case 'running':
      return [[`watch ${cast}`, '']];
    case 'waiting':
      return [[`why ${cast}`, 'every way on']];
    case 'paused':
      return [[`continue ${cast}`, '']];
    default:
      return [
        ...(code === 'BUDGET_EXHAUSTED' ? ([[`revive ${cast}`, 'with as much again']] as const) : []),
        ...(code === 'EDGE_BUDGET_EXHAUSTED' ? ([[`revive ${cast}`, 'allow as many more rounds']] as const) : []),
        [`recast ${cast}`, 'carry it on from there'],
        [`why ${cast}`, 'what happened'],
      ];
  }
}

/** One line of the table. A text that is too long goes on below itself. */
function row(label: string, text: string, paint: Paint): ShownLine {
  const pieces = wrap(`${labelled(label, paint)}${text}`, process.stdout.columns ?? 0, LABEL_WIDTH + 2);
  return new Ready(pieces.join('\n'));
}

function labelled(label: string, paint: Paint): string {
  return `  ${paint.dim(label.padEnd(LABEL_WIDTH))}`;
}
