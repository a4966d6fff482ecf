// The keys of a TOML file, in every way in which they can be written: tables, arrays of tables, dotted and quoted keys, tables in one
// line. Values are read only as far as needed to find their end. A file that is no TOML is refused with the number of the line.

/** How a key came to be there, which decides whether a table may still be added below it. */
type Kind =
  /** Under a header of its own. */
  | 'table'
  /** By a header further below. */
  | 'implied'
  /** By a dotted key. */
  | 'dotted'
  /** Between braces: nothing can be added. */
  | 'inline'
  | 'array of tables'
  | 'value';
export type TomlNode = { kind: Kind; readonly children: Map<string, TomlNode> };
type TomlKeys = { readonly ok: true; readonly root: TomlNode } | { readonly ok: false; readonly why: string };

const DEPTH_MAX = 100;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BLANKS = /[ \t]*/y;
const COMMENT = /#[^\n]*/y;
const DATE =
  /\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?|\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?/y;
const WORD = /[A-Za-z0-9+_.-]+/y;
const SCALAR =
  /^(?:true|false|[+-]?(?:inf|nan)|0x[0-9A-Fa-f]+(?:_[0-9A-Fa-f]+)*|0o[0-7]+(?:_[0-7]+)*|0b[01]+(?:_[01]+)*|[+-]?(?:0|[1-9]\d*(?:_\d+)*)(?:\.\d+(?:_\d+)*)?(?:[eE][+-]?\d+(?:_\d+)*)?)$/;
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b', '"': '"', '\\': '\\' },
};
const CODE_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
/** Line ends become one character before anything is read. */
const CONTROLS = /[^\P{Cc}\t\n]/u;

export function tomlKeys(text: string): TomlKeys {
  const reading = new Reading(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'));
  try {
    return { ok: true, root: reading.document() };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, why: `line ${reading.line()}: ${error.message}` };
    throw error;
  }
}

/** Only for the way out of a reading. */
class Fault extends Error {}

class Reading {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  line(): number {
    return this.#text.slice(0, this.#at).split('\n').length;
  }

  document(): TomlNode {
    const odd = this.#text.search(CONTROLS);
    if (odd !== -1) {
      this.#at = odd;
      throw new Fault('a character that no text has');
    }
    const root = node('table');
    let table = root;
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#takes('[[')) table = this.#header(root, ']]');
      else if (this.#takes('[')) table = this.#header(root, ']');
      else this.#pair(table, 0);
      this.#endOfLine();
    }
    return root;
  }

  #header(root: TomlNode, close: string): TomlNode {
    const path = this.#path();
    if (!this.#takes(close)) throw new Fault(`${close} is missing`);
    const last = path.pop() ?? '';
    const parent = path.reduce((from, key) => {
      const next = childOf(from, key, 'implied');
      if (next.kind === 'value' || next.kind === 'inline') throw new Fault(`${key} is no table that can be added to`);
      return next;
    }, root);
    const known = parent.children.get(last);
    const kind = close === ']' ? 'table' : 'array of tables';
    const isMore = kind === 'table' ? known?.kind === 'implied' : known?.kind === kind;
    if (known && !isMore) throw new Fault(`${last} is there already`);
    // Each entry of an array begins afresh, and so does everything below it.
    if (known && kind === 'table') known.kind = kind;
    else parent.children.set(last, node(kind));
    return childOf(parent, last, kind);
  }

  #pair(table: TomlNode, depth: number): void {
    const path = this.#path();
    const last = path.pop() ?? '';
    const parent = path.reduce((from, key) => {
      const next = childOf(from, key, 'dotted');
      if (next.kind !== 'dotted' && next.kind !== 'implied') throw new Fault(`${key} is there already`);
      next.kind = 'dotted';
      return next;
    }, table);
    if (parent.children.has(last)) throw new Fault(`${last} is there already`);
    if (!this.#takes('=')) throw new Fault('= is missing');
    this.#read(BLANKS);
    parent.children.set(last, this.#value(depth));
  }

  #path(): string[] {
    const path: string[] = [];
    do {
      this.#read(BLANKS);
      path.push(this.#key());
      this.#read(BLANKS);
    } while (this.#takes('.'));
    return path;
  }

  #key(): string {
    const next = this.#text[this.#at];
    if (next === '"' || next === "'") return this.#string(next, false);
    const bare = this.#read(BARE_KEY);
    if (bare === '') throw new Fault('a key is missing');
    return bare;
  }

  #value(depth: number): TomlNode {
    if (depth > DEPTH_MAX) throw new Fault('too deep');
    const next = this.#text[this.#at];
    if (next === '"' || next === "'") this.#string(next, true);
    else if (this.#takes('[')) this.#list(']', () => this.#value(depth + 1));
    else if (this.#takes('{')) {
      const table = node('inline');
      this.#list('}', () => this.#pair(table, depth + 1));
      return table;
    } else if (this.#read(DATE) === '' && !SCALAR.test(this.#read(WORD))) throw new Fault('a value is missing');
    return node('value');
  }

  #list(close: string, item: () => void): void {
    for (this.#skip(); !this.#takes(close); this.#skip()) {
      item();
      this.#skip();
      if (this.#takes(',')) continue;
      if (!this.#takes(close)) throw new Fault(`${close} is missing`);
      return;
    }
  }

  #string(quote: string, mayBeLong: boolean): string {
    const isLong = mayBeLong && this.#takes(quote.repeat(3));
    if (!isLong) this.#at += 1;
    const end = isLong ? quote.repeat(3) : quote;
    const parts: string[] = [];
    while (!this.#takes(end)) {
      const char = this.#text[this.#at];
      if (char === undefined || (char === '\n' && !isLong)) throw new Fault(`${end} is missing`);
      this.#at += 1;
      parts.push(char === '\\' && quote === '"' ? this.#escaped(isLong) : char);
    }
    // Up to two of them may be right before the end.
    if (isLong) for (let more = 0; more < 2 && this.#takes(quote); more += 1) parts.push(quote);
    return parts.join('');
  }

  #escaped(isLong: boolean): string {
    const char = this.#text[this.#at] ?? '';
    if (isLong && /^[ \t\n]$/.test(char)) {
      // At the end of a line: it goes on where the next text is.
      this.#read(BLANKS);
      if (!this.#takes('\n')) throw new Fault('a \\ has no meaning here');
      return '';
    }
    this.#at += 1;
    const digits = Object.hasOwn(CODE_DIGITS, char) ? (CODE_DIGITS[char] ?? 0) : 0;
    if (digits === 0) {
      if (!Object.hasOwn(ESCAPES, char)) throw new Fault('a \\ has no meaning here');
      return ESCAPES[char] ?? '';
    }
    const code = this.#text.slice(this.#at, this.#at + digits);
    const point = /^[0-9A-Fa-f]+$/.test(code) && code.length === digits ? Number.parseInt(code, 16) : -1;
    if (point < 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
      throw new Fault(`no character is ${code}`);
    this.#at += digits;
    return String.fromCodePoint(point);
  }

  #endOfLine(): void {
    this.#read(BLANKS);
    this.#read(COMMENT);
    if (this.#at < this.#text.length && !this.#takes('\n')) throw new Fault('the line goes on where it should end');
  }

  /** Over blanks, ends of lines and comments. */
  #skip(): void {
    do {
      this.#read(BLANKS);
      this.#read(COMMENT);
    } while (this.#takes('\n'));
  }

  #takes(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #read(what: RegExp): string {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
}

function node(kind: Kind): TomlNode {
  return { kind, children: new Map() };
}

function childOf(parent: TomlNode, key: string, kind: Kind): TomlNode {
  const known = parent.children.get(key);
  if (known) return known;
  const made = node(kind);
  parent.children.set(key, made);
  return made;
}
