// How risky a command is: T0 reads, T1 checks or changes what is local, T2 simulates, T3 changes state. A command is below T3
// only if a row of the table matches it. A line is as risky as its riskiest part, including wrappers, substitutions and inner
// shells. docs/approvals.md shows the hit rate on the test corpus.
import { join, resolve } from 'node:path';
import { type ApprovalPolicy, TIERS, type Tier } from '../kernel/approval/request.ts';
import { type Invocation, SHELLS, type ShellStep, shellLine, stepsOf, WRAPPERS } from '../shell/programs.ts';
import type { ProjectArea } from '../shell/project-area.ts';
import type { Word } from '../shell/read-line.ts';
import { placesWritten } from '../shell/written-paths.ts';
import { blockedIn } from './policy.ts';
import { ACTS, BEFORE, HARMLESS_VARIABLE, NAMED, type RiskRow, type RiskRows, ROWS, riskRows } from './risk-table.ts';

export type Classified = {
  readonly tier: Tier;
  /** The part that decided, and why. */
  readonly because: string;
  /** Why it can never be approved, or null. */
  readonly blocked: string | null;
};

type Judged = { readonly tier: Tier; readonly because: string };

export function classifyArgv(argv: readonly string[], policy: ApprovalPolicy, area: ProjectArea | null): Classified {
  return classify(shellLine(argv), policy, area);
}

/** Without an area the folder is unknown, so every write is T3. */
export function classify(line: string, policy: ApprovalPolicy, area: ProjectArea | null): Classified {
  const read = stepsOf(line);
  if (!read.ok) return { ...t3(`it cannot be analyzed: ${read.why}`), blocked: null };
  const { steps, doubt } = read;
  const people = riskRows(Object.entries(policy.tiers).map(([command, tier]) => [tier, command] as const));
  const judged = steps.flatMap((step) => judgeStep(step, people, area));
  const all = [
    ...(doubt === null ? [] : [t3(`it cannot be analyzed: ${doubt}`)]),
    ...judged,
    ...judgeWrites(steps, policy, area),
    ...(judged.some(({ tier }) => tier === 'T1' || tier === 'T2') ? judgeFolders(steps, area) : []),
  ];
  const start: Judged =
    all.length === 0 ? t3('it runs nothing that is visible') : { tier: 'T0', because: 'it only reads' };
  const worst = all.reduce((a, b) => (rank(b.tier) > rank(a.tier) ? b : a), start);
  return { ...worst, blocked: blockedIn(line, steps, policy) };
}

/** Programs in system folders are what their names say. Another path may lead to anything. */
const SYSTEM_TOOL = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;
/** A project's own tools run its code, as its tests and checks do. */
const LOCAL_TOOL = /^(?:\.\/)?(?:node_modules\/\.bin|\.?venv\/bin)\/[\w.-]+$/;
/** Wrappers that hand a line to a shell. */
const LINE_RUNNERS = ['parallel', 'watch', 'flock'];
const GOVERNING = /(?:^|\/)\.(?:git|baton|claude|codex|pi)(?:\/|$)/i;

const rank = (tier: Tier) => TIERS.indexOf(tier);
const t3 = (because: string): Judged => ({ tier: 'T3', because });

function judgeStep({ runs, assigns, reads }: ShellStep, people: RiskRows, area: ProjectArea | null): readonly Judged[] {
  const risky = assigns.find((name) => !HARMLESS_VARIABLE.test(name));
  const set: Judged = risky === undefined ? { tier: 'T0', because: 'it only sets variables' } : t3(`it sets ${risky}`);
  return [
    ...(assigns.length > 0 ? [set] : []),
    ...(reads.some(({ text }) => /^\/dev\/(?:tcp|udp)\//.test(text)) ? [t3('it opens a connection')] : []),
    ...runs.map((run, index) => judgeRun(run, runs.length > index + 1, people, area)),
  ];
}

function judgeRun(run: Invocation, hasInner: boolean, people: RiskRows, area: ProjectArea | null): Judged {
  const { program, named, isPlain, args } = run;
  if (!isPlain) return t3('its program is known only to the shell');
  const own = longestRow(run, people);
  if (own)
    return { tier: own.tier, because: `the configuration says ${own.tier} for ${[program, ...own.parts].join(' ')}` };
  if (isPassedOn(run, hasInner)) return { tier: 'T0', because: `${program} only runs its arguments` };
  const row = longestRow(run, ROWS);
  const isKnownPlace = SYSTEM_TOOL.test(named) || ROWS.has(named) || (LOCAL_TOOL.test(named) && row?.tier === 'T1');
  if (named.includes('/') && !isKnownPlace) return t3(`${named} is an unknown file`);
  if (!row || row.tier === 'T3' || !isFit(row, run)) {
    const words = shellLine([program, ...args.slice(0, 2).map(({ text }) => text)]);
    return t3(`${words} is not known to be harmless`);
  }
  if (row.tier !== 'T0' && program === 'git' && args[0]?.text === '-C') return t3('it changes another repository');
  const foreign = row.tier === 'T0' || program === 'git' ? null : foreignIn(args, area);
  if (foreign !== null) return t3(`${program} may write ${foreign}`);
  return { tier: row.tier, because: `${[program, ...row.parts].join(' ')} is ${row.tier}` };
}

/** Whether the command it runs is judged separately: an inner program, or a visible line for a shell. */
function isPassedOn({ program, args }: Invocation, hasInner: boolean): boolean {
  if (program === 'eval') return args.every((word) => word.isPlain);
  if (!SHELLS.includes(program)) return Object.hasOwn(WRAPPERS, program) && hasInner && !LINE_RUNNERS.includes(program);
  const flag = args.findIndex(({ text, isPlain }) => isPlain && /^-[elux]*c$/.test(text));
  const line = args[flag + 1];
  return (
    flag !== -1 &&
    args.slice(0, flag).every(({ text }) => /^-[elux]+$/.test(text)) &&
    line?.isPlain === true &&
    !/^[-+]/.test(line.text)
  );
}

/** The longest row that matches the command's first words. Of two equal rows, the riskier one. */
function longestRow({ program, named, args }: Invocation, rows: RiskRows): RiskRow | null {
  const words = args.slice(beginOf(program, args));
  let best: { readonly row: RiskRow; readonly weight: number } | null = null;
  for (const row of [...(rows.get(named) ?? []), ...(named === program ? [] : (rows.get(program) ?? []))]) {
    const weight = weightOf(row.parts, words);
    if (weight === null || (best !== null && weight < best.weight)) continue;
    if (best === null || weight > best.weight || rank(row.tier) > rank(best.row.tier)) best = { row, weight };
  }
  return best?.row ?? null;
}

/** Where the words of a command begin, after leading options. */
function beginOf(program: string, args: readonly Word[]): number {
  const [values, alone] = (Object.hasOwn(BEFORE, program) && BEFORE[program]) || ['', ''];
  const takes = values.split(' ');
  let at = 0;
  for (let word = args[at]; word?.isPlain && word.text !== ''; word = args[at]) {
    const { text } = word;
    const next = args[at + 1]?.text ?? '';
    if (takes.includes(text) && next !== '' && !next.startsWith('-')) at += 2;
    else if (
      alone.split(' ').includes(text) ||
      takes.some((name) => name.startsWith('--') && text.startsWith(`${name}=`))
    )
      at += 1;
    else break;
  }
  return at;
}

/** How exactly a row matches: words weigh more than signs. Null if it does not match. */
function weightOf(parts: readonly string[], words: readonly Word[]): number | null {
  let weight = 1;
  for (const [index, part] of parts.entries()) {
    if (part === '$') return words.length === index ? weight + 1 : null;
    const word = words[index];
    if (
      !word ||
      !(part === '?' ? isOneWord(word) : isSeen(word) && part.split('|').some((one) => isFor(one, word.text)))
    )
      return null;
    weight += part.includes('*') || part === '?' ? 9 : 10;
  }
  return weight;
}

function isFor(part: string, word: string): boolean {
  if (Object.hasOwn(NAMED, part)) return NAMED[part]?.test(word) === true;
  if (!part.endsWith('*')) return part === word;
  return part === '*' ? !word.startsWith('-') && !ACTS.test(word) : word.startsWith(part.slice(0, -1));
}

/** A visible word that the shell cannot turn into an option. */
function isSeen({ text, isPlain, isOpen }: Word): boolean {
  return isPlain && !(isOpen && /^[-*?[{]/.test(text));
}

function isOneWord(word: Word): boolean {
  return !word.isOpen && (!word.isPlain || !word.text.startsWith('-'));
}

/** Whether the later words match the row. A required option must not be the value of another option. */
function isFit({ parts, words: pattern, option }: RiskRow, { program, args }: Invocation): boolean {
  if (!pattern) return true;
  const from = beginOf(program, args) + parts.filter((part) => part !== '$').length;
  const later = args.slice(from);
  if (!later.every((word) => isSeen(word) && pattern.test(word.text))) return false;
  if (!option) return true;
  const [at = -1, ...more] = later.flatMap(({ text }, index) => (option.test(text) ? [index] : []));
  const before = later[at - 1]?.text ?? '';
  return at !== -1 && more.length === 0 && (!before.startsWith('-') || before.includes('='));
}

/** The first path among the arguments that is outside the agent's area. */
function foreignIn(args: readonly Word[], area: ProjectArea | null): string | null {
  for (const { text, isHome } of args) {
    const path = text.replace(/^-[^=/]*=?/, '');
    const isElsewhere = isHome || /^~?\/|(?:^|\/)\.\.(?:\/|$)|^~/.test(path);
    if (!isElsewhere && !GOVERNING.test(path)) continue;
    const place = isHome || path.startsWith('~') || !area ? null : resolve(area.cwd, path);
    if (place === null || !area || !isOwnFolder(area, place)) return text;
  }
  return null;
}

/** A command that runs project code or writes must stay in the agent's folders. */
function judgeFolders(steps: readonly ShellStep[], area: ProjectArea | null): readonly Judged[] {
  const { folders } = placesWritten(steps, area?.cwd ?? '/', area?.home);
  if (folders === null) return [t3('its folder cannot be determined')];
  const foreign = folders.slice(1).find((folder) => !area || !isOwnFolder(area, folder));
  return foreign === undefined ? [] : [t3(`it works in ${foreign}`)];
}

function isOwnFolder(area: ProjectArea, path: string): boolean {
  return area.isOwn(path) || area.isOwn(join(path, 'x'));
}

/** Writes inside the agent's area get the policy's tier. Others, and unclear ones, are T3. */
function judgeWrites(steps: readonly ShellStep[], policy: ApprovalPolicy, area: ProjectArea | null): readonly Judged[] {
  const { paths, possible, isClear, count } = placesWritten(steps, area?.cwd ?? '/', area?.home);
  const real = [...new Set([...paths, ...possible])].filter(
    (path) => !/^\/dev\/(?:null|stdout|stderr|tty)$/.test(path),
  );
  if (count === 0 || (isClear && real.length === 0)) return [];
  if (!isClear || !area) return [t3('the paths it writes cannot be determined')];
  const foreign = real.find((path) => !area.isOwn(path));
  if (foreign !== undefined) return [t3(`it writes ${foreign}`)];
  return [{ tier: policy.writes, because: `it writes ${real[0]}` }];
}
