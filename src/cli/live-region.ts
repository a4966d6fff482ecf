// The lowest lines of a terminal, which are drawn again and again, with lines that stay above them. Where nobody watches,
// there are only lines that stay.
import { isSmart } from './paint.ts';
import { widthOf, wrap } from './text-width.ts';

export type Region = {
  readonly isLive: boolean;
  /** How wide a line may be; null where nothing is cut or wrapped. */
  columns(): number | null;
  /** Lines that stay. */
  print(lines: readonly string[]): void;
  /** The lines at the bottom, in place of those before. */
  draw(lines: readonly string[]): void;
  clear(): void;
};

const COLUMNS_DEFAULT = 80;
const ROWS_DEFAULT = 24;
/** Continued lines begin below the text behind the mark. */
const HANG = 4;

export function regionOn(screen: NodeJS.WriteStream, env: NodeJS.ProcessEnv, mayMove: boolean): Region {
  const isTerminal = isSmart(screen, env);
  const isLive = mayMove && isTerminal;
  const columns = () => (isTerminal ? screen.columns || COLUMNS_DEFAULT : null);
  let drawn: readonly string[] = [];
  const away = (): string => {
    if (drawn.length === 0) return '';
    const width = screen.columns || COLUMNS_DEFAULT;
    // A terminal that was made narrower has wrapped what is there.
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / width)), 0);
    return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`;
  };
  const show = (stays: readonly string[], moves: readonly string[]): void => {
    const text = stays.map((line) => `${line}\n`).join('');
    screen.write(`${away()}${text}${moves.join('\n')}`);
    drawn = moves;
  };
  return {
    isLive,
    columns,
    print(lines) {
      const width = columns();
      const shown = width === null ? lines : lines.flatMap((line) => wrap(line, width, HANG));
      if (shown.length > 0) show(shown, drawn);
    },
    draw(lines) {
      if (!isLive) return;
      const [rows, width] = [Math.max(1, (screen.rows || ROWS_DEFAULT) - 1), columns() ?? COLUMNS_DEFAULT];
      const fit = lines.length <= rows ? lines : [...lines.slice(0, rows - 1), ...lines.slice(-1)];
      const isSame = fit.length === drawn.length && fit.every((line, at) => line === drawn[at]);
      if (!isSame && fit.every((line) => widthOf(line) < width)) show([], fit);
    },
    clear() {
      if (drawn.length > 0) screen.write(away());
      drawn = [];
    },
  };
}
