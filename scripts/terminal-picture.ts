// A screen of a terminal as an SVG: text, colours and weights as a terminal shows them, in a dark frame of its own. It reads what
// `tmux capture-pane -e` prints, and needs no font or script from elsewhere.

type Style = { readonly bold: boolean; readonly dim: boolean; readonly colour: string | null };

const PLAIN: Style = { bold: false, dim: false, colour: null };
const COLOURS: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
};

const CHAR = 8;
const LINE = 18;
const EDGE = 16;
const BAR = 30;

// biome-ignore lint/suspicious/noControlCharactersInRegex: it reads the colours of a terminal.
const CODES = /\x1b\[([0-9;]*)m/g;

/** `columns` is how wide the terminal is; the picture is as high as the screen has lines. */
export function terminalPicture(screen: string, columns: number, title: string): string {
  const lines = screen.trimEnd().split('\n');
  const width = columns * CHAR + 2 * EDGE;
  const height = BAR + lines.length * LINE + EDGE;
  let style = PLAIN;
  const rows = lines.map((line, row) => {
    const [text, next] = painted(line, style);
    style = next;
    return `<text x="${EDGE}" y="${BAR + (row + 0.8) * LINE}" xml:space="preserve">${text}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>
text{font:13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3}.b{font-weight:700}.d{fill:#8b949e}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
<circle cx="18" cy="15" r="5" fill="#ff5f56"/><circle cx="36" cy="15" r="5" fill="#ffbd2e"/><circle cx="54" cy="15" r="5" fill="#27c93f"/>
${rows.join('\n')}
</svg>
`;
}

/** One line with its styles, and the style in which it ends. */
function painted(line: string, begin: Style): [string, Style] {
  let style = begin;
  let from = 0;
  let column = 0;
  let shown = '';
  const add = (text: string) => {
    if (text === '') return;
    shown += piece(text, column, style);
    column += [...text].length;
  };
  for (const { 0: all, 1: codes = '', index } of line.matchAll(CODES)) {
    add(line.slice(from, index));
    from = index + all.length;
    style = codes.split(';').map(Number).reduce(styled, style);
  }
  add(line.slice(from));
  return [shown, style];
}

/** Each piece begins at its own column, so that a reader's font cannot shift what follows. */
function piece(text: string, column: number, { bold, dim, colour }: Style): string {
  const names = [bold ? 'b' : '', dim ? 'd' : ''].filter(Boolean).join(' ');
  const width = ` textLength="${[...text].length * CHAR}"`;
  const fill = colour === null ? '' : ` style="fill:${colour}"`;
  return `<tspan x="${EDGE + column * CHAR}"${width}${names === '' ? '' : ` class="${names}"`}${fill}>${escaped(text)}</tspan>`;
}

function styled(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, colour: null };
  return COLOURS[code] === undefined ? style : { ...style, colour: COLOURS[code] };
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
