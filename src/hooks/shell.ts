// Reads a line of shell as far as is needed to see what it would run and where it would write: simple commands, their words
// and redirections, also those inside substitutions and behind separators. It runs nothing and expands nothing; a word that
// only the shell can know is marked as such. One pass over the text, so that no text takes long.

export type Word = {
  readonly text: string;
  /** False where the shell would put something in that cannot be seen here. */
  readonly isPlain: boolean;
  /** Whether it stood in quotes, so that a star in it is a star. */
  readonly isQuoted: boolean;
};

export type ShellCommand = {
  readonly words: readonly Word[];
  /** Files that redirections write. */
  readonly writes: readonly Word[];
  /** Files that redirections read. */
  readonly reads: readonly Word[];
  /** What is fed to its standard input from the line itself. */
  readonly input: string | null;
};

export type ShellReading =
  | { readonly ok: true; readonly commands: readonly ShellCommand[] }
  | { readonly ok: false; readonly why: string };

const CHARS_MAX = 262_144;
const DEPTH_MAX = 40;
const NESTED_MAX = 4;

export function readShell(line: string): ShellReading {
  if (line.length > CHARS_MAX) return { ok: false, why: `it is longer than ${CHARS_MAX} characters` };
  const reader = new Reader(line);
  reader.readList('', 0);
  return reader.tooDeep ? { ok: false, why: 'it is nested too deeply' } : { ok: true, commands: reader.commands };
}

/** Words after which a command begins. */
const OPENERS = ['{', '!', 'if', 'then', 'elif', 'else', 'do', 'while', 'until', 'time', 'coproc'];

type Draft = { words: Word[]; writes: Word[]; reads: Word[]; input: string | null };
type Heredoc = { readonly end: string; readonly isIndented: boolean; readonly isQuoted: boolean; readonly of: Draft };

class Reader {
  readonly #line: string;
  /** How many bodies of documents this one lies in. */
  readonly #nested: number;
  readonly commands: ShellCommand[] = [];
  readonly #heredocs: Heredoc[] = [];
  #at = 0;
  /** What ends the list that is being read. */
  #close = '';
  tooDeep = false;

  constructor(line: string, nested = 0) {
    this.#line = line;
    this.#nested = nested;
  }

  /** Reads commands up to the closing character, or to the end of the line where there is none. */
  readList(close: '' | ')' | '`', depth: number): void {
    if (depth > DEPTH_MAX) {
      this.tooDeep = true;
      this.#at = this.#line.length;
      return;
    }
    const outer = this.#close;
    this.#close = close;
    let draft = newDraft();
    const finish = () => {
      if (draft.words.length > 0 || draft.writes.length > 0) this.commands.push(draft);
      draft = newDraft();
    };
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] ?? '';
      if (close !== '' && char === close) {
        this.#at += 1;
        break;
      }
      if (char === ' ' || char === '\t' || char === '\r') this.#at += 1;
      else if (char === '\\' && this.#line[this.#at + 1] === '\n') this.#at += 2;
      else if (char === '#') this.#skipTo('\n');
      else if (char === '\n') {
        this.#at += 1;
        finish();
        this.#readHeredocs();
      } else if (char === '&' && this.#line[this.#at + 1] === '>') {
        this.#at += 1;
        this.#readRedirection(draft, depth);
      } else if (char === ';' || char === '&' || char === '|') {
        this.#at += 1;
        finish();
      } else if (char === '(') {
        this.#at += 1;
        finish();
        this.readList(')', depth + 1);
      } else if (char === ')') this.#at += 1;
      else if (char === '<' || char === '>') this.#readRedirection(draft, depth);
      else this.#readCommandWord(draft, depth);
    }
    finish();
    this.#close = outer;
  }

  #readCommandWord(draft: Draft, depth: number): void {
    const word = this.#readWord(depth);
    const next = this.#line[this.#at];
    // The number of a channel belongs to the redirection it touches.
    if ((next === '<' || next === '>') && /^\d+$/.test(word.text)) return;
    if (draft.words.length === 0 && !word.isQuoted && OPENERS.includes(word.text)) return;
    draft.words.push(word);
  }

  #readRedirection(draft: Draft, depth: number): void {
    const line = this.#line;
    const mark = /[<>|&-]/;
    const from = this.#at;
    while (this.#at < line.length && this.#at - from < 3 && mark.test(line[this.#at] ?? '')) this.#at += 1;
    const operator = line.slice(from, this.#at);
    if (line[this.#at] === '(' && (operator === '<' || operator === '>')) {
      this.#at += 1;
      this.readList(')', depth + 1);
      return;
    }
    while (line[this.#at] === ' ' || line[this.#at] === '\t') this.#at += 1;
    const word = this.#readWord(depth);
    if (operator === '<<' || operator === '<<-') {
      this.#heredocs.push({ end: word.text, isIndented: operator === '<<-', isQuoted: word.isQuoted, of: draft });
    } else if (operator === '<<<') draft.input = word.text;
    else if (operator === '<' && word.text !== '') draft.reads.push(word);
    // `2>&1` and `>&-` name channels, not files.
    else if (operator.includes('>') && !(operator.endsWith('&') && /^(?:\d+-?|-?)$/.test(word.text))) {
      if ((word.text !== '' || !word.isPlain) && operator !== '>&-') draft.writes.push(word);
    }
  }

  /** The bodies stand after the line that announced them, in the order of the announcements. */
  #readHeredocs(): void {
    for (const { end, isIndented, isQuoted, of } of this.#heredocs.splice(0)) {
      const body: string[] = [];
      while (this.#at < this.#line.length) {
        const stop = this.#line.indexOf('\n', this.#at);
        const line = this.#line.slice(this.#at, stop === -1 ? undefined : stop);
        this.#at = stop === -1 ? this.#line.length : stop + 1;
        if ((isIndented ? line.replace(/^\t+/, '') : line) === end) break;
        body.push(line);
      }
      of.input = body.join('\n');
      if (!isQuoted) this.#readBody(of.input);
    }
  }

  #readWord(depth: number): Word {
    const line = this.#line;
    const parts: string[] = [];
    let isPlain = true;
    let isQuoted = false;
    while (this.#at < line.length) {
      const char = line[this.#at] ?? '';
      if (' \t\r\n;&|()<>'.includes(char) || (char === '`' && this.#close === '`')) break;
      if (char === '\\') {
        if (line[this.#at + 1] !== '\n') parts.push(line[this.#at + 1] ?? '');
        this.#at += 2;
      } else if (char === "'") {
        parts.push(this.#readSingle());
        isQuoted = true;
      } else if (char === '"') {
        isPlain = this.#readDouble(parts, depth) && isPlain;
        isQuoted = true;
      } else if (char === '$' && line[this.#at + 1] === "'") {
        this.#at += 1;
        parts.push(this.#readAnsi());
        isQuoted = true;
      } else if (char === '$' || char === '`') {
        isPlain = !this.#readExpansion(parts, depth) && isPlain;
      } else {
        parts.push(char);
        this.#at += 1;
      }
    }
    return { text: parts.join(''), isPlain, isQuoted };
  }

  #readSingle(): string {
    const from = this.#at + 1;
    const end = this.#line.indexOf("'", from);
    this.#at = end === -1 ? this.#line.length : end + 1;
    return this.#line.slice(from, end === -1 ? undefined : end);
  }

  /** `$'…'`, in which letters can be written as numbers. */
  #readAnsi(): string {
    const parts: string[] = [];
    for (this.#at += 1; this.#at < this.#line.length; this.#at += 1) {
      const char = this.#line[this.#at] ?? '';
      if (char === "'") {
        this.#at += 1;
        break;
      }
      if (char !== '\\') {
        parts.push(char);
        continue;
      }
      const written = /^(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3}))/.exec(
        this.#line.slice(this.#at + 1, this.#at + 6),
      );
      const [all = '', hex, unicode, octal] = written ?? [];
      if (written) {
        const code = octal === undefined ? Number.parseInt(hex ?? unicode ?? '', 16) : Number.parseInt(octal, 8);
        parts.push(String.fromCharCode(code));
        this.#at += all.length;
      } else {
        const letter = this.#line[this.#at + 1] ?? '';
        parts.push({ n: '\n', t: '\t', r: '\r' }[letter] ?? letter);
        this.#at += 1;
      }
    }
    return parts.join('');
  }

  /** Whether all of it can be seen here. */
  #readDouble(parts: string[], depth: number): boolean {
    let isPlain = true;
    this.#at += 1;
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] ?? '';
      if (char === '"') {
        this.#at += 1;
        break;
      }
      if (char === '\\') {
        const next = this.#line[this.#at + 1] ?? '';
        if (next !== '\n') parts.push('"\\$`'.includes(next) ? next : `\\${next}`);
        this.#at += 2;
      } else if (char === '$' || char === '`') isPlain = !this.#readExpansion(parts, depth) && isPlain;
      else {
        parts.push(char);
        this.#at += 1;
      }
    }
    return isPlain;
  }

  /** Reads `$name`, `${…}`, `$(…)` or a back-quoted command. False for a dollar that is just a dollar. */
  #readExpansion(parts: string[], depth: number): boolean {
    const line = this.#line;
    if (line[this.#at] === '`') {
      this.#at += 1;
      this.readList('`', depth + 1);
      return true;
    }
    const next = line[this.#at + 1] ?? '';
    if (next === '(') {
      this.#at += 2;
      this.readList(')', depth + 1);
      return true;
    }
    if (next === '{') {
      this.#at += 2;
      this.#readBraces(depth + 1);
      return true;
    }
    const name = /^(?:[A-Za-z_]\w{0,200}|[0-9@*#?$!-])/.exec(line.slice(this.#at + 1, this.#at + 202))?.[0];
    this.#at += 1 + (name?.length ?? 0);
    if (name !== undefined) return true;
    parts.push('$');
    return false;
  }

  /** What stands in `${…}` may run commands too. */
  #readBraces(depth: number): void {
    if (depth > DEPTH_MAX) {
      this.tooDeep = true;
      this.#at = this.#line.length;
      return;
    }
    const line = this.#line;
    while (this.#at < line.length && line[this.#at] !== '}') {
      const char = line[this.#at] ?? '';
      if (char === '$' || char === '`') this.#readExpansion([], depth);
      else this.#at += char === '\\' ? 2 : 1;
    }
    this.#at += 1;
  }

  /** A body that the shell fills in may run commands: those in it are found as in a text between double quotes. */
  #readBody(body: string): void {
    if (!/\$[({]|`/.test(body)) return;
    const inner = new Reader(`"${body.replaceAll('"', ' ')}"`, this.#nested + 1);
    if (this.#nested < NESTED_MAX) inner.readList('', 0);
    this.tooDeep ||= inner.tooDeep || this.#nested >= NESTED_MAX;
    this.commands.push(...inner.commands.slice(0, -1));
  }

  #skipTo(char: string): void {
    const end = this.#line.indexOf(char, this.#at);
    this.#at = end === -1 ? this.#line.length : end;
  }
}

function newDraft(): Draft {
  return { words: [], writes: [], reads: [], input: null };
}
