// How risky a command is: T0 reads, T1 checks or changes what is local, T2 simulates, T3 changes state. A command is below T3 only if a
// row of the table matches it. A line is as risky as its riskiest part, including wrappers, substitutions and inner shells.
// docs/approvals.md shows the hit rate on the test corpus. The last two parts are the commands that can never be approved, and the
// policy in force.

import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type ApprovalPolicy, policyOf, TIERS, type Tier } from '../kernel/approval/request.ts';
import { checkApprovals } from '../kernel/graph/check-config.ts';
import { canonicalJson, type Json } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { isFlagged, type ProjectArea } from '../shell/dangerous.ts';
import { type Invocation, SHELLS, type ShellStep, shellLine, stepsOf, WRAPPERS } from '../shell/programs.ts';
import type { Word } from '../shell/read-line.ts';
import { placesWritten } from '../shell/written-paths.ts';
import { type ConfigPlace, sectionIn } from '../workspace/sections.ts';
import {
  ACTS,
  BEFORE,
  HARMLESS_VARIABLE,
  NAMED,
  RISK_TABLE,
  type RiskRow,
  type RiskRows,
  ROWS,
  riskRows,
} from './risk-table.ts';

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

/** Refuses a section with an error, so that a misspelt tier does not count as no tier. */
export function readPolicy(place: ConfigPlace): ApprovalPolicy | Denied {
  const read = sectionIn(place, 'approvals');
  if (!read.ok) return refuse(read.file, read.why);
  const [issue] = [...checkApprovals(read.section)].filter(({ level }) => level === 'error');
  return issue ? refuse(place.configFile, `${issue.path}: ${issue.message}`) : policyOf(read.section);
}

function refuse(file: string, why: string): Denied {
  return deny('INVALID_CONFIG', `${file}: ${why}; correct it, nothing is approved until then`);
}

/** The digest of everything that decides about tiers. An approval holds the version under which it was requested. */
export function versionOf(policy: ApprovalPolicy): string {
  const table = JSON.stringify(RISK_TABLE, (_, value) => (value instanceof RegExp ? value.source : value));
  return hash('sha256', canonicalJson({ policy, table } as unknown as Json));
}

// Commands that can never be approved. They destroy what cannot be restored, or only a person may run them.

/** The roots of the system and of people's own files. */
const ROOTS =
  /^(?:\/+|\/+\*|~|~\/+|~\/+\*|\$HOME\/?\*?|\/+(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library)\/*\*?)$/;
const DISKS = /^(?:of=)?\/dev\/(?:sd|hd|nvme|vd|xvd|disk|mapper|dm-|mmcblk|loop)/;
const PROGRAMS: Readonly<Record<string, string>> = {
  mkfs: 'it formats a disk',
  fdisk: 'it changes disk partitions',
  parted: 'it changes disk partitions',
  wipefs: 'it wipes a disk',
  shutdown: 'it stops the machine',
  reboot: 'it stops the machine',
  halt: 'it stops the machine',
  poweroff: 'it stops the machine',
};
/** Baton commands that only a person may run. */
const OURS = [
  ...['approve', 'answer', 'decide', 'install'],
  ...['registry release', 'registry accept', 'registry lock', 'memory accept'],
];

/** Why it can never be approved, or null. */
function blockedIn(line: string, steps: readonly ShellStep[], { blocked }: ApprovalPolicy): string | null {
  if (/:\s*\(\s*\)\s*\{\s*:\s*\|\s*:/.test(line)) return 'it is a fork bomb';
  for (const { runs, writes } of steps) {
    if (writes.some(({ text }) => DISKS.test(text))) return 'it writes over a disk';
    for (const run of runs) {
      const why = blockedRun(run) ?? blockedByPeople(run, blocked);
      if (why !== null) return why;
    }
  }
  return null;
}

function blockedRun({ program, args }: Invocation): string | null {
  const words = args.map(({ text }) => text);
  if (Object.hasOwn(PROGRAMS, program)) return PROGRAMS[program] ?? null;
  if (program.startsWith('mkfs.')) return PROGRAMS.mkfs ?? null;
  if (program === 'rm' && isFlagged(words, 'rR', ['--recursive']) && args.some(isRoot)) {
    return 'it removes a root of the system or of a home';
  }
  if ((program === 'chmod' || program === 'chown') && isFlagged(words, 'R', ['--recursive']) && args.some(isRoot)) {
    return 'it changes the permissions of a whole system';
  }
  if ((program === 'dd' || program === 'shred') && words.some((word) => DISKS.test(word)))
    return 'it writes over a disk';
  // Also behind an unknown program that may run its arguments.
  const saysOurs = [program, ...words].some(
    (word, at, all) =>
      /(?:^|\/)baton$/.test(word) && OURS.some((ours) => startsWith(withoutOptions(all.slice(at + 1)), ours)),
  );
  return saysOurs ? 'only a person may run that' : null;
}

function withoutOptions(words: readonly string[]): readonly string[] {
  return words.filter((word, index) => !word.startsWith('-') && !/^(?:-C|--directory)$/.test(words[index - 1] ?? ''));
}

function isRoot({ text }: { readonly text: string }): boolean {
  return ROOTS.test(text);
}

function blockedByPeople({ program, args }: Invocation, blocked: readonly string[]): string | null {
  const words = [program, ...args.map(({ text }) => text)];
  const found = blocked.find((pattern) => startsWith(words, pattern));
  return found === undefined ? null : `the configuration blocks ${found}`;
}

function startsWith(words: readonly string[], pattern: string): boolean {
  const parts = pattern.trim().split(/\s+/);
  return parts.every((part, index) => words[index] === part);
}
