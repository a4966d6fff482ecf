// Reads a line of shell: its simple commands, their words and redirections, also inside substitutions and after separators. It
// runs nothing and expands nothing. A word that only the shell can resolve is marked. One pass over the text keeps it fast.

export type Word = {
  readonly text: string;
  /** False if the shell inserts something unknown. */
  readonly isPlain: boolean;
  /** Whether it was in quotes, so that a star is just a star. */
  readonly isQuoted: boolean;
  /** Whether the shell may make other words of it: an unquoted pattern, braces or an expansion. */
  readonly isOpen: boolean;
  /** Whether it begins with a tilde for a home folder. */
  readonly isHome: boolean;
};

export type ShellCommand = {
  readonly words: readonly Word[];
  /** Files that redirections write. */
  readonly writes: readonly Word[];
  /** Files that redirections read. */
  readonly reads: readonly Word[];
  /** The standard input that the line itself contains. */
  readonly input: string | null;
};

type ShellReading =
  | {
      readonly ok: true;
      readonly commands: readonly ShellCommand[];
      /** Why a shell may read it differently, or null. */
      readonly doubt: string | null;
    }
  | { readonly ok: false; readonly why: string };

const CHARS_MAX = 262_144;
const DEPTH_MAX = 40;
const NESTED_MAX = 4;

export function readShell(line: string): ShellReading {
  if (line.length > CHARS_MAX) return { ok: false, why: `it is longer than ${CHARS_MAX} characters` };
  const reader = new Reader(line);
  reader.readList('', 0);
  if (reader.tooDeep) return { ok: false, why: 'it is nested too deeply' };
  // The shell takes a carriage return as part of a word, a reader as the end of a line.
  const doubt = line.includes('\r') ? 'it holds a carriage return' : reader.doubt;
  return { ok: true, commands: reader.commands, doubt };
}

/** Words after which a command begins. */
const OPENERS = ['{', '!', 'if', 'then', 'elif', 'else', 'do', 'while', 'until', 'time', 'coproc'];

type Draft = { words: Word[]; writes: Word[]; reads: Word[]; input: string | null };
type Heredoc = { readonly end: string; readonly isIndented: boolean; readonly isQuoted: boolean; readonly of: Draft };

class Reader {
  readonly #line: string;
  /** How many here-documents this text is in. */
  readonly #nested: number;
  readonly commands: ShellCommand[] = [];
  readonly #heredocs: Heredoc[] = [];
  #at = 0;
  tooDeep = false;
  /** The first part that a shell may read differently. The rest is read as well as possible. */
  doubt: string | null = null;

  constructor(line: string, nested = 0) {
    this.#line = line;
    this.#nested = nested;
  }

  #giveUp(): void {
    this.tooDeep = true;
    this.#at = this.#line.length;
  }

  /** Reads commands up to the closing character, or to the end of the line. */
  readList(close: '' | ')', depth: number): void {
    if (depth > DEPTH_MAX) return this.#giveUp();
    let isClosed = close === '';
    let draft = newDraft();
    const finish = () => {
      if (draft.words.length > 0 || draft.writes.length > 0) this.commands.push(draft);
      draft = newDraft();
    };
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] ?? '';
      if (close !== '' && char === close) {
        this.#at += 1;
        isClosed = true;
        break;
      }
      if (char === ' ' || char === '\t') this.#at += 1;
      else if (char === '\\' && this.#line[this.#at + 1] === '\n') this.#at += 2;
      else if (char === '#') while (this.#at < this.#line.length && this.#line[this.#at] !== '\n') this.#at += 1;
      else if (char === '\n') {
        this.#at += 1;
        finish();
        if (depth > 0 && this.#heredocs.length > 0) this.doubt ??= 'a here-document is in a substitution';
        this.#readHeredocs();
      } else if (char === '&' && this.#line[this.#at + 1] === '>') {
        this.#at += 1;
        this.#readRedirection(draft, depth);
      } else if (char === ';' || char === '&' || char === '|') {
        this.#at += 1;
        finish();
      } else if (char === '(') {
        if (this.#line[this.#at + 1] === '(') this.doubt ??= 'it calculates';
        this.#at += 1;
        finish();
        this.readList(')', depth + 1);
      } else if (char === ')') this.#at += 1;
      else if (char === '<' || char === '>') this.#readRedirection(draft, depth);
      else this.#readCommandWord(draft, depth);
    }
    finish();
    if (!isClosed) this.doubt ??= 'a bracket is not closed';
    if (this.#heredocs.length > 0) this.doubt ??= 'the end of a here-document is unclear';
  }

  #readCommandWord(draft: Draft, depth: number): void {
    const word = this.#readWord(depth);
    const next = this.#line[this.#at];
    // A channel number belongs to the redirection next to it.
    if ((next === '<' || next === '>') && /^\d+$/.test(word.text)) return;
    if (draft.words.length === 0 && word.text === 'coproc') this.doubt ??= 'it starts a coprocess';
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
      if (!word.isPlain || !/^[\w.-]+$/.test(word.text)) this.doubt ??= 'the end of a here-document is unclear';
      this.#heredocs.push({ end: word.text, isIndented: operator === '<<-', isQuoted: word.isQuoted, of: draft });
    } else if (operator === '<<<') draft.input = word.text;
    else if (operator === '<' && word.text !== '') draft.reads.push(word);
    // `2>&1` and `>&-` name channels, not files. An expansion may be a file.
    else if (operator.includes('>') && !(operator.endsWith('&') && word.isPlain && /^(?:\d+-?|-?)$/.test(word.text))) {
      if ((word.text !== '' || !word.isPlain) && operator !== '>&-') draft.writes.push(word);
    }
  }

  /** Here-documents follow their line, in the order of their redirections. */
  #readHeredocs(): void {
    for (const { end, isIndented, isQuoted, of } of this.#heredocs.splice(0)) {
      const body: string[] = [];
      let isEnded = false;
      while (this.#at < this.#line.length) {
        const stop = this.#line.indexOf('\n', this.#at);
        const line = this.#line.slice(this.#at, stop === -1 ? undefined : stop);
        this.#at = stop === -1 ? this.#line.length : stop + 1;
        isEnded = (isIndented ? line.replace(/^\t+/, '') : line) === end;
        if (isEnded) break;
        body.push(line);
      }
      // A continued line may swallow the end marker.
      if (!isEnded || (!isQuoted && body.some((one) => one.endsWith('\\')))) {
        this.doubt ??= 'the end of a here-document is unclear';
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
    let isOpen = false;
    const isHome = line[this.#at] === '~';
    while (this.#at < line.length) {
      const char = line[this.#at] ?? '';
      if (' \t\n;&|()<>'.includes(char)) break;
      isOpen ||= '*?['.includes(char) || (char === '{' && line[this.#at + 1] !== '}');
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
      } else if (char === '$' && line[this.#at + 1] === '"') {
        this.doubt ??= 'it holds a text that is translated';
        this.#at += 1;
      } else if (char === '$' || char === '`') {
        const isHidden = this.#readExpansion(parts, depth, false);
        isPlain = !isHidden && isPlain;
        isOpen ||= isHidden;
      } else {
        parts.push(char);
        this.#at += 1;
      }
    }
    return { text: parts.join(''), isPlain, isQuoted, isOpen, isHome };
  }

  #readSingle(): string {
    const from = this.#at + 1;
    const end = this.#line.indexOf("'", from);
    if (end === -1) this.doubt ??= 'a quote is not closed';
    this.#at = end === -1 ? this.#line.length : end + 1;
    return this.#line.slice(from, end === -1 ? undefined : end);
  }

  /** `$'…'`, in which a letter may be written as a number. */
  #readAnsi(): string {
    const parts: string[] = [];
    let isClosed = false;
    for (this.#at += 1; this.#at < this.#line.length; this.#at += 1) {
      const char = this.#line[this.#at] ?? '';
      if (char === "'") {
        this.#at += 1;
        isClosed = true;
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
        if (code === 0 || code > 0x7f) this.doubt ??= 'a letter is written as a number';
        parts.push(String.fromCharCode(code));
        this.#at += all.length;
      } else {
        const letter = this.#line[this.#at + 1] ?? '';
        if (!`ntr\\'"`.includes(letter)) this.doubt ??= 'a letter is written in a way that is not known';
        parts.push({ n: '\n', t: '\t', r: '\r' }[letter] ?? letter);
        this.#at += 1;
      }
    }
    if (!isClosed) this.doubt ??= 'a quote is not closed';
    return parts.join('');
  }

  /** Reads a text in double quotes. True if nothing in it is unknown. */
  #readDouble(parts: string[], depth: number): boolean {
    let [isPlain, isClosed] = [true, false];
    this.#at += 1;
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] ?? '';
      if (char === '"') {
        this.#at += 1;
        isClosed = true;
        break;
      }
      if (char === '\\') {
        const next = this.#line[this.#at + 1] ?? '';
        if (next !== '\n') parts.push('"\\$`'.includes(next) ? next : `\\${next}`);
        this.#at += 2;
      } else if (char === '$' || char === '`') isPlain = !this.#readExpansion(parts, depth, true) && isPlain;
      else {
        parts.push(char);
        this.#at += 1;
      }
    }
    if (!isClosed) this.doubt ??= 'a quote is not closed';
    return isPlain;
  }

  /** Reads `$name`, `${…}`, `$(…)` or a back-quoted command. False for a literal dollar. */
  #readExpansion(parts: string[], depth: number, isWithin: boolean): boolean {
    const line = this.#line;
    if (line[this.#at] === '`') {
      this.#readBackquoted(isWithin);
      return true;
    }
    const next = line[this.#at + 1] ?? '';
    if (next === '[') {
      this.doubt ??= 'it calculates';
      this.#at += 2;
      return true;
    }
    if (next === '(') {
      const document = this.#documentHere();
      if (document !== null) {
        parts.push(document);
        return !isWithin;
      }
      if (line[this.#at + 2] === '(') {
        this.#calculate(depth);
        return true;
      }
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

  /** Numbers and signs are harmless to calculate. A name may hide a command. */
  #calculate(depth: number): void {
    const [sum] = /^\$\(\([0-9 +*%-]{1,60}\)\)/.exec(this.#line.slice(this.#at, this.#at + 70)) ?? [];
    this.#at += sum?.length ?? 2;
    if (sum !== undefined) return;
    this.doubt ??= 'it calculates';
    this.readList(')', depth + 1);
  }

  /** The text of exactly `$(cat <<'END' … END)`, the usual way to pass several lines as an argument. */
  #documentHere(): string | null {
    const line = this.#line;
    const head = /^\$\(cat <<'([A-Za-z_]\w{0,30})'\n/.exec(line.slice(this.#at, this.#at + 60));
    const [all = '', end = ''] = head ?? [];
    if (!head) return null;
    const from = this.#at + all.length;
    const stop = line.startsWith(`${end}\n`, from) ? from - 1 : line.indexOf(`\n${end}\n`, from - 1);
    if (stop === -1) return null;
    let at = stop + end.length + 2;
    while (line[at] === ' ' || line[at] === '\t' || line[at] === '\n') at += 1;
    if (line[at] !== ')') return null;
    this.#at = at + 1;
    return line.slice(from, Math.max(from, stop));
  }

  /** A back-quoted command ends at the next back quote, even inside other quotes. */
  #readBackquoted(isWithin: boolean): void {
    const from = this.#at + 1;
    const end = this.#line.indexOf('`', from);
    const inner = this.#line.slice(from, end === -1 ? undefined : end);
    if (end === -1 || /\\|<</.test(inner) || (isWithin && inner.includes('"'))) {
      this.doubt ??= 'the text in back quotes is unclear';
    }
    this.#at = end === -1 ? this.#line.length : end + 1;
    this.#readWithin(inner);
  }

  /** `${name}` with its default or trimming, which may run commands too. */
  #readBraces(depth: number): void {
    if (depth > DEPTH_MAX) return this.#giveUp();
    const line = this.#line;
    const head =
      /^(?:#?(?:[A-Za-z_]\w{0,200}|[0-9@*?$!-])(?=\})|(?:[A-Za-z_]\w{0,200}|[0-9@*])(?::?[-+]|##?|%%?))/.exec(
        line.slice(this.#at, this.#at + 206),
      )?.[0];
    if (head === undefined) this.doubt ??= 'the text in braces is unclear';
    this.#at += head?.length ?? 0;
    while (this.#at < line.length && line[this.#at] !== '}') {
      const char = line[this.#at] ?? '';
      if ('\'"\\{'.includes(char)) this.doubt ??= 'the text in braces is unclear';
      if (char === '$' || char === '`') this.#readExpansion([], depth, true);
      else this.#at += char === '\\' ? 2 : 1;
    }
    if (this.#at >= line.length) this.doubt ??= 'a bracket is not closed';
    this.#at += 1;
  }

  /** An unquoted here-document may run commands, as a text in double quotes may. */
  #readBody(body: string): void {
    if (/\$[({[]|`/.test(body)) this.#readWithin(`"${body.replaceAll('"', ' ')}"`, true);
  }

  /** Reads an inner text whose commands run too. */
  #readWithin(text: string, isBody = false): void {
    if (this.#nested >= NESTED_MAX) return this.#giveUp();
    const inner = new Reader(text, this.#nested + 1);
    inner.readList('', 0);
    this.tooDeep ||= inner.tooDeep;
    this.doubt ??= inner.doubt;
    this.commands.push(...(isBody ? inner.commands.slice(0, -1) : inner.commands));
  }
}

function newDraft(): Draft {
  return { words: [], writes: [], reads: [], input: null };
}
