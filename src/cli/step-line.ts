// The line of one step: its mark and name, a few words, and how long it took and what it used at the right edge.
import { costText, durationText, tokensText } from '../app/views/in-words.ts';
import type { Usage } from '../kernel/cast/state.ts';
import type { Paint } from './paint.ts';
import { cutTo, lastColumns, oneLine, padTo, widthOf } from './terminal-text.ts';

export type StepLine = {
  /** With its colour. */
  readonly mark: string;
  readonly name: string;
  /** The item it works on, such as `2/3 Greet politely`. It is cut where there is no room. */
  readonly item?: string | null;
  /** In a few words how it ended, with its colour. */
  readonly note?: string;
  /** Shown only where there is room. */
  readonly aside?: string;
  /** Why it ended so; in a terminal it is a line below. */
  readonly why?: string;
  readonly figures?: string;
};

const WIDTH_MAX = 110;
const LEFT_MIN = 24;
const INDENT = 4;

/** In a terminal as wide as it is; without one, all on one line. */
export function stepLines(step: StepLine, columns: number | null, paint: Paint): string[] {
  const { mark, name, item, note, why, aside, figures = '' } = step;
  const what = [name, item ?? ''].filter(Boolean).join(' · ');
  const tail = note ? ` · ${note}` : '';
  const extra = aside ? ` · ${paint.dim(aside)}` : '';
  if (columns === null) {
    const reason = why ? `: ${why}` : '';
    return [`  ${mark} ${what}${tail}${extra}${reason}${figures === '' ? '' : ` · ${figures}`}`];
  }
  const width = Math.min(columns - 1, WIDTH_MAX);
  const below = why ? [`${' '.repeat(INDENT)}${why}`] : [];
  const head = `${mark} `;
  const room = width - widthOf(figures) - (figures === '' ? 0 : 2) - widthOf(head) - widthOf(tail);
  if (room < LEFT_MIN) {
    const under = figures === '' ? [] : [`${' '.repeat(INDENT)}${paint.dim(figures)}`];
    return [`${head}${what}${tail}`, ...under, ...below];
  }
  const hasRoom = widthOf(what) + widthOf(extra) <= room;
  const left = `${head}${cutTo(what, room)}${tail}${hasRoom ? extra : ''}`;
  const line = figures === '' ? left : `${padTo(left, width - widthOf(figures))}${paint.dim(figures)}`;
  return [line, ...below];
}

/** A step that is under way: the act of its agent is in the middle. */
export function movingLine(step: StepLine & { readonly doing: string }, columns: number, paint: Paint): string {
  const { mark, name, item, doing, figures = '' } = step;
  const width = Math.min(columns - 1, WIDTH_MAX);
  const room = width - widthOf(mark) - 1 - widthOf(figures) - 2;
  const what = [name, item ?? ''].filter(Boolean).join(' · ');
  const own = doing === '' ? room : Math.max(Math.min(widthOf(what), Math.ceil(room / 2)), room - widthOf(doing) - 2);
  const left = cutTo(what, own);
  const rest = room - widthOf(left) - 2;
  const act = rest < 4 ? '' : `  ${paint.dim(actText(doing, rest))}`;
  return `${padTo(`${mark} ${left}${act}`, width - widthOf(figures))}${paint.dim(figures)}`;
}

/** A tool and one path: of a path that is too long the end says more. */
const ON_PATH = /^(\S+ )(\S*\/\S+)$/;

function actText(doing: string, columns: number): string {
  const [, tool = '', path = ''] = ON_PATH.exec(doing) ?? [];
  const room = columns - widthOf(tool);
  return path === '' || room < 4 ? cutTo(doing, columns) : `${tool}${lastColumns(path, room)}`;
}

/** `14 s · 1.2k tokens · $0.014`; zeros are left out. */
export function figuresText(ms: number | null, usage: Usage | null): string {
  const tokens = usage ? usage.input + usage.output : 0;
  return [
    ms === null ? '' : durationText(ms),
    tokens > 0 ? tokensText(tokens) : '',
    usage && usage.cost > 0 ? costText(usage) : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

export function itemText({
  index,
  total,
  label,
}: {
  readonly index: number;
  readonly total: number;
  readonly label: string;
}) {
  return `${index + 1}/${total} ${oneLine(label, 60)}`;
}
